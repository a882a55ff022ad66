// Floor 3: a loop of which most iterations access nothing (mostly_idle.hpp): three kernels, of which the first one
// finds out which ones do, the second one lists them, and the third one is an engine's loop over the list.
//
// An iteration that accesses nothing leaves no trace, and sees none: it can be run at any time, and be left out of the
// loop, unless it ends it. So the loop over the others, in their order, has the result of the loop over all. The last
// iteration is always among them: how many iterations the loop comes to can be told from the last one of the list that
// takes effect then, whether it ends the loop or not.
#pragma once

#include <cstddef>

#include "gputm/parts/busy_space.hpp"
#include "gputm/speculation/iteration.hpp"
#include "gputm/speculation/loop_environment.hpp"

namespace gputm::speculation {

/// How an iteration loads and stores that is to show whether it does: the attempt fails.
struct skimming_access : tentative_access {
  template <class T>
  GPUTM_INLINE bool load(const region&, std::uint32_t, std::uint32_t, T&) const {
    return false;
  }
  template <class T>
  GPUTM_INLINE bool store(const region&, std::uint32_t, std::uint32_t, const T&) const {
    return false;
  }
};

/// One of a grid of full warps, at least one for each chunk.
template <class Body>
GPUTM_INLINE void find_busy(const loop_environment& env, const parts::busy_space& busy, const Body& body) {
  const std::uint32_t chunk = busy.chunk_of_warp();
  if (chunk >= busy.chunks) return;
  const parts::busy_space::range mine = busy.words_in(chunk);
  const auto n = static_cast<std::uint32_t>(busy.iterations);
  std::uint32_t count = 0;
  iteration_trouble trouble;
  GPUTM_NO_UNROLL
  for (std::uint32_t word = mine.begin; word < mine.end; ++word) {
    const std::uint32_t i = word * simt::warp_width() + simt::lane();
    bool has_access = i == n - 1;
    if (i < n && !has_access) {
      skimming_access none;
      iteration<skimming_access> it(none, env.regions, env.limits.operations, trouble);
      has_access = it.run(body, i) == attempt_end::failed || it.last();
    }
    const simt::mask_t all = simt::ballot(simt::full_mask, has_access);
    if (simt::lane() == 0) simt::plain_store(busy.words[word], all);
    count += simt::count(all);
    simt::progress();
  }
  if (simt::lane() == 0) simt::plain_store(busy.counts[chunk], count);
}

/// The body of the loop over the list.
template <class Body>
struct busy_body {
  Body body;
  const std::uint32_t* list;
  template <class It>
  GPUTM_INLINE outcome operator()(It& it, int k) const {
    return body(it, static_cast<int>(simt::plain_load(list[k])));
  }
};
template <class Body>
struct loop_of<busy_body<Body>> {
  /// How long the list is only the device knows.
  static GPUTM_INLINE parts::loop_limits& limits() {
    return reinterpret_cast<parts::loop_limits&>(simt::shared<loop_of, in_shared_memory>().bytes);
  }
  static GPUTM_INLINE const parts::loop_limits& limits(const loop_environment&, const busy_body<Body>&) {
    return limits();
  }
  static GPUTM_INLINE std::uint64_t iteration(const busy_body<Body>& body, std::uint64_t k) {
    return simt::plain_load(body.list[k]);
  }

 private:
  struct in_shared_memory {
    alignas(parts::loop_limits) std::byte bytes[sizeof(parts::loop_limits)];
  };
};

/// Every thread of a loop's grid calls it once.
template <class E, class Body>
GPUTM_INLINE void run_busy(const loop_environment& env, const parts::busy_space& busy, const busy_body<Body>& body) {
  using loop = loop_of<busy_body<Body>>;
  if (simt::thread_rank() == 0) {
    parts::loop_limits limits = env.limits;
    limits.set_iterations(simt::plain_load(*busy.total));
    loop::limits() = limits;
  }
  simt::sync_block();
  E::run(env, body);
  if (simt::grid_thread_rank() != 0) return;
  // This thread has passed the barrier behind which all was counted, or has counted itself.
  parts::loop_counters& c = env.state->counters;
  const std::uint64_t done = simt::atomic(c.iterations).load(simt::order::relaxed);
  simt::atomic(c.iterations).store(done != 0 ? loop::iteration(body, done - 1) + 1 : 0, simt::order::relaxed);
  simt::atomic(c.executed).fetch_add(busy.iterations - 1, simt::order::relaxed);  // nobody has looked at the last one
}

}  // namespace gputm::speculation
