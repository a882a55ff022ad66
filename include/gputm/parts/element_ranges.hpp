// Floor 2: the arrays of a memory cut into a few ranges, so that one word can say which of them were touched.
#pragma once

#include <cstdint>

#include "gputm/parts/region.hpp"
#include "gputm/simt/warp.hpp"

namespace gputm::parts {

/// Ranges are bits of a word. Each is a part of one array, of 2^shift elements or what is left of it; where even ranges
/// of 2^31 elements are too many (src/loop.cpp), all arrays share two. A loop chooses how many elements of its first
/// range an array is taken to lack, its `offset` below 2^shift, so that one end of a range can lie where the loop's
/// reads end and its stores begin. Trivially copyable; lives in the kernel's parameters.
struct element_ranges {
  static constexpr std::uint32_t most = 31;               ///< of all arrays together
  static constexpr std::uint32_t all = (1u << most) - 1;  ///< ranges there may be
  std::uint32_t shift = 0;
  bool movable = false;                       ///< there are bits for any offset; else it is 0
  std::uint32_t first[max_regions + 1] = {};  ///< of an array's ranges; then how many there are

  /// The element's range.
  GPUTM_INLINE std::uint32_t of(std::uint32_t region, std::uint32_t index, std::uint32_t offset) const {
    return of(first[region], shift, index, offset);
  }
  /// The same for who has looked up the first range of the array, and the shift.
  static GPUTM_INLINE std::uint32_t of(std::uint32_t first_range, std::uint32_t shift, std::uint32_t index,
                                       std::uint32_t offset) {
    return 1u << (first_range + ((index + offset) >> shift));
  }
  /// Those of elements `first_index` to `last_index` of a region.
  GPUTM_INLINE std::uint32_t of_all(std::uint32_t region, std::uint32_t first_index, std::uint32_t last_index,
                                    std::uint32_t offset) const {
    const std::uint32_t from = of(region, first_index, offset), to = of(region, last_index, offset);
    return to | (to - from);
  }
  /// Elements [begin, end) of a region.
  struct interval {
    std::uint32_t region = 0;
    std::uint64_t begin = 0, end = 0;
  };
  /// Those of this range, and perhaps some behind the last one of the array.
  GPUTM_INLINE interval elements_of(std::uint32_t range, std::uint32_t offset) const {
    const std::uint32_t number = simt::lowest(range);
    interval e;
    while (first[e.region + 1] <= number) ++e.region;
    const std::uint64_t begin = std::uint64_t{number - first[e.region]} << shift, length = std::uint64_t{1} << shift;
    e.begin = begin < offset ? 0 : begin - offset;
    e.end = begin + length - offset;
    return e;
  }
  /// The offset for which a range begins at this index.
  GPUTM_INLINE std::uint32_t offset_for(std::uint32_t index) const { return -index & ((1u << shift) - 1); }
  /// The ranges that have elements of these ones, if these are of another offset; and some of their neighbours.
  static GPUTM_INLINE std::uint32_t around(std::uint32_t ranges) { return (ranges | ranges << 1 | ranges >> 1) & all; }
  /// All ranges of those arrays that have one of these; or a quarter as many of these as of the `touched` ones.
  GPUTM_INLINE std::uint32_t of_arrays_with(std::uint32_t ranges, std::uint32_t touched = 0) const {
    std::uint32_t found = 0;
    for (std::uint32_t r = 0; ranges != 0 && first[r] != first[max_regions]; ++r) {
      const std::uint32_t mine = of_array(r), these = mine & ranges;
      if (these != 0 && 4 * simt::count(these) >= simt::count(mine & touched)) found |= mine;
    }
    return found;
  }
  /// The ranges of those arrays that have no others than these.
  GPUTM_INLINE std::uint32_t of_arrays_within(std::uint32_t ranges) const {
    return ranges & ~of_arrays_with(all & ~ranges);
  }

  GPUTM_INLINE std::uint32_t of_array(std::uint32_t r) const {
    constexpr std::uint32_t both = 3;
    return first[max_regions] == 0 ? both : (1u << first[r + 1]) - (1u << first[r]);
  }
};

}  // namespace gputm::parts
