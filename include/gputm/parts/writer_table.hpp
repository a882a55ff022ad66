// Floor 2: who writes an element in this window of a loop: the first and the last writer, GPU-TLS's minWriter and
// maxWriter; and, in windows that expect violations, a list of all writers. Hashed, in a tagged_table; or, where there
// is memory for it, with marks of its own for every element: then there is nothing to claim, nothing to search, always
// room, and neighbours share a cache line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/parts/tagged_table.hpp"

namespace gputm::parts {

struct writer_marks {
  std::uint32_t first;  ///< tag << 20 | ~position, so that the maximum is the newest window's first writer
  std::uint32_t last;   ///< tag << 20 | position, where there are several writers

  GPUTM_INLINE void clear() {
    simt::atomic(first).store(0, simt::order::relaxed);
    simt::atomic(last).store(0, simt::order::relaxed);
  }
};

struct alignas(16) writer_entry {
  std::uint64_t key;
  writer_marks marks;

  GPUTM_INLINE void clear() {
    simt::atomic(key).store(0, simt::order::relaxed);
    marks.clear();
  }
};

class writer_table : tagged_table<writer_entry> {
  using order = simt::order;
  using base = tagged_table<writer_entry>;
  static constexpr std::uint32_t position_bits = 20;

 public:
  /// Positions in a window are below this.
  static constexpr std::uint32_t positions = 1u << position_bits;
  static constexpr std::uint32_t none = positions;
  static_assert(base::tags < 1u << (32 - position_bits));
  using base::tags;

  writer_table() = default;
  using base::base;

