// Floor 2: deals the positions that the lanes of a warp have in a set (position_set.hpp) out among all of them. If each
// ran its own, all would wait for the lane that has most.
#pragma once

#include <cstdint>

#include "gputm/parts/position_set.hpp"

namespace gputm::parts {

/// All lanes of a full warp make one, and call deal() together.
class position_dealer {
  const position_set due_, of_all_;  // of this lane, of any
  const std::uint32_t size_;
  std::uint32_t turn_;
  simt::mask_t rest_;  // lanes whose position in that turn has yet to be dealt

  GPUTM_INLINE simt::mask_t having(std::uint32_t turn) const {
    return simt::ballot(simt::full_mask, due_.has(turn) && position_set::position(turn) < size_);
  }

 public:
  /// `due`: this lane's; of those positions that are below `size`, and of its exact turns from `from` on.
  GPUTM_INLINE position_dealer(const position_set& due, std::uint32_t from, std::uint32_t size)
      : due_(due), of_all_(due.of_all_lanes()), size_(size), turn_(of_all_.next(from)), rest_(having(turn_)) {}

  /// One of a lane, its owner.
  struct dealt {
    std::uint32_t owner = 0, turn = 0;
    GPUTM_INLINE std::uint32_t position() const {
      return simt::grid_thread_rank() - simt::lane() + owner + turn * simt::grid_threads();
    }
  };
  /// The lowest of those that are left, one for each lane that wants one, in the order of lanes. Whether there was one
  /// for this lane: then `its` tells it.
  GPUTM_INLINE bool deal(bool wants, dealt& its) {
    const simt::mask_t all = simt::ballot(simt::full_mask, wants);
    const std::uint32_t wanted = simt::count(all);
    const std::uint32_t mine = simt::count(all & ((simt::mask_t{1} << simt::lane()) - 1));
    std::uint32_t before = 0;
    bool got = false;
    GPUTM_NO_UNROLL
    while (before < wanted && turn_ < position_set::turns) {
      const std::uint32_t n = simt::count(rest_);
      if (wants && mine - before < n) {
        its = {simt::nth(rest_, mine - before), turn_};
        got = true;
      }
      if (n <= wanted - before) {
        before += n;
        turn_ = of_all_.next(turn_ + 1);
        rest_ = having(turn_);
      } else {
        rest_ = simt::without_lowest(rest_, wanted - before);
        before = wanted;
      }
    }
    return got;
  }
};

}  // namespace gputm::parts
