// Floor 2: where the logs of a thread go when they outgrow its registers. A warp's logs lie side by
// side: word k of lane l is at base + k * warp_width + l, so that lanes that log together coalesce.
#pragma once

#include <bit>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Capacities of one transaction, chosen for a run.
struct log_capacity {
  std::uint32_t reads = 0;          ///< elements read
  std::uint32_t writes = 0;         ///< elements written
  std::uint32_t payload_words = 0;  ///< 8-byte words for written elements larger than 8 bytes

  /// Locks that reads and writes can involve.
  GPUTM_INLINE constexpr std::uint32_t locks() const { return reads + writes; }
  /// Slots of the hash index over locks: a power of two, at most half full.
  GPUTM_INLINE constexpr std::uint32_t index_slots() const {
    std::uint32_t slots = 8;
    while (slots < 2 * locks()) slots *= 2;
    return slots;
  }
};

/// The words of one thread's logs, in columns.
struct log_space {
  std::uint64_t* base = nullptr;  ///< all threads' words
  log_capacity capacity;
  std::uint32_t index_slots = 0;
  std::uint32_t words = 0;  ///< a thread's: locks, writes, payload, index with its generation

  static constexpr std::uint32_t lock_words = 2, write_words = 3;
  static constexpr log_space layout(log_capacity c) {
    log_space s;
    s.capacity = c;
    s.index_slots = c.index_slots();
    s.words = c.locks() * lock_words + c.writes * write_words + c.payload_words + s.index_slots + 1;
    return s;
  }
};

/// One thread's view of its columns.
class log_columns {
  std::uint64_t* mine_ = nullptr;
  std::uint32_t width_ = 1;

 public:
  log_columns() = default;
  GPUTM_INLINE explicit log_columns(const log_space& s) : width_(simt::warp_width()) {
    const std::uint32_t warps = (simt::block_size() + width_ - 1) / width_;
    const std::uint64_t warp = static_cast<std::uint64_t>(simt::block_rank()) * warps + simt::warp_rank();
    mine_ = s.base + warp * s.words * width_ + simt::lane();
  }
  GPUTM_INLINE std::uint64_t& operator[](std::uint32_t k) const {
    return mine_[static_cast<std::uint64_t>(k) * width_];
  }
};

/// How many 8-byte words a grid needs.
constexpr std::uint64_t log_words(const log_space& s, std::uint64_t blocks, std::uint32_t threads,
                                  std::uint32_t width) {
  return blocks * ((threads + width - 1) / width) * width * s.words;
}

}  // namespace gputm::parts
