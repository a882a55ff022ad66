// Floor 3: what becomes of a pass in place (in_place_pass.hpp) in the end, whatever it has gone by.
#pragma once

#include "gputm/speculation/in_place_tags.hpp"

namespace gputm::speculation {

class in_place_end {
  using order = simt::order;

 protected:
  static GPUTM_INLINE void put(std::uint32_t& word, std::uint32_t v) { simt::plain_store(word, v); }
  static GPUTM_INLINE void count(std::uint64_t& counter, std::uint64_t n) {
    // relaxed: read after the launch
    simt::atomic(counter).fetch_add(n, order::relaxed);
  }
  static GPUTM_INLINE void keep_roles(const loop_environment& env, std::uint32_t role) {
    env.in_place.keep_roles(env.table.first[max_regions], role);
  }
  /// All that positions have saved goes back. All threads of the grid call it.
  template <class Sum, class Saved>
  static GPUTM_INLINE void undo(const loop_environment& env, std::uint32_t tag) {
    const std::uint32_t all = Saved::all(env);
    Sum left_out = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t p = simt::grid_thread_rank(); p < env.limits.iterations; p += simt::grid_threads()) {
      const parts::saved_values values(env.in_place.saved, p);
      Saved::put_back(env, p, values.bits(tag, all));
      left_out += values.is_left_out(tag);
    }
    left_out = simt::reduce_add(simt::full_mask, left_out);
    if (left_out != 0 && simt::lane() == 0) count(env.state->counters.executed, -left_out);  // give_up() counts all
  }
  /// Loops go by lists, and may claim elements instead.
  static GPUTM_INLINE bool may_claim(const parts::in_place_past& past) {
    const std::uint32_t lists = simt::plain_load(past.lists_of_claims);
    return simt::plain_load(past.owners) == past.lists && (lists == past.current || lists == past.to_learn);
  }
  /// The pass has come to nothing; one thread says so. `last`: the last tag that it has used.
  static GPUTM_INLINE void give_up(const loop_environment& env, std::uint32_t last) {
    parts::in_place_past& past = *env.in_place.past;
    if (may_claim(past)) {  // addresses are others now, or depend on each other as lists cannot tell
      put(past.owners, past.claims);
      put(past.lists_of_claims, past.lost);
      put(past.has_roles, 0);
    } else {
      put(past.ready, 0);
    }
    if (env.in_place.unproven) put(env.table.past->calm, 0);
    put(env.table.past->tag, last);
    env.in_place.tell_host();
    count(env.state->counters.rounds, 1);
    count(env.state->counters.executed, env.limits.iterations);
  }
  /// It is the loop.
  static GPUTM_INLINE void note_counts(const loop_environment& env) {
    const std::uint64_t n = env.limits.iterations;
    count(env.state->counters.rounds, 1);
    count(env.state->counters.iterations, n);
    count(env.state->counters.executed, n);
    count(env.state->counters.in_place, n);
    simt::progress();
  }
};

}  // namespace gputm::speculation
