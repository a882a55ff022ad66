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

  static constexpr std::uint32_t most = 32;          ///< elements that an iteration owns in several arrays together
  static constexpr std::uint32_t most_in_one = 256;  ///< or in one
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
  /// All of it, as a word that is 0 only if nobody owns anything; and back.
  GPUTM_INLINE std::uint64_t word() const {
    return arrays == 0 ? 0 : std::uint64_t{arrays} << 48 | std::uint64_t{width} << 32 | begin;
  }
  static GPUTM_INLINE owned_rows of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 48), static_cast<std::uint32_t>(word),
            static_cast<std::uint32_t>(word >> 32) & 0xffffu};
  }
  /// Whether iteration `i` owns the element, which is one of these arrays'.
  GPUTM_INLINE bool is_own(std::uint32_t index, std::uint32_t i) const { return index - row(i) < width; }
  /// Elements [begin, end) of an array.
  struct interval {
    std::uint64_t begin, end;
  };
  /// Those that the first `n` iterations own of one of these arrays, of this length.
  GPUTM_INLINE interval all(std::uint32_t n, std::uint32_t length) const {
    const std::uint64_t missing = begin < length ? 0 : std::uint64_t{1} << 32;  // the first rows begin before the array
    const std::uint64_t end = std::uint64_t{begin} + std::uint64_t{n} * width - missing;
    return {missing == 0 ? begin : 0, end < length ? end : length};
  }
  /// The iteration that does.
  GPUTM_INLINE std::uint32_t owner(std::uint32_t index) const { return (index - begin) / width; }

  // The elements that an iteration owns are told by slots: those of the lowest array first.
  GPUTM_INLINE std::uint32_t slot(std::uint32_t region, std::uint32_t place) const {
    return width * simt::count(arrays & ((1u << region) - 1)) + place;
  }
  GPUTM_INLINE std::uint32_t slots() const { return width * simt::count(arrays); }
  /// A bit for each slot, of which there is one at least, of rows that are not wide.
  GPUTM_INLINE std::uint32_t all_slots() const { return ~0u >> (most - slots()); }
  // What has become of them is told by the bits of a word: one for each slot; or, if rows are wide, for each piece of
  // one, which is 2, 4 or 8 neighbouring slots, or what is left of them at its end.
  GPUTM_INLINE bool is_wide() const { return slots() > most; }
  /// A piece has 2 to the power of this many slots.
  GPUTM_INLINE std::uint32_t piece_bits() const {
    const std::uint32_t all = slots();
    return (all > most) + (all > 2 * most) + (all > 4 * most);
  }
  static_assert(most_in_one == 8 * most);
  /// The bits of all, of which there is one at least, of any rows.
  GPUTM_INLINE std::uint32_t all_pieces() const { return ~0u >> (most - 1 - ((slots() - 1) >> piece_bits())); }
};

/// Bounds of the elements that an iteration has stored to, each of them once.
class stored_bounds {
  std::uint32_t arrays_ = 0, lowest_ = ~0u, highest_ = 0, count_ = 0;

 public:
  GPUTM_INLINE void add(std::uint32_t region, std::uint32_t index) {
    arrays_ |= 1u << region;
    lowest_ = index < lowest_ ? index : lowest_;
    highest_ = index > highest_ ? index : highest_;
    ++count_;
  }
  GPUTM_INLINE std::uint32_t count() const { return count_; }
  GPUTM_INLINE std::uint32_t arrays() const { return arrays_; }  ///< bits of region numbers
  /// Whether they, and others, may be one.
  GPUTM_INLINE bool may_be_row() const { return highest_ - lowest_ < owned_rows::most_in_one; }
  /// The rows, of `n` iterations, of which these elements are that of iteration `i`: neighbours, as many and at the
  /// same indices in each array. Nobody owns anything if they are something else.
  GPUTM_INLINE owned_rows rows(std::uint32_t i, std::uint64_t n) const {
    owned_rows r{arrays_, 0, highest_ - lowest_ + 1};
    r.begin = lowest_ - i * r.width;
    const std::uint64_t all = std::uint64_t{r.width} * simt::count(arrays_);
    const std::uint32_t most = simt::count(arrays_) == 1 ? r.most_in_one : r.most;
    const bool is_row = count_ != 0 && all == count_ && count_ <= most && n * r.width <= r.most_indices;
    return is_row ? r : owned_rows{};
  }
};

}  // namespace gputm::parts
