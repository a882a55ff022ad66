// Floor 2: lanes of a warp that do together what one of them would take long for, while the others wait.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Lanes that go through the same collectives. Each has a rank among them.
class lane_team {
  simt::mask_t mask_;

  static constexpr std::uint32_t fewest = GPUTM_ON_DEVICE ? 8 : 2;  // that are worth it
  static constexpr std::uint32_t most_served = 8;  // lanes, one after another: all at once, each for itself, are faster
  static constexpr std::uint32_t many = GPUTM_ON_DEVICE ? 64 : 4;  // things to do. Few on a host, for tests

 public:
  GPUTM_INLINE explicit lane_team(simt::mask_t mask) : mask_(mask) {}
  GPUTM_INLINE simt::mask_t mask() const { return mask_; }
  GPUTM_INLINE std::uint32_t width() const { return simt::count(mask_); }
  GPUTM_INLINE std::uint32_t rank() const { return simt::count(simt::below(mask_)); }
  GPUTM_INLINE bool all(bool mine) const { return simt::all(mask_, mine); }
  GPUTM_INLINE std::uint32_t bits(std::uint32_t mine) const { return simt::reduce_or(mask_, mine); }
  GPUTM_INLINE std::uint32_t sum(std::uint32_t mine) const { return simt::reduce_add(mask_, mine); }
  GPUTM_INLINE std::uint32_t least(std::uint32_t mine) const { return simt::reduce_min(mask_, mine); }
  /// Merges what its lanes have (iteration::reduce_each): each gets all of it. All of them call it.
  template <class Accumulator>
  GPUTM_INLINE void merge(Accumulator& part) const {
    const std::uint32_t width = simt::warp_width();
    if (mask_ == simt::full_mask && (width & (width - 1)) == 0 && simt::is_full_warp()) {
      GPUTM_NO_UNROLL
      for (std::uint32_t distance = width / 2; distance != 0; distance /= 2)
        part.merge(simt::shfl_words(mask_, part, simt::lane() ^ distance));
      return;
    }
    const Accumulator mine = part;
    GPUTM_NO_UNROLL
    for (simt::mask_t all = mask_; all != 0; all &= all - 1) {
      const std::uint32_t other = simt::lowest(all);
      const Accumulator its = simt::shfl_words(mask_, mine, other);
      if (other != simt::lane()) part.merge(its);
    }
  }
  /// Those of its lanes that have so much more to do than others, `mine` being this one's, that all had better do it
  /// for one of them after another. None if the team is small, or nobody has much to do.
  GPUTM_INLINE simt::mask_t busiest(std::uint32_t mine) const {
    if (width() < fewest) return 0;
    std::uint32_t least = many;
    simt::mask_t busy;
    GPUTM_NO_UNROLL
    while (simt::count(busy = simt::ballot(mask_, mine >= least)) > most_served && least < 1u << 31) least *= 2;
    return busy;
  }
};

/// A lane for itself, as a team.
struct one_lane {
  static GPUTM_INLINE std::uint32_t width() { return 1; }
  static GPUTM_INLINE std::uint32_t rank() { return 0; }
  static GPUTM_INLINE bool all(bool mine) { return mine; }
  static GPUTM_INLINE std::uint32_t bits(std::uint32_t mine) { return mine; }
  static GPUTM_INLINE std::uint32_t sum(std::uint32_t mine) { return mine; }
  static GPUTM_INLINE std::uint32_t least(std::uint32_t mine) { return mine; }
  template <class Accumulator>
  static GPUTM_INLINE void merge(Accumulator&) {}
};

}  // namespace gputm::parts
