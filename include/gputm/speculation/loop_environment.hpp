// Floor 3: what the threads of a speculative loop get from the host.
#pragma once

#include <cstdint>

#include "gputm/parts/control.hpp"
#include "gputm/parts/element_ranges.hpp"
#include "gputm/parts/in_place_space.hpp"
#include "gputm/parts/joint_rows.hpp"
#include "gputm/parts/loop_log.hpp"
#include "gputm/parts/loop_state.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/parts/table_space.hpp"

namespace gputm::speculation {

/// Words that a loop sets to zero, for the next one.
struct words_to_clear {
  std::uint64_t* base = nullptr;
  std::uint32_t count = 0;
  /// All threads of the grid call it.
  GPUTM_INLINE void clear() const {
    GPUTM_NO_UNROLL
    for (std::uint32_t k = simt::grid_thread_rank(); k < count; k += simt::grid_threads())
      simt::plain_store(base[k], 0);
  }
};

/// What the threads of a speculative loop get. Trivially copyable; lives in the kernel's parameters.
struct loop_environment {
  region_table regions;
  parts::control* control;
  parts::loop_state* state;
  parts::table_space table;
  parts::loop_log_space logs;
  parts::element_ranges ranges;
  parts::loop_limits limits;
  words_to_clear next;
  parts::in_place_space in_place;
  parts::joint_space joint;
  std::uint64_t* left_out = nullptr;  ///< memory for left_out_lists, if there is one
};

/// What the loop that an engine runs is to the user's: the same, unless the body is the library's own (busy_loop.hpp).
template <class Body>
struct loop_of {
  static GPUTM_INLINE const parts::loop_limits& limits(const loop_environment& env, const Body&) { return env.limits; }
  /// The number in the user's loop of iteration `k`.
  static GPUTM_INLINE std::uint64_t iteration(const Body&, std::uint64_t k) { return k; }
};

}  // namespace gputm::speculation