  /// A mark that has been made, and what was there before.
  struct marking {
    writer_marks* marks = nullptr;  ///< null: there was no room, or nothing was marked
    std::uint32_t before = 0;
  };
  /// Position `p` writes the element. settle() must follow: this one does not wait for the answer.
  GPUTM_INLINE marking mark(std::uint64_t key, std::uint32_t p) const {
    writer_marks* m = direct() ? own_marks(key) : marks_of(this->claim(key));
    if (!m) return {};
    return {m, simt::atomic(m->first).fetch_max(word_of_first(p), order::relaxed)};
  }
  /// Counts last writers where position `p` has found another one; most elements of a loop have one writer, and so one
  /// mark. Who marks second finds the first, or one lower than it that has found it and counted it. Whether another
  /// position had marked the element before.
  GPUTM_INLINE bool settle(const marking& made, std::uint32_t p) const {
    const std::uint32_t other = position_of_first(made.before);
    if (other == none || other == p) return false;
    simt::atomic(made.marks->last).fetch_max(tag_ << position_bits | (other > p ? other : p), order::relaxed);
    return true;
  }
  /// Puts a node (loop_log_space) at the head of the list of an element that has been marked; the one behind it, or
  /// loop_log_space::no_node.
  GPUTM_INLINE std::uint32_t push(std::uint64_t key, std::uint32_t node) const {
    // relaxed: a list is complete behind the barrier that ends the phase; before, it is a hint
    std::uint64_t* const h = head(key);
    return h ? node_of(simt::atomic(*h).exchange(static_cast<std::uint64_t>(tag_) << 32 | node, order::relaxed))
             : no_node;
  }
  /// The head of the element's list.
  GPUTM_INLINE std::uint32_t newest(std::uint64_t key) const {
    const std::uint64_t* h = head(key);
    return h ? node_of(simt::atomic(*h).load(order::relaxed)) : no_node;
  }
  /// Counts last writers anew, under the window's second tag: for when some of those marked do not commit.
  GPUTM_INLINE void mark_again(std::uint64_t key, std::uint32_t p) const {
    if (writer_marks* m = find_marks(key))
      simt::atomic(m->last).fetch_max((tag_ + 1) << position_bits | p, order::relaxed);
  }
  /// The lowest position that has marked the element so far, or none.
  GPUTM_INLINE std::uint32_t first_writer(std::uint64_t key) const { return first_of(find_marks(key)); }
  /// The same for the first `n` of several elements, latencies overlapping; none for the others. Nobody may be marking:
  /// plain loads, since those of atomics go past the caches of a multiprocessor.
  template <std::size_t N>
  GPUTM_INLINE void first_writers(const std::uint64_t (&key)[N], std::uint32_t n, std::uint32_t (&first)[N]) const {
    writer_marks* m[N];
    find_all(key, n, m);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) first[i] = position_of_first(m[i] ? simt::plain_load(m[i]->first) : 0);
  }
  /// The highest position that has marked the element, or none; a guess while marks are made and settled.
  GPUTM_INLINE std::uint32_t last_writer(std::uint64_t key) const {
    writer_marks* m = find_marks(key);
    if (!m) return none;
    const std::uint32_t word = simt::atomic(m->last).load(order::relaxed);
    return word >> position_bits == tag_ ? word & (positions - 1) : first_of(m);
  }
  /// Whether `p`, which writes them, is the last writer of the first `n` elements: of those marked, or of those marked
  /// again. Nobody may be marking.
  template <std::size_t N>
  GPUTM_INLINE void are_last_writers(const std::uint64_t (&key)[N], std::uint32_t n, std::uint32_t p, bool again,
                                     bool (&is)[N]) const {
    writer_marks* m[N];
    find_all(key, n, m);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const std::uint32_t word = m[i] ? simt::plain_load(m[i]->last) : 0;
      const bool one = !again && word >> position_bits != tag_;  // it has one writer only
      is[i] = i < n && (one || word == ((tag_ + again) << position_bits | p));
    }
  }

  /// All threads of the grid call it; a barrier must follow.
  GPUTM_INLINE void clear() const {
    const std::uint64_t entries = direct() ? space_->first[max_regions] : space_->slots;
    if (direct())
      clear_entries(static_cast<writer_marks*>(space_->base), entries);
    else
      base::clear();
    for (std::uint64_t k = simt::grid_thread_rank(); k < entries; k += simt::grid_threads())
      simt::atomic(space_->heads[k]).store(0, order::relaxed);
  }

 private:
  static constexpr std::uint32_t no_node = 0xffffffffu;

  GPUTM_INLINE std::uint32_t word_of_first(std::uint32_t p) const {
    return tag_ << position_bits | (positions - 1 - p);
  }
  GPUTM_INLINE bool direct() const { return space_->slots == 0; }
  GPUTM_INLINE std::uint64_t own_entry(std::uint64_t key) const {
    return space_->first[region_of(key)] + index_of(key);
  }
  GPUTM_INLINE writer_marks* own_marks(std::uint64_t key) const {
    return static_cast<writer_marks*>(space_->base) + own_entry(key);
  }
  /// Of an element's list: tag << 32 | node. Null if the element has no entry.
  GPUTM_INLINE std::uint64_t* head(std::uint64_t key) const {
    if (direct()) return space_->heads + own_entry(key);
    const writer_entry* e = this->find(key);
    return e ? space_->heads + (e - static_cast<writer_entry*>(space_->base)) : nullptr;
  }
  GPUTM_INLINE std::uint32_t node_of(std::uint64_t head) const {
    return head >> 32 == tag_ ? static_cast<std::uint32_t>(head) : no_node;
  }
  static GPUTM_INLINE writer_marks* marks_of(writer_entry* e) { return e ? &e->marks : nullptr; }
  GPUTM_INLINE writer_marks* find_marks(std::uint64_t key) const {
    return direct() ? own_marks(key) : marks_of(this->find(key));
  }
  /// Null beyond the first `n`.
  template <std::size_t N>
  GPUTM_INLINE void find_all(const std::uint64_t (&key)[N], std::uint32_t n, writer_marks* (&m)[N]) const {
    if (direct()) {
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) m[i] = i < n ? own_marks(key[i]) : nullptr;
      return;
    }
    writer_entry* e[N];
    this->find_some(key, n, e);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) m[i] = marks_of(e[i]);
  }
  GPUTM_INLINE std::uint32_t first_of(writer_marks* m) const {
    return position_of_first(m ? simt::atomic(m->first).load(order::relaxed) : 0);
  }
  GPUTM_INLINE std::uint32_t position_of_first(std::uint32_t word) const {
    if (word >> position_bits != tag_) return none;  // nobody has marked it, or claimed its entry and not marked it yet
    return positions - 1 - (word & (positions - 1));
  }
};

}  // namespace gputm::parts
