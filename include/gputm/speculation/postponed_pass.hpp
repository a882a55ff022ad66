// Floor 3: what a pass by claims (in_place_pass.hpp) has postponed, in the next kernel.
//
// An iteration that has found another's claim has put back what it had stored, and waits. When all others have run:
//
//   want      those that wait run to their end, without effect; all that they access is wanted, and reserved for the
//             lowest one that accesses it
//   join      of the others those that have stored to what is wanted, or read it, wait as well: what they have stored
//             is put back, and is wanted and reserved, too
//   run       each one for which all it accesses is reserved runs in place
//   reserve   those that are left run without effect again, reserve anew, and so on
//
// Why the result is the sequential loop's, if it counts. Those that have not had to wait store to nothing that others
// access: neither to what other ones of themselves do, as claims have told; nor to what one accesses that has waited,
// since that one stores to what is wanted only, which none of them has accessed, and loads that, or what none of them
// has stored to, or all comes to nothing. So they may as well have run before all that have waited. Of these, two that
// access the same element, and store to it, run in their order. For both have had it reserved, in different rounds. If
// the higher one was first, the lower one has not asked for it in that round, because it read something else then; and
// when it asks, it finds that a higher one has had it, and all comes to nothing. In one round no two have the same
// element; so each runs as if alone.
//
// Progress: of those that wait the lowest one reads, when it runs, what it has read when it reserved, but in the first
// round, where others put back what they have stored in between; so all that it accesses is reserved for it. Unless it
// has read what it stores itself, and goes by that: then all comes to nothing when there have been too many rounds.
#pragma once

#include "gputm/parts/grid_barrier.hpp"
#include "gputm/speculation/in_place_end.hpp"
#include "gputm/speculation/positions_in_the_way.hpp"
#include "gputm/speculation/postponed_access.hpp"

namespace gputm::speculation {

template <class Body>
class postponed_pass : in_place_end {
  using order = simt::order;
  static constexpr std::uint32_t most_rounds = 64;
  static constexpr std::uint32_t most_shown = 256;  ///< loads and stores; scouts have seen that iterations have fewer
  static constexpr unsigned at_once = positions_in_the_way::at_once;

  const loop_environment& env_;
  const Body& body_;
  const in_place_window w_;
  const parts::postponed_space list_;
  parts::in_place_words& now_;
  parts::grid_barrier barrier_;
  const std::uint32_t more_;
  std::uint32_t ran_ = 0;

  GPUTM_INLINE postponed_pass(const loop_environment& env, const Body& body, std::uint32_t tag)
      : env_(env),
        body_(body),
        w_(in_place_window::of(env, tag, true)),
        list_(env.in_place.postponed),
        now_(env.state->in_place),
        barrier_(env.state->in_place_barrier),
        more_(parts::writer_table::more_tags(static_cast<std::uint32_t>(env.limits.iterations))) {}

 public:
  /// All threads of the grid call it, if some iterations have been postponed, and nothing was wrong with the pass of
  /// this tag. Whether it counts; else nothing is left of it.
  static GPUTM_NOINLINE bool end(const loop_environment& env, const Body& body, std::uint32_t tag) {
    return postponed_pass(env, body, tag).run_all();
  }

 private:
  GPUTM_INLINE bool run_all() {
    if (has_tags(1)) {
      const std::uint32_t of_pass = simt::plain_load(now_.postponed);
      want(round(1));
      barrier_.wait();
      look_for_others();
      barrier_.wait();
      join(round(1), of_pass);
    }
    barrier_.wait([this] { decide(0); });
    GPUTM_NO_UNROLL
    for (std::uint32_t k; (k = simt::plain_load(now_.round)) != now_.postponed_over;) {
      if (k != 1) {
        reserve(round(k));
        barrier_.wait();
      }
      run(k);
      barrier_.wait([this, k] { decide(k); });
      simt::progress();
    }
    const std::uint32_t ran = simt::reduce_add(simt::full_mask, ran_);
    if (simt::lane() == 0 && ran != 0) count(env_.state->counters.executed, ran);
    const bool counts = simt::plain_load(now_.trouble) == 0;
    if (!counts) undo_all();
    keep_roles(env_, 0);
    list_.filter.clear();
    if (counts && simt::grid_thread_rank() == 0) note();
    if (!counts) barrier_.wait([this] { give_up(env_, last_tag()); });
    return counts;
  }

