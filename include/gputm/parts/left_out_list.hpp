// Floor 2: which elements of a row an iteration that runs again has left out, since they are not there yet. Beside the
// log, whose entries are far from each other: lanes look at a list together.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Of one thread. Lanes of its warp read and write it in turn; they meet in between.
class left_out_list {
  std::uint64_t* words_ = nullptr;

  static constexpr std::uint32_t room = 64;
  static constexpr std::uint32_t most_at_once = GPUTM_ON_DEVICE ? room : 3;  // few, for tests

 public:
  struct element {
    std::uint32_t number;    ///< in its row
    std::uint32_t position;  ///< whose value it is, in the window
  };
  /// Memory for those of so many threads.
  static constexpr std::uint64_t bytes(std::uint32_t threads) { return std::uint64_t{room} * 8 * threads; }

  left_out_list() = default;
  /// `words`: memory of bytes(); without it no list has any room.
  GPUTM_INLINE left_out_list(std::uint64_t* words, std::uint32_t thread)
      : words_(words == nullptr ? nullptr : words + std::uint64_t{room} * thread) {}
  GPUTM_INLINE std::uint32_t most() const { return words_ == nullptr ? 0 : most_at_once; }
  GPUTM_INLINE element get(std::uint32_t i) const {
    const std::uint64_t w = simt::plain_load(words_[i]);
    return {static_cast<std::uint32_t>(w), static_cast<std::uint32_t>(w >> 32)};
  }
  GPUTM_INLINE void set(std::uint32_t i, const element& e) const {
    simt::plain_store(words_[i], std::uint64_t{e.position} << 32 | e.number);
  }
};

}  // namespace gputm::parts
