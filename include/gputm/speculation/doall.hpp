// Doall: every iteration by itself, plain loads and stores, nothing checked. Floor 3. An upper bound on what any
// engine can reach; right only for loops without dependences, and marked as such.
//
// Semantics: none. An iteration that cancels or fails keeps what it has stored; break_loop() is an error.
// Progress: every iteration runs once.
#pragma once

#include "gputm/speculation/concept.hpp"
#include "gputm/speculation/iteration.hpp"

namespace gputm::speculation {

struct doall : engine_base {
  static constexpr const char* name = "doall";
  static constexpr algorithm_traits traits{.in_place_writes = true, .isolated = false};
  // it has no logs, so nobody needs to tell it an iteration's capacity
  static constexpr loop_traits loop{
      .barriers = false, .table = false, .logs = false, .many_accesses = 0, .ordered = false};

  struct access {
    template <class T>
    GPUTM_INLINE bool load(const region& r, std::uint32_t, std::uint32_t index, T& out) {
      out = parts::read_element<T>(r, index);
      return true;
    }
    static constexpr unsigned loads_at_once = 8;
    template <class T, std::size_t N>
    GPUTM_INLINE bool load_some(const region& r, std::uint32_t, const std::uint32_t (&index)[N], std::uint32_t,
                                T (&out)[N]) {
      parts::read_elements(r, index, out);
      return true;
    }
    template <class T>
    GPUTM_INLINE bool store(const region& r, std::uint32_t, std::uint32_t index, const T& value) {
      parts::write_element(r, index, value);
      return true;
    }
    GPUTM_INLINE static constexpr parts::overflow_kind overflow() { return parts::overflow_kind::none; }
    GPUTM_INLINE static constexpr std::uint64_t write_limit() { return 0; }
    GPUTM_INLINE static constexpr bool first() { return true; }
  };

  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    iteration_trouble trouble;
    GPUTM_NO_UNROLL
    for (std::uint64_t i = simt::grid_thread_rank(); i < env.limits.iterations; i += simt::grid_threads()) {
      access a;
      iteration_fault f;
      iteration<access> it(a, env.regions, env.limits.operations, trouble);
      if (it.run(body, i) == attempt_end::failed) f = it.fault();
      if (it.last() && f.kind == parts::fault::none) f.kind = parts::fault::break_in_doall;
      if (f.kind != parts::fault::none) {
        parts::report_fault(*env.control, f.kind, f.region, f.a, f.b, i);
        break;
      }
    }
    if (simt::grid_thread_rank() != 0) return;
    // of a loop without a fault, and of one with a fault nobody will know; relaxed: read after the launch
    simt::atomic(env.state->counters.iterations).store(env.limits.iterations, simt::order::relaxed);
    simt::atomic(env.state->counters.executed).store(env.limits.iterations, simt::order::relaxed);
  }
};

static_assert(LoopEngine<doall>);

}  // namespace gputm::speculation
