// Floor 2: a filter of a few keys, in a register, in front of a search for one of them.
#pragma once

#include <cstdint>

#include "gputm/parts/region.hpp"

namespace gputm::parts {

/// Where a key has its bit clear, it has not been added. `shift`: where a hash has the five bits that tell which one;
/// so filters with others, at most 27, seldom let the same key pass.
template <unsigned shift>
class key_filter {
  static_assert(shift <= 27);
  std::uint32_t bits_ = 0;

  static GPUTM_INLINE std::uint32_t bit(std::uint64_t key) {
    const std::uint32_t hash = (index_of(key) + region_of(key) * 0x85EBCA6Bu) * 0x9E3779B1u;
    return 1u << (hash >> shift & 31u);
  }

 public:
  GPUTM_INLINE bool perhaps(std::uint64_t key) const { return (bits_ & bit(key)) != 0; }
  GPUTM_INLINE void add(std::uint64_t key) { bits_ |= bit(key); }
};

}  // namespace gputm::parts
