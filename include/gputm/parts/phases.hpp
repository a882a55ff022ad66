// Floor 2: where the time of transactions goes, as in the thesis' tables 5.1 to 5.8. Compiled in by GPUTM_PHASES=1
// for the whole program (CMake: -DGPUTM_PHASES=ON); otherwise it costs nothing.
#pragma once

#include <cstdint>

#include "gputm/parts/control.hpp"
#include "gputm/simt/simt.hpp"

#ifndef GPUTM_PHASES
#define GPUTM_PHASES 0
#endif

namespace gputm::parts {

/// The time of a phase that has begun; does nothing unless phases are compiled in.
class stopwatch {
  std::uint64_t since_ = 0;

 public:
  GPUTM_INLINE stopwatch() {
    if constexpr (GPUTM_PHASES != 0) since_ = simt::nanoseconds();
  }
  /// Adds the time since the last call, or the construction, to the phase, for each of `transactions`.
  GPUTM_INLINE void lap([[maybe_unused]] control* c, [[maybe_unused]] phase p,
                        [[maybe_unused]] std::uint64_t transactions = 1) {
    if constexpr (GPUTM_PHASES != 0) {
      const std::uint64_t now = simt::nanoseconds();
      auto& block = c->counters[simt::block_rank() % counter_slots];
      // relaxed: read after the launch
      simt::atomic(block.phase_ns[static_cast<unsigned>(p)])
          .fetch_add((now - since_) * transactions, simt::order::relaxed);
      since_ = now;
    }
  }
};

}  // namespace gputm::parts
