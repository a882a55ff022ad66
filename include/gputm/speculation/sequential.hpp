// Sequential: one iteration after another, on one thread of the device. Floor 3. The oracle: what every other engine
// must equal bit for bit, since the arithmetic is the same.
//
// Semantics: the loop's own. Progress: every iteration takes one step.
#pragma once

#include "gputm/speculation/concept.hpp"
#include "gputm/speculation/one_by_one.hpp"

namespace gputm::speculation {

struct sequential : engine_base {
  static constexpr const char* name = "sequential";
  static constexpr algorithm_traits traits{.opaque = true, .one_thread = true};
  static constexpr loop_traits loop{.one_thread = true, .barriers = false, .table = false, .logs = false};

  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    const serial_end end = run_one_by_one(env, body, 0, env.limits.iterations);
    simt::plain_store(env.state->counters.iterations, end.done);
    simt::plain_store(env.state->counters.executed, end.done);
    simt::plain_store(env.state->counters.serial, end.done);
  }
};

static_assert(LoopEngine<sequential>);

}  // namespace gputm::speculation
