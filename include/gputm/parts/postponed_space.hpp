// Floor 2: which iterations of a pass by claims (postponed_pass.hpp) wait until it is over, and what others have read.
#pragma once

#include <cstdint>

#include "gputm/parts/element_filter.hpp"
#include "gputm/parts/loop_log.hpp"

namespace gputm::parts {

/// Trivially copyable; lives in the kernel's parameters. In the logs, since no window is under way; or its reads have
/// memory of their own.
struct postponed_space {
  std::uint64_t* reads = nullptr;  ///< numbers of elements, two to a word: word k of position p at k * positions + p
  std::uint32_t* list = nullptr;   ///< positions, and behind `most` of them what has become of each
  element_filter filter;           ///< of wanted elements; nothing is set between loops
  std::uint32_t positions = 0;
  std::uint32_t slots = 0;  ///< words of a position
  std::uint32_t most = 0;   ///< positions that may wait in the end; 0: none may

  static constexpr std::uint32_t end = ~0u;  ///< behind a position's last read, if there is room; no element's number

  static constexpr std::uint64_t slots_for(std::uint32_t reads) { return (std::uint64_t{reads} + 1) / 2; }
  /// Words of all positions; less than 2^32.
  static constexpr std::uint64_t words(std::uint64_t n, std::uint32_t reads) { return n * slots_for(reads); }
  /// Whether logs have room for those of a loop of `n` iterations. `saves_there`: a pass has its values in them, too.
  static constexpr bool has_room(const loop_log_space& logs, std::uint64_t n, bool saves_there) {
    return words(n, logs.reads) <= (saves_there ? logs.reads : logs.rows() - 2) * logs.window;
  }
  /// Of a loop of `n` iterations, whose lists lie where the logs have theirs.
  static postponed_space of(const loop_log_space& logs, std::uint64_t n, std::uint64_t* reads, element_filter filter) {
    constexpr std::uint64_t few = 64, one_of = 16;
    const std::uint64_t waiting = n / one_of > few ? n / one_of : few, nodes = logs.nodes() / 2;
    return {reads,
            logs.links,
            filter,
            static_cast<std::uint32_t>(n),
            static_cast<std::uint32_t>(slots_for(logs.reads)),
            static_cast<std::uint32_t>(waiting < nodes ? waiting : nodes)};
  }
  /// So many at most when the pass ends, since others follow that are in their way.
  GPUTM_INLINE std::uint32_t most_of_pass() const { return most / 4; }
  /// Word `k` of position `p`.
  GPUTM_INLINE std::uint64_t& word(std::uint32_t k, std::uint32_t p) const { return reads[k * positions + p]; }
  static GPUTM_INLINE std::uint64_t word_of(std::uint32_t first, std::uint32_t second) {
    return first | std::uint64_t{second} << 32;
  }
  /// Its first read, or its second one.
  static GPUTM_INLINE std::uint32_t part(std::uint64_t word, unsigned half) {
    return static_cast<std::uint32_t>(word >> 32 * half);
  }
  GPUTM_INLINE std::uint32_t& position(std::uint32_t k) const { return list[k]; }
  /// In which round entry `k` has run to its end; 0: it has not yet.
  GPUTM_INLINE std::uint32_t& round(std::uint32_t k) const { return list[most + k]; }
  GPUTM_INLINE void put(std::uint32_t k, std::uint32_t p) const {
    simt::plain_store(position(k), p);
    simt::plain_store(round(k), 0);
  }
};

}  // namespace gputm::parts
