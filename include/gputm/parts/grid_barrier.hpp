// Floor 2: a barrier for all blocks of a launch that are resident together (a cooperative launch on a GPU), with
// a serial section: what the last one to arrive does before anybody goes on.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

struct grid_barrier_words {
  alignas(128) std::uint64_t arrived;   ///< blocks, over all rounds
  alignas(128) std::uint64_t released;  ///< rounds that are over
};

/// One thread's view. The words are zero when the launch begins; every thread of the grid calls wait() equally often.
class grid_barrier {
  using order = simt::order;
  grid_barrier_words* words_;
  std::uint64_t round_ = 0;

 public:
  GPUTM_INLINE explicit grid_barrier(grid_barrier_words& words) : words_(&words) {}

  /// Waits for all threads; one of them runs `serial` in between. Everything before the barrier happens before
  /// the serial section, and that before everything behind the barrier.
  template <class Serial>
  GPUTM_INLINE void wait(const Serial& serial) {
    ++round_;
    simt::sync_block();  // thread 0 arrives for what all threads of the block have done
    if (simt::thread_rank() == 0) {
      // acq_rel: the arrivals of a round are a release sequence; the last one pairs with all before it
      const std::uint64_t before = simt::atomic(words_->arrived).fetch_add(1, order::acq_rel);
      if (before + 1 == round_ * simt::grid_size()) {
        serial();
        simt::atomic(words_->released).store(round_, order::release);  // pairs with the acquire below
      } else {
        (void)simt::await_at_least(words_->released, round_);  // acquire: pairs with the release above
      }
    }
    simt::sync_block();  // and goes on for all of them
  }
  GPUTM_INLINE void wait() {
    wait([] {});
  }
};

}  // namespace gputm::parts
