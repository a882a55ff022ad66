// Floor 2: what a window knows of an element's deferred writes: who wrote it last below a position, from the marks,
// the lists of writers and the logs.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_log.hpp"
#include "gputm/parts/writer_table.hpp"

namespace gputm::parts {

class window_view {
  loop_log_space logs_;
  writer_table table_;
  std::uint32_t lists_ = 0;  // which lists there are (loop_window)
  bool marks_ = false;

  static constexpr std::uint32_t neighbours = 32;  // below a position whose logs are searched
  // nodes of a list that are looked at: all, and those of positions below
  static constexpr std::uint32_t longest = 1024, longest_below = 128;

  /// Without lists, for an element with several writers, some of them above `p`, or one that has thought better of it.
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
  GPUTM_INLINE window_view(const loop_log_space& logs, const writer_table& table, std::uint32_t lists = 0)
      : logs_(logs), table_(table), lists_(lists) {}
  GPUTM_INLINE const writer_table& table() const { return table_; }
  GPUTM_INLINE loop_log log(std::uint32_t p) const { return {logs_, p}; }
  GPUTM_INLINE bool writes(std::uint32_t p, std::uint64_t key) const {
    const loop_log log(logs_, p);
    return log.find_write(key, log.write_count()) != loop_log::none;
  }

  /// Whether every write of a position to an element with several writers has a node in its element's list.
  GPUTM_INLINE bool has_lists() const { return lists_ != 0; }
  /// Whether the last writer of an element's mark writes it (loop_window::marks_hold).
  GPUTM_INLINE bool marks_hold() const { return marks_; }
  /// From now on: which lists there are, 0 if none; and whether marks hold.
  GPUTM_INLINE void know(std::uint32_t lists, bool marks) {
    lists_ = lists;
    marks_ = marks;
  }
  /// Entry `i` of position `p` is a write of this element, which has been marked.
  GPUTM_INLINE void list(std::uint64_t key, std::uint32_t p, std::uint32_t i) const {
    const std::uint32_t node = i * logs_.window + p;
    // relaxed, as the head: who comes before the link, before the barrier, may go astray
    simt::atomic(logs_.links[node]).store(table_.push(key, node, lists_), simt::order::relaxed);
  }
  /// The highest position below `p` in the element's list for which counts(position); unknown if the list is too long.
  template <class Counts>
  GPUTM_INLINE std::uint32_t listed_below(std::uint64_t key, std::uint32_t p, const Counts& counts) const {
    std::uint32_t best = memory, node = table_.newest(key, lists_);
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0, below = 0; k < longest && below < longest_below && node < logs_.nodes(); ++k) {
      const std::uint32_t q = logs_.write_of(node).position;
      below += q < p;
      if (q < p && (best == memory || q > best) && counts(q)) best = q;
      node = simt::atomic(logs_.links[node]).load(simt::order::relaxed);
    }
    return node == loop_log_space::no_node ? best : unknown;
  }

  using write = loop_log_space::write;
  /// The same for those of several elements that are asked for, all lists at a time; of each, which write of the
  /// position that is. look(positions, asked) asks what counts(k, position) is to tell of the k-th; the loads overlap.
  template <std::size_t N, class Look, class Counts>
  GPUTM_INLINE void listed_below(const std::uint64_t (&key)[N], const bool (&asked)[N], std::uint32_t p, Look look,
                                 const Counts& counts, write (&found)[N]) const {
    std::uint32_t node[N], below[N] = {};
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      node[i] = asked[i] ? table_.newest(key[i], lists_) : loop_log_space::no_node;
      found[i] = {memory, loop_log::none};
    }
    bool more = true;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; more && k < longest; ++k) {
      std::uint32_t next[N], q[N];
      write its[N];
      bool is[N];
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) {
        next[i] = loop_log_space::no_node;
        is[i] = false;
        if (node[i] >= logs_.nodes()) continue;
        next[i] = simt::atomic(logs_.links[node[i]]).load(simt::order::relaxed);
        its[i] = logs_.write_of(node[i]);
        q[i] = its[i].position;
        is[i] = q[i] < p && (found[i].position == memory || q[i] > found[i].position);
        below[i] += q[i] < p;
      }
      look(q, is);
      more = false;
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) {
        if (is[i] && counts(i, q[i])) found[i] = its[i];
        const bool ends = next[i] == loop_log_space::no_node;
        if (below[i] == longest_below && !ends) found[i].position = unknown;
        node[i] = below[i] == longest_below ? loop_log_space::no_node : next[i];
        more |= node[i] < logs_.nodes();
      }
    }
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i)
      if (node[i] != loop_log_space::no_node) found[i].position = unknown;
  }

  /// The highest position below `p` that writes the element; nobody may be executing.
  GPUTM_INLINE std::uint32_t writer_below(std::uint64_t key, std::uint32_t p) const {
    const writer_table::writers marked = table_.writers_of(key);
    if (marked.first >= p) return memory;
    if (marked.last < p && (marks_ || writes(marked.last, key))) return marked.last;
    if (!has_lists()) return search(key, p, marked.first);
    return listed_below(key, p, [this, key](std::uint32_t q) { return writes(q, key); });
  }
  /// A guess at it while others execute.
  GPUTM_INLINE std::uint32_t marked_below(std::uint64_t key, std::uint32_t p) const {
    const writer_table::writers marked = table_.writers_of(key);
    if (marked.first >= p) return memory;
    return marked.last < p ? marked.last : unknown;
  }
};

}  // namespace gputm::parts
