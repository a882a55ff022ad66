// Floor 2: which elements each iteration of a loop is taken to own: row after row of them.
#pragma once

#include <cstdint>

#include "gputm/simt/warp.hpp"

namespace gputm::parts {

/// Iteration i owns the elements [begin + i * width, begin + (i + 1) * width) of each of some arrays; no two iterations
/// own the same one. Indices are reckoned modulo 2^32, of which all rows together take less.
struct owned_rows {
  std::uint32_t arrays = 0;  ///< bits of region numbers; 0: nobody owns anything
  std::uint32_t begin = 0;   ///< index of iteration 0's first element
  std::uint32_t width = 0;   ///< elements of an iteration in each of these arrays

  static constexpr std::uint32_t most = 32;  ///< elements that an iteration owns in all arrays together
  static constexpr std::uint64_t most_indices = 0xffffffffu;  ///< of all rows together

  GPUTM_INLINE bool has_array(std::uint32_t region) const { return (arrays >> region & 1) != 0; }
  /// Index of the first element that iteration `i` owns.
  GPUTM_INLINE std::uint32_t row(std::uint32_t i) const { return begin + i * width; }
  /// Whether one of the first `n` iterations owns the element.
  GPUTM_INLINE bool has(std::uint32_t region, std::uint32_t index, std::uint32_t n) const {
    return has_array(region) && is_below(index, n);
  }
  /// Whether one below `i` does, if any does.
  GPUTM_INLINE bool is_below(std::uint32_t index, std::uint32_t i) const { return index - begin < i * width; }
  /// The iteration that does.
  GPUTM_INLINE std::uint32_t owner(std::uint32_t index) const { return (index - begin) / width; }

  // The elements that an iteration owns are told by slots: those of the lowest array first.
  GPUTM_INLINE std::uint32_t slot(std::uint32_t region, std::uint32_t place) const {
    return width * simt::count(arrays & ((1u << region) - 1)) + place;
  }
  GPUTM_INLINE std::uint32_t slots() const { return width * simt::count(arrays); }
  /// A bit for each slot; there is one at least.
  GPUTM_INLINE std::uint32_t all_slots() const { return ~0u >> (most - slots()); }
};

}  // namespace gputm::parts
