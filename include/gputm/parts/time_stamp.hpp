// Floor 2: the global time stamp (GTS): how many commits are visible. Published in order: a commit becomes
// visible when all before it are.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

class time_stamp {
  std::uint64_t& word_;

 public:
  GPUTM_INLINE explicit time_stamp(std::uint64_t& word) : word_(word) {}

  /// The snapshot of a transaction that starts now. acquire: pairs with publish(): everything written back by
  /// the commits up to it is visible.
  GPUTM_INLINE std::uint64_t snapshot() const { return simt::atomic(word_).load(simt::order::acquire); }

  /// Waits until commit `stamp` is visible. acquire: as snapshot().
  GPUTM_INLINE void wait_for(std::uint64_t stamp) const { (void)simt::await_at_least(word_, stamp); }
  /// Makes the commits `first` to `last` visible, after all before them are.
  GPUTM_INLINE void publish(std::uint64_t first, std::uint64_t last) const {
    wait_for(first - 1);  // its acquire carries the publications before this one on to whoever reads it
    // release: pairs with snapshot()
    simt::atomic(word_).store(last, simt::order::release);
  }
};

}  // namespace gputm::parts