  // Rounds have tags of their own, behind the pass's.
  GPUTM_INLINE std::uint32_t tag_of(std::uint32_t round) const { return w_.tag + round * (more_ + 1); }
  GPUTM_INLINE std::uint32_t last_tag() const { return tag_of(simt::plain_load(now_.rounds)) + more_; }
  GPUTM_INLINE bool has_tags(std::uint32_t round) const { return tag_of(round) + more_ < env_.limits.tags; }
  GPUTM_INLINE postponed_round round(std::uint32_t k) const {
    return {parts::writer_table(env_.table, tag_of(k)), more_};
  }
  /// The highest one that has had an element for itself.
  GPUTM_INLINE parts::writer_table done() const { return {env_.table, w_.tag}; }

  /// Calls use(k, position) for this thread's entries of the list that wait. Neighbouring entries are in different
  /// blocks: mostly there are fewer of them than threads.
  template <class Use>
  GPUTM_INLINE void for_waiting(const Use& use) const {
    for_entries(0, [this, &use](std::uint32_t k, std::uint32_t p) {
      if (simt::plain_load(list_.round(k)) == 0) use(k, p);
    });
  }
  template <class Use>
  GPUTM_INLINE void for_entries(std::uint32_t first, const Use& use) const {
    const std::uint32_t all = simt::plain_load(now_.postponed), n = all < list_.most ? all : list_.most;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = first + simt::thread_rank() * simt::grid_size() + simt::block_rank(); k < n;
         k += simt::grid_threads())
      use(k, simt::plain_load(list_.position(k)));
  }
  /// One attempt at an iteration; what it comes to, and whether it ends the loop.
  struct attempt {
    attempt_end how;
    bool last;
  };
  template <class Access>
  GPUTM_INLINE attempt run_body(Access& a, std::uint32_t p, std::uint32_t longest) {
    iteration_trouble trouble;
    iteration<Access> it(a, env_.regions, longest, trouble);
    const attempt_end how = it.run(body_, p);
    ++ran_;
    return {how, it.last()};
  }
  /// Calls show(element, position) for all that the position accesses, whatever the attempt comes to. It may have no
  /// end, since the iteration does not see its own stores.
  template <class Show>
  GPUTM_INLINE void show(std::uint32_t p, Show show) {
    const std::uint32_t longest = env_.limits.operations;
    showing_access<Show> a(env_, w_, p, show);
    (void)run_body(a, p, longest < most_shown ? longest : most_shown);
  }
  GPUTM_INLINE void want(const postponed_round& r) {
    for_waiting([&](std::uint32_t, std::uint32_t p) {
      show(p, [&](std::uint64_t element, std::uint32_t position) {
        env_.in_place.add_role(element, env_.in_place.wanted);
        list_.filter.set(element);
        r.reserve(element, position);
      });
    });
  }
  GPUTM_INLINE void reserve(const postponed_round& r) {
    for_waiting([&](std::uint32_t, std::uint32_t p) {
      show(p, [&](std::uint64_t element, std::uint32_t position) {
        if (env_.in_place.role(element) != env_.in_place.wanted) return;
        r.reserve(element, position);
        if (done().is_above(done().last_write_of(element), position)) fail();
      });
    });
  }
  GPUTM_INLINE void run(std::uint32_t number) {
    const postponed_round r = round(number);
    std::uint32_t ended = 0;
    for_waiting([&](std::uint32_t k, std::uint32_t p) {
      reserved_access a(env_, w_, p, r, done());
      const attempt end = run_body(a, p, env_.limits.operations);
      const bool ends = end.how != attempt_end::failed && !end.last;
      a.leave(ends && end.how == attempt_end::commit);
      if (ends)
        simt::plain_store(list_.round(k), number);
      else if (!a.waits())
        fail();
      ended += ends;
    });
    ended = simt::reduce_add(simt::full_mask, ended);
    // relaxed: read behind the barrier
    if (simt::lane() == 0 && ended != 0) simt::atomic(now_.run).fetch_add(ended, order::relaxed);
  }
  GPUTM_INLINE void fail() const { simt::atomic(now_.trouble).store(1, order::relaxed); }  // relaxed: behind a barrier

