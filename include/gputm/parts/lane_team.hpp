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
  // To serve one lane costs the others as much as so many things of their own.
  static constexpr std::uint32_t as_long_as = GPUTM_ON_DEVICE ? 4 : 1;

 public:
  // Things to do: where each lane has several under way, and where it has one. Few on a host, for tests.
  static constexpr std::uint32_t many = GPUTM_ON_DEVICE ? 64 : 4, some = GPUTM_ON_DEVICE ? 8 : 2;

  GPUTM_INLINE explicit lane_team(simt::mask_t mask) : mask_(mask) {}
  GPUTM_INLINE simt::mask_t mask() const { return mask_; }
  GPUTM_INLINE std::uint32_t width() const { return simt::count(mask_); }
  GPUTM_INLINE std::uint32_t rank() const { return simt::count(simt::below(mask_)); }
  GPUTM_INLINE bool all(bool mine) const { return simt::all(mask_, mine); }
  GPUTM_INLINE std::uint32_t bits(std::uint32_t mine) const { return simt::reduce_or(mask_, mine); }
  GPUTM_INLINE std::uint32_t sum(std::uint32_t mine) const { return simt::reduce_add(mask_, mine); }
  GPUTM_INLINE std::uint32_t least(std::uint32_t mine) const { return simt::reduce_min(mask_, mine); }
  GPUTM_INLINE std::uint32_t most(std::uint32_t mine) const { return simt::reduce_max(mask_, mine); }
  /// A place for each of those lanes that have one to ask for, from `next` on, which is behind them then.
  GPUTM_INLINE std::uint32_t place(bool mine, std::uint32_t& next) const {
    const simt::mask_t those = simt::ballot(mask_, mine);
    const std::uint32_t its = next + simt::count(simt::below(those));
    next += simt::count(those);
    return its;
  }
  GPUTM_INLINE void sync() const { simt::sync_warp(mask_); }
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
  /// for one of them after another. None if the team is small, or nobody has `least` things to do or more.
  GPUTM_INLINE simt::mask_t busiest(std::uint32_t mine, std::uint32_t least = many) const {
    if (width() < fewest) return 0;
    for (;; least *= 2) {
      const simt::mask_t busy = simt::ballot(mask_, mine >= least);
      const std::uint32_t served = simt::count(busy);
      if ((served <= most_served && served * as_long_as <= least) || least >= 1u << 31) return busy;
    }
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
  static GPUTM_INLINE std::uint32_t most(std::uint32_t mine) { return mine; }
  static GPUTM_INLINE std::uint32_t place(bool mine, std::uint32_t& next) { return mine ? next++ : next; }
  static GPUTM_INLINE void sync() {}
  template <class Accumulator>
  static GPUTM_INLINE void merge(Accumulator&) {}
};

}  // namespace gputm::parts
