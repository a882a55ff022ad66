// Floor 2: what a server block works on in one round: the batches that were there when it began, and what has become
// of them so far. In shared memory; barriers of the block order who writes and who reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Trivially copyable.
class round_list {
  static constexpr std::uint32_t head = 2, words = 3;
  std::uint32_t* words_;  // {batches, the first undecided one; then of each its number, who is live, who is too old}

 public:
  /// Batches of one round.
  static constexpr std::uint32_t most = 512;
  static constexpr std::size_t bytes = 4 * (head + words * most);

  struct entry {
    std::uint32_t batch;
    simt::mask_t live, overwritten;
  };

  GPUTM_INLINE explicit round_list(std::byte* memory) : words_(reinterpret_cast<std::uint32_t*>(memory)) {}

  GPUTM_INLINE std::uint32_t count() const { return simt::plain_load(words_[0]); }
  GPUTM_INLINE void set_count(std::uint32_t n) const { simt::plain_store(words_[0], n); }
  GPUTM_INLINE std::uint32_t undecided() const { return simt::plain_load(words_[1]); }
  GPUTM_INLINE void set_undecided(std::uint32_t first) const { simt::plain_store(words_[1], first); }
  GPUTM_INLINE entry get(std::uint32_t i) const {
    const std::uint32_t* e = words_ + head + words * i;
    return {simt::plain_load(e[0]), simt::plain_load(e[1]), simt::plain_load(e[2])};
  }
  GPUTM_INLINE void set(std::uint32_t i, const entry& x) const {
    std::uint32_t* e = words_ + head + words * i;
    simt::plain_store(e[0], x.batch);
    simt::plain_store(e[1], x.live);
    simt::plain_store(e[2], x.overwritten);
  }
};

}  // namespace gputm::parts
