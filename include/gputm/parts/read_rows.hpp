// Floor 2: what each iteration of a loop is taken to read besides its own elements: row after row, which may overlap.
#pragma once

#include <cstdint>

#include "gputm/simt/warp.hpp"

namespace gputm::parts {

/// Iteration i may read the elements [begin + i * stride, begin + i * stride + width) of each of some arrays. Indices
/// are reckoned modulo 2^32, of which all rows together take less.
struct read_rows {
  std::uint32_t arrays = 0;  ///< bits of region numbers; 0: nobody knows what iterations read
  std::uint32_t begin = 0;   ///< index of iteration 0's first element
  std::uint32_t stride = 0;
  std::uint32_t width = 0;

  static constexpr std::uint32_t most = 0xffff;  ///< of stride and width
  static constexpr std::uint64_t most_indices = 0xffffffffu;

  /// Whether those of `n` iterations can be told apart.
  GPUTM_INLINE bool fits(std::uint64_t n) const { return n * stride + width <= most_indices; }
  /// Index of the first element that iteration `i` may read.
  GPUTM_INLINE std::uint32_t row(std::uint32_t i) const { return begin + i * stride; }
  /// Whether no iteration above `i`, of `n`, has the element in its row. May be false if none has.
  GPUTM_INLINE bool is_none_above(std::uint32_t region, std::uint32_t index, std::uint32_t i, std::uint32_t n) const {
    const std::uint32_t place = index - begin;
    return (arrays >> region & 1) == 0 || place < (i + 1) * stride || place >= (n - 1) * stride + width;
  }

  /// All but the arrays, as a word that is 0 only if rows have no elements; and back.
  GPUTM_INLINE std::uint64_t word() const {
    return std::uint64_t{width} << 48 | std::uint64_t{stride & most} << 32 | begin;
  }
  static GPUTM_INLINE read_rows of(std::uint64_t word, std::uint32_t arrays) {
    return {arrays, static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32) & most,
            static_cast<std::uint32_t>(word >> 48)};
  }
};

}  // namespace gputm::parts