  /// All that are in the way of those that wait come onto the list. A thread looks at several positions together.
  GPUTM_INLINE void look_for_others() const {
    if (simt::plain_load(now_.unlogged) != 0) return fail();
    const std::uint32_t step = simt::grid_threads();
    GPUTM_NO_UNROLL
    for (std::uint32_t of_warp = simt::grid_thread_rank() - simt::lane(); of_warp < w_.iterations;
         of_warp += at_once * step) {
      const std::uint32_t first = of_warp + simt::lane();
      positions_in_the_way those(env_, w_, first);
      those.look_at_stores();
      those.look_at_reads();
      std::uint32_t k = next_entry(those.wanted());
      GPUTM_NO_UNROLL
      for (std::uint32_t any = those.wanted(); any != 0; any &= any - 1, ++k) {
        if (k < list_.most)
          list_.put(k, first + simt::lowest(any) * step);
        else
          fail();
      }
    }
  }
  /// The first one of those on the list for positions of this thread, a bit for each. All of a warp get theirs at once:
  /// a word that all threads change is slow.
  GPUTM_INLINE std::uint32_t next_entry(std::uint32_t bits) const {
    std::uint32_t all = 0, before = 0;
    GPUTM_UNROLL
    for (unsigned j = 0; j < at_once; ++j) {
      const simt::mask_t lanes = simt::ballot(simt::full_mask, (bits >> j & 1) != 0);
      all += simt::count(lanes);
      before += simt::count(simt::below(lanes));
    }
    std::uint32_t first = 0;
    // relaxed: who gets which entries
    if (simt::lane() == 0 && all != 0) first = simt::atomic(now_.postponed).fetch_add(all, order::relaxed);
    return simt::shfl(simt::full_mask, first, 0) + before;
  }
  /// Of the list's entries, those from `first` on are others. In a phase of its own: they are few, and for each one a
  /// warp would wait where it finds it.
  GPUTM_INLINE void join(const postponed_round& r, std::uint32_t first) const {
    for_entries(first, [&](std::uint32_t, std::uint32_t p) { join_one(r, p); });
  }
  GPUTM_INLINE void join_one(const postponed_round& r, std::uint32_t p) const {
    const parts::saved_values before(env_.in_place.saved, p);
    const std::uint32_t saved = before.bits(w_.tag, saved_by_claims::all(env_));
    saved_by_claims::put_back(env_, p, saved);
    GPUTM_NO_UNROLL
    for (std::uint32_t slot = 0; slot < saved; ++slot) {
      const std::uint64_t element = env_.table.number(before.key(slot));
      env_.in_place.add_role(element, env_.in_place.wanted);
      r.reserve(element, p);
    }
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < list_.slots && !w_.updates; ++k) {
      const std::uint64_t word = simt::plain_load(list_.word(k, p));
      for (unsigned half = 0; half < 2; ++half)
        if (const std::uint32_t element = list_.part(word, half); element != list_.end) r.reserve(element, p);
      if (list_.part(word, 1) == list_.end) break;
    }
    before.postpone(w_.tag);
  }
  /// Behind a round, or before the first one.
  GPUTM_INLINE void decide(std::uint32_t round) const {
    const std::uint32_t all = simt::plain_load(now_.postponed), next = round + 1;
    const bool over = simt::plain_load(now_.run) == all, failed = simt::plain_load(now_.trouble) != 0;
    const bool goes_on = !over && !failed && next <= most_rounds && has_tags(next);
    if (goes_on || (round == 0 && has_tags(1))) put(now_.rounds, next);  // the first one has used its tags already
    put(now_.round, goes_on ? next : now_.postponed_over);
    if (!over && !goes_on) fail();
  }
  /// The elements of one round are different ones; of several rounds the first one knows what was there before.
  GPUTM_INLINE void undo_all() {
    GPUTM_NO_UNROLL
    for (std::uint32_t round = simt::plain_load(now_.rounds); round != 0; --round) {
      for_entries(0, [this, round](std::uint32_t k, std::uint32_t p) {
        if (simt::plain_load(list_.round(k)) != round) return;
        const parts::saved_values before(env_.in_place.saved, p);
        saved_by_claims::put_back(env_, p, before.bits(w_.tag, 0));
        before.postpone(w_.tag);
      });
      barrier_.wait();
    }
    undo<std::uint64_t, saved_by_claims>(env_, w_.tag);
  }
  GPUTM_INLINE void note() const {
    put(env_.table.past->tag, last_tag());
    parts::in_place_past& past = *env_.in_place.past;
    if ((simt::plain_load(now_.mode) & now_.leaves_lists) != 0) {
      put(past.lists_of_claims, past.to_learn);
      put(past.ready, 0);
    }
    env_.in_place.tell_host();
    note_counts(env_);
  }
};

}  // namespace gputm::speculation
