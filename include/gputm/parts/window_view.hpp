// Floor 2: what a window knows of an element's deferred writes: who wrote it last below a position, from the marks
// and the logs of those marked.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_log.hpp"
#include "gputm/parts/writer_table.hpp"

namespace gputm::parts {

class window_view {
  loop_log_space logs_;
  writer_table table_;

  static constexpr std::uint32_t neighbours = 32;  // below a position whose logs are searched

  GPUTM_INLINE bool writes(std::uint32_t p, std::uint64_t key) const {
    const loop_log log(logs_, p);
    return log.find_write(key, log.write_count()) != loop_log::none;
  }
  /// For an element with several writers, some of them above `p`, or one that has thought better of it.
  GPUTM_NOINLINE std::uint32_t search(std::uint64_t key, std::uint32_t p, std::uint32_t first) const {
    const std::uint32_t lowest = p - first > neighbours ? p - neighbours : first;
    for (std::uint32_t q = p; q > lowest; --q)
      if (writes(q - 1, key)) return q - 1;
    return lowest == first ? memory : unknown;
  }

 public:
  static constexpr std::uint32_t memory = loop_log::none;  ///< nobody in the window
  static constexpr std::uint32_t unknown = memory - 1;

  window_view() = default;
  GPUTM_INLINE window_view(const loop_log_space& logs, const writer_table& table) : logs_(logs), table_(table) {}
  GPUTM_INLINE const writer_table& table() const { return table_; }
  GPUTM_INLINE loop_log log(std::uint32_t p) const { return {logs_, p}; }

  /// The highest position below `p` that writes the element; nobody may be executing.
  GPUTM_INLINE std::uint32_t writer_below(std::uint64_t key, std::uint32_t p) const {
    const std::uint32_t first = table_.first_writer(key);
    if (first >= p) return memory;
    const std::uint32_t last = table_.last_writer(key);
    if (last < p && writes(last, key)) return last;
    return search(key, p, first);
  }
  /// The same for several elements, where a look at first writers tells: bit i is set if nobody below `p` writes
  /// element i.
  template <std::size_t N>
  GPUTM_INLINE std::uint32_t unwritten_below(const std::uint64_t (&key)[N], std::uint32_t p) const {
    std::uint32_t first[N], clear = 0;
    table_.first_writers(key, first);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) clear |= std::uint32_t{first[i] >= p} << i;
    return clear;
  }
  /// A guess at it while others execute.
  GPUTM_INLINE std::uint32_t marked_below(std::uint64_t key, std::uint32_t p) const {
    if (table_.first_writer(key) >= p) return memory;
    const std::uint32_t last = table_.last_writer(key);
    return last < p ? last : unknown;
  }
};

}  // namespace gputm::parts
