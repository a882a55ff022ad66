// Floor 2: contention policies: what priority an attempt has, and how long a loser waits.
#pragma once

#include <bit>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Ranks that a priority can tell apart; launches with more threads are refused.
inline constexpr std::uint32_t rank_bits = 19;
inline constexpr std::uint32_t max_threads = std::uint32_t{1} << rank_bits;

/// What a policy may look at. A lower number is a higher priority; ranks make priorities unique.
struct urgency {
  std::uint32_t rank = 0;    ///< of the thread in the grid
  std::uint32_t aborts = 0;  ///< of this transaction so far
  std::uint64_t began = 0;   ///< nanoseconds at its first attempt; 0 unless the policy is timed
};

/// The paper's rule (pr-stm section 2.1): a thread's rank is its priority, for ever. May starve the last.
struct static_priority {
  static constexpr unsigned bits = rank_bits;
  static GPUTM_INLINE std::uint32_t of(urgency u) { return u.rank; }
};

/// The paper's future work (pr-stm section 5): each doubling of the aborts raises a transaction by one of
/// eight levels; rank decides within a level.
struct priority_by_aborts {
  static constexpr unsigned bits = rank_bits + 3;
  static GPUTM_INLINE std::uint32_t of(urgency u) {
    std::uint32_t level = 0;
    for (std::uint32_t a = u.aborts; a != 0 && level < 7; a >>= 1) ++level;
    return (7 - level) << rank_bits | u.rank;
  }
};

/// The same by age: a level for each quadrupling of the microseconds since the first attempt.
struct priority_by_age {
  static constexpr unsigned bits = rank_bits + 3;
  static constexpr bool timed = true;
  static GPUTM_INLINE std::uint32_t of(urgency u) {
    std::uint32_t level = 0;
    if (u.aborts != 0)  // the first attempt need not read the clock
      for (std::uint64_t us = (simt::nanoseconds() - u.began) / 1000; us != 0 && level < 7; us >>= 2) ++level;
    return (7 - level) << rank_bits | u.rank;
  }
};

/// A small generator for waiting times; one a thread.
struct jitter {
  std::uint32_t state;
  GPUTM_INLINE explicit jitter(std::uint32_t seed) : state(seed * 2654435761u | 1u) {}
  GPUTM_INLINE std::uint32_t below(std::uint32_t n) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(state) * n >> 32);
  }
};

/// Randomised exponential backoff in nanoseconds. Alone it does not break a tie inside a warp, whose
/// lanes may sleep and retry in lock step; priorities or ordered locks must do that.
struct exponential_backoff {
  static constexpr std::uint32_t shortest = 32, longest = 8192;
  static GPUTM_INLINE void wait(std::uint32_t aborts, jitter& random) {
    const std::uint32_t limit = aborts < 8 ? shortest << aborts : longest;
    simt::backoff(random.below(limit));
  }
};

}  // namespace gputm::parts
