// Floor 2: who writes an element in this window of a loop: the first and the last writer, GPU-TLS's minWriter and
// maxWriter; and, in windows that are repaired, a list of all writers. Hashed, in a tagged_table; or, where there
// is memory for it, with marks of its own for every element: then there is nothing to claim, nothing to search, always
// room, and neighbours share a cache line. Few elements have several writers, so the marks of first writers lie side
// by side, and those of last writers behind them all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/parts/position_set.hpp"
#include "gputm/parts/tagged_table.hpp"

namespace gputm::parts {

struct alignas(16) writer_entry {
  std::uint64_t key;
  std::uint32_t first;  ///< tag << 22 | ~position, so that the maximum is the newest window's first writer
  std::uint32_t last;   ///< tag << 22 | position, where there are several writers

  GPUTM_INLINE void clear() {
    simt::atomic(key).store(0, simt::order::relaxed);
    simt::atomic(first).store(0, simt::order::relaxed);
    simt::atomic(last).store(0, simt::order::relaxed);
  }
};

class writer_table : tagged_table<writer_entry> {
  using order = simt::order;
  using base = tagged_table<writer_entry>;
  static constexpr std::uint32_t position_bits = 22;

 public:
  /// Positions in a window are below this.
  static constexpr std::uint32_t positions = 1u << position_bits;
  static constexpr std::uint32_t none = positions;
  static_assert(base::tags < 1u << (32 - position_bits));
  using base::tags;
  /// Bytes of an element's marks where they are not hashed; its list's head comes on top.
  static constexpr std::size_t marks_bytes = 2 * sizeof(std::uint32_t);

  writer_table() = default;
  using base::base;
  GPUTM_INLINE std::uint32_t tag() const { return this->tag_; }

  /// A mark to be made, and then what was there before.
  struct marking {
    std::uint32_t* first = nullptr;  ///< null: there is no room, or nothing to mark
    std::uint32_t before = 0, position = 0;
  };
  /// Position `p` writes the element: `m` becomes its mark, which make() and settle() must follow; false if there is no
  /// room. What `m` was before has been settled, or has found nobody. See writer_marker.
  GPUTM_INLINE bool prepare(marking& m, std::uint64_t key, std::uint32_t p) const {
    m.position = p;
    if (direct()) {
      m.first = own_first(key);
      return true;
    }
    m.first = claim_first(*this, key);
    m.before = 0;
    return m.first != nullptr;
  }
  /// Makes a mark for which there is room; this does not wait for the answer.
  GPUTM_INLINE void make(marking& m) const {
    m.before = simt::atomic(*m.first).fetch_max(word_of_first(m.position), order::relaxed);
  }
  /// Counts last writers where a position has found another one; most elements of a loop have one writer, and so one
  /// mark. Who marks second finds the first, or one lower than it that has found it and counted it. Both positions are
  /// contested from then on: so is each writer of an element with several, since all but the first one to mark it find
  /// another, and the second one finds the first. Whether another position had marked the element before: never if
  /// was_of_before().
  GPUTM_INLINE bool settle(const marking& made) const {
    const std::uint32_t p = made.position, other = first_of(made.before);
    if (other == none || other == p) return false;
    simt::atomic(last_of(made.first)).fetch_max(word_of_last(other > p ? other : p), order::relaxed);
    // relaxed: the commit looks at them, behind a barrier
    simt::atomic(space_->contested[p]).store(tag_, order::relaxed);
    simt::atomic(space_->contested[other]).store(tag_, order::relaxed);
    return true;
  }
  /// Whether the element had a mark of a window before this one. One comparison: tags grow until marks are cleared.
  GPUTM_INLINE bool was_of_before(const marking& made) const { return made.before - 1 < (tag_ << position_bits) - 1; }
  /// Puts a node (loop_log_space) at the head of the list of an element that has been marked; the one behind it, or
  /// loop_log_space::no_node. `lists` tells the window's lists, all together, from those made before.
  GPUTM_INLINE std::uint32_t push(std::uint64_t key, std::uint32_t node, std::uint32_t lists) const {
    // relaxed: a list is complete behind the barrier that ends the phase; before, it is a hint
    std::uint64_t* const h = head(key);
    return h ? node_of(simt::atomic(*h).exchange(word_of_node(node, lists), order::relaxed), lists) : no_node;
  }
  /// The head of the element's list.
  GPUTM_INLINE std::uint32_t newest(std::uint64_t key, std::uint32_t lists) const {
    const std::uint64_t* h = head(key);
    return h ? node_of(simt::atomic(*h).load(order::relaxed), lists) : no_node;
  }
  /// Whether an element that the position has marked may have other writers: true if one has. Perhaps also if none has:
  /// the other's write may have come to nothing, or the word be left of a window before tags began anew. Nobody may be
  /// marking.
  GPUTM_INLINE bool is_contested(std::uint32_t p) const { return simt::plain_load(space_->contested[p]) == tag_; }
  /// The same while others mark, as far as is known.
  GPUTM_INLINE bool is_contested_yet(std::uint32_t p) const {
    return simt::atomic(space_->contested[p]).load(order::relaxed) == tag_;
  }
  /// This thread's positions below `end` that are, of the first turns of a set; the loads overlap.
  GPUTM_INLINE position_set contested_below(std::uint32_t end) const {
    constexpr std::uint32_t wide = 8;
    position_set found{};
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = 0; turn < position_set::turns; turn += wide) {
      if (position_set::position(turn) >= end) break;
      bool is[wide];
      GPUTM_UNROLL
      for (unsigned k = 0; k < wide; ++k) {
        const std::uint32_t p = position_set::position(turn + k);
        is[k] = p < end && is_contested(p);
      }
      GPUTM_UNROLL
      for (unsigned k = 0; k < wide; ++k) found.put(turn + k, is[k]);
    }
    return found;
  }
  /// Calls use(position) for those and the contested ones of later turns. Each lane goes straight to its next one, so
  /// that a warp takes as many steps as its busiest lane has positions, and not a step for each turn.
  template <class Use>
  GPUTM_INLINE void for_each_contested(std::uint32_t end, const position_set& those, const Use& use) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = those.next(0), p; (p = position_set::position(turn)) < end; turn = those.next(turn + 1))
      if (turn < position_set::turns || is_contested(p)) use(p);
  }
  /// Counts last writers anew, under the window's second tag: for when some of those marked do not commit.
  GPUTM_INLINE void mark_again(std::uint64_t key, std::uint32_t p) const {
    if (std::uint32_t* const first = find_first(key))
      simt::atomic(last_of(first)).fetch_max(word_of_last(p, true), order::relaxed);
  }
  /// The lowest position that has marked the element so far, or none.
  GPUTM_INLINE std::uint32_t first_writer(std::uint64_t key) const { return position_in(find_first(key)); }
  /// What first_of() makes first writers of, for the first `n` of several elements: the loads overlap, and nothing
  /// waits for them yet. Nobody may be marking: plain loads, since those of atomics go past the caches of a
  /// multiprocessor.
  template <std::size_t N>
  GPUTM_INLINE void fetch_first(const std::uint64_t (&key)[N], std::uint32_t n, std::uint32_t (&word)[N]) const {
    std::uint32_t* mark[N];
    find_all(key, n, mark);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) word[i] = mark[i] ? simt::plain_load(*mark[i]) : 0;
  }
  /// Whether a position below `p` has marked one of these elements so far. The loads overlap.
  template <std::size_t N>
  GPUTM_INLINE bool any_below(const std::uint64_t (&key)[N], std::uint32_t p) const {
    std::uint32_t* mark[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) mark[i] = find_first(key[i]);
    std::uint32_t word[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) word[i] = mark[i] ? simt::atomic(*mark[i]).load(order::relaxed) : 0;
    bool any = false;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) any |= first_of(word[i]) < p;
    return any;
  }
  /// Whether the element, which has marks of its own, has one where first writers' are: of any window since marks were
  /// cleared, that of a reader in place included.
  GPUTM_INLINE bool has_mark(std::uint64_t key) const {
    // relaxed: a mark of a window before is seen, behind a barrier; of this one's nobody need see any (writer_marker)
    return simt::atomic(*own_first(key)).load(order::relaxed) != 0;
  }
  /// The marks of the array that the latest element was of, where elements have marks of their own: mostly the next one
  /// is of the same. As latest_region.
  struct latest_marks {
    std::uint32_t region = 0;
    const std::uint32_t* first;  ///< writers, from element 0 on
    GPUTM_INLINE explicit latest_marks(const writer_table& table) : first(table.first_marks()) {}
  };
  /// The marks of the first writers of those of these elements that are asked for, 0 for others; see is_below(). They
  /// are the elements' own, and nobody may be marking. The loads overlap.
  template <std::size_t N>
  GPUTM_INLINE void fetch_own(const std::uint64_t (&key)[N], const bool (&asked)[N], latest_marks& marks,
                              std::uint32_t (&word)[N]) const {
    const std::uint32_t* mark[N];
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) {
      if (asked[k] && region_of(key[k]) != marks.region) {
        marks.region = region_of(key[k]);
        marks.first = first_marks() + space_->first[marks.region];
      }
      mark[k] = marks.first + index_of(key[k]);
    }
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) word[k] = asked[k] ? simt::plain_load(*mark[k]) : 0;
  }
  /// The same for all of them.
  template <std::size_t N>
  GPUTM_INLINE void fetch_own(const std::uint64_t (&key)[N], latest_marks& marks, std::uint32_t (&word)[N]) const {
    bool all[N];
    GPUTM_UNROLL
    for (bool& one : all) one = true;
    fetch_own(key, all, marks, word);
  }
  /// Of such marks.
  static GPUTM_INLINE std::uint32_t later(std::uint32_t a, std::uint32_t b) { return a < b ? b : a; }
  template <std::size_t N>
  static GPUTM_INLINE std::uint32_t latest(const std::uint32_t (&word)[N]) {
    std::uint32_t all = 0;
    GPUTM_UNROLL
    for (const std::uint32_t one : word) all = later(all, one);
    return all;
  }
  /// Whether the newest of such marks says that a position below `p` writes one of the elements: those of windows
  /// before are lower.
  GPUTM_INLINE bool is_below(std::uint32_t newest, std::uint32_t p) const { return newest > word_of_first(p); }
  /// Whether every element has marks of its own.
  GPUTM_INLINE bool has_own_marks() const { return direct(); }
  GPUTM_INLINE std::uint32_t first_of(std::uint32_t word) const {
    if (word >> position_bits != tag_) return none;  // nobody has marked it, or claimed its entry and not marked it yet
    return positions - 1 - (word & (positions - 1));
  }
  /// Its first and its last writer, none or the same if it has one; a guess while marks are made and settled.
  struct writers {
    std::uint32_t first, last;
  };
  GPUTM_INLINE writers writers_of(std::uint64_t key) const {
    std::uint32_t* const mark = find_first(key);
    if (!mark) return {none, none};
    const std::uint32_t first = simt::atomic(*mark).load(order::relaxed);  // the loads overlap
    const std::uint32_t last = simt::atomic(last_of(mark)).load(order::relaxed);
    return {first_of(first), last >> position_bits == tag_ ? last & (positions - 1) : first_of(first)};
  }
  /// Whether `p`, which writes them, is the last writer of the first `n` elements: of those marked, or of those that
  /// contested positions have marked again. Nobody may be marking.
  template <std::size_t N>
  GPUTM_INLINE void are_last_writers(const std::uint64_t (&key)[N], std::uint32_t n, std::uint32_t p, bool again,
                                     bool (&is)[N]) const {
    std::uint32_t* first[N];
    find_all(key, n, first);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const std::uint32_t word = first[i] ? simt::plain_load(last_of(first[i])) : 0;
      const bool one = !again && word >> position_bits != tag_;  // it has one writer only
      is[i] = i < n && (one || word == word_of_last(p, again));
    }
  }

  // Marks of a pass in place (in_place_pass.hpp), where elements have their own: of the highest position that has read
  // an element, in place of its first writer's, and of its last writer. Nobody waits for answers; the next kernel
  // reads. Such a pass may have more positions than a window: they go on in the next tags.

  /// So many tags behind that of a pass of so many positions, one at least, are its own, too.
  static GPUTM_INLINE constexpr std::uint32_t more_tags(std::uint32_t n) { return (n - 1) >> position_bits; }
  GPUTM_INLINE void mark_read(std::uint64_t key, std::uint32_t p) const {
    simt::atomic(*own_first(key)).fetch_max(word_of_last(p), order::relaxed);
  }
  /// Returns the mark before: only probes (scout.hpp) wait for that, of which is_of_another() tells.
  GPUTM_INLINE std::uint32_t mark_write(std::uint64_t key, std::uint32_t p) const {
    return simt::atomic(last_of(own_first(key))).fetch_max(word_of_last(p), order::relaxed);
  }
  /// The mark so far, while others mark.
  GPUTM_INLINE std::uint32_t last_write_yet(std::uint64_t key) const {
    return simt::atomic(last_of(own_first(key))).load(order::relaxed);  // relaxed: a hint
  }
  /// Of such a mark, of a pass no longer than a window.
  static GPUTM_INLINE std::uint32_t position_of(std::uint32_t mark) { return mark & (positions - 1); }
  /// Whether such a mark is of this tag, and not of position `p`, nor of others of `together` positions of which it is
  /// one: a power of two, to whose multiples these go on.
  GPUTM_INLINE bool is_of_another(std::uint32_t mark, std::uint32_t p, std::uint32_t together) const {
    return mark >> position_bits == tag_ && (mark ^ word_of_last(p)) >= together;
  }
  GPUTM_INLINE std::uint32_t last_read(std::uint64_t key) const { return simt::plain_load(*own_first(key)); }
  GPUTM_INLINE std::uint32_t last_write(std::uint64_t key) const { return last_write_of(own_mark(key)); }
  /// The same of an element of this number (table_space).
  GPUTM_INLINE std::uint32_t last_write_of(std::uint64_t element) const {
    return simt::plain_load(last_of(first_marks() + element));
  }
  /// Whether such a mark says that a position above `p` has made one: those of windows before are lower.
  GPUTM_INLINE bool is_above(std::uint32_t mark, std::uint32_t p) const { return mark > word_of_last(p); }

  // Reservations, of positions that wait (postponed_pass.hpp), also in place of first writers' marks: the lowest one
  // that wants an element in a round gets it. Each round has a tag, and those behind it, as a pass does.

  /// As last_write_of(). `more`: more_tags().
  GPUTM_INLINE void reserve(std::uint64_t element, std::uint32_t p, std::uint32_t more) const {
    simt::atomic(first_marks()[element])
        .fetch_max(word_of_first(p, more), order::relaxed);  // relaxed: a barrier follows
  }
  GPUTM_INLINE bool is_reserved_for(std::uint64_t element, std::uint32_t p, std::uint32_t more) const {
    return simt::plain_load(first_marks()[element]) == word_of_first(p, more);
  }

  struct interval {
    std::uint32_t begin = 0, end = 0;
  };
  /// From the first to the last element of [begin, end) of an array that has a mark, of any window since marks were
  /// cleared: of this thread's share of them, all threads of the grid have one. Elements have marks of their own, and
  /// nobody may be marking.
  GPUTM_INLINE interval find_marks(std::uint32_t region, std::uint64_t begin, std::uint64_t end) const {
    const std::uint32_t* const marks = first_marks() + space_->first[region];
    const std::uint64_t length = space_->first[region + 1] - space_->first[region];
    if (end > length) end = length;
    interval found;
    GPUTM_NO_UNROLL
    for (std::uint64_t i = begin + simt::grid_thread_rank(); i < end; i += simt::grid_threads()) {
      if (simt::plain_load(marks[i]) == 0) continue;
      if (found.end == 0) found.begin = static_cast<std::uint32_t>(i);
      found.end = static_cast<std::uint32_t>(i) + 1;
    }
    return found;
  }

  /// All threads of the grid call it; a barrier must follow.
  GPUTM_INLINE void clear() const {
    const std::uint64_t entries = direct() ? elements() : space_->slots;
    if (!direct()) base::clear();
    for (std::uint64_t k = simt::grid_thread_rank(); k < entries; k += simt::grid_threads()) {
      simt::atomic(space_->heads[k]).store(0, order::relaxed);
      if (!direct()) continue;
      simt::atomic(first_marks()[k]).store(0, order::relaxed);
      simt::atomic(last_of(first_marks() + k)).store(0, order::relaxed);
    }
  }

 private:
  static constexpr std::uint32_t no_node = 0xffffffffu;

  /// The lower `p`, the higher. `more`: of positions that go on in so many tags. A sum, not bits: see more_tags().
  GPUTM_INLINE std::uint32_t word_of_first(std::uint32_t p, std::uint32_t more = 0) const {
    return ((tag_ + more) << position_bits) + (positions - 1 - p);
  }
  /// `again`: where last writers are counted anew. A sum, not bits: see more_tags().
  GPUTM_INLINE std::uint32_t word_of_last(std::uint32_t p, bool again = false) const {
    return ((tag_ + again) << position_bits) + p;
  }
  GPUTM_INLINE std::uint32_t* first_marks() const { return static_cast<std::uint32_t*>(space_->base); }
  GPUTM_INLINE std::uint32_t* own_first(std::uint64_t key) const { return first_marks() + own_mark(key); }
  /// The mark of the last writer that belongs to a mark of the first one.
  GPUTM_INLINE std::uint32_t& last_of(std::uint32_t* first) const {
    static_assert(offsetof(writer_entry, last) == offsetof(writer_entry, first) + sizeof(std::uint32_t));
    return first[direct() ? elements() : 1];
  }
  /// Of an element's list: which lists, tag, and node. Null if the element has no entry.
  GPUTM_INLINE std::uint64_t* head(std::uint64_t key) const {
    if (direct()) return space_->heads + own_mark(key);
    const writer_entry* e = this->find(key);
    return e ? space_->heads + (e - static_cast<writer_entry*>(space_->base)) : nullptr;
  }
  GPUTM_INLINE std::uint64_t word_of_node(std::uint32_t node, std::uint32_t lists) const {
    static_assert(base::tags <= 1024);
    return static_cast<std::uint64_t>(lists << 10 | tag_) << 32 | node;
  }
  GPUTM_INLINE std::uint32_t node_of(std::uint64_t head, std::uint32_t lists) const {
    return head >> 32 == word_of_node(0, lists) >> 32 ? static_cast<std::uint32_t>(head) : no_node;
  }
  /// Apart, since most loops never come to it, and a multiprocessor's cache of instructions is small. By value: what a
  /// call takes the address of lies in memory.
  static GPUTM_NOINLINE std::uint32_t* claim_first(writer_table table, std::uint64_t key) {
    return first_in(table.claim(key));
  }
  static GPUTM_INLINE std::uint32_t* first_in(writer_entry* e) { return e ? &e->first : nullptr; }
  GPUTM_INLINE std::uint32_t* find_first(std::uint64_t key) const {
    return direct() ? own_first(key) : first_in(this->find(key));
  }
  /// Null beyond the first `n`.
  template <std::size_t N>
  GPUTM_INLINE void find_all(const std::uint64_t (&key)[N], std::uint32_t n, std::uint32_t* (&first)[N]) const {
    if (direct()) {
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) first[i] = i < n ? own_first(key[i]) : nullptr;
      return;
    }
    writer_entry* e[N];
    this->find_some(key, n, e);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) first[i] = first_in(e[i]);
  }
  GPUTM_INLINE std::uint32_t position_in(std::uint32_t* first) const {
    return first_of(first ? simt::atomic(*first).load(order::relaxed) : 0);
  }
};

/// The marks that one thread makes in a pass over its positions. It waits for the answer to one at the next one only,
/// also if that is another position's. A patient one makes it beside the next load of the body, whose latency hides
/// this one's: at the end of an iteration a GPU waits for whatever is under way.
class writer_marker {
  writer_table table_;
  writer_table::marking last_;
  // words, not bools: they live in registers
  std::uint32_t found_ = 0, waits_ = 0, patient_;

 public:
  GPUTM_INLINE writer_marker(const writer_table& table, bool patient) : table_(table), patient_(patient) {
    last_.before = nobody;
  }

  /// Position `p` writes the element. False if there is no room.
  GPUTM_INLINE bool mark(std::uint64_t key, std::uint32_t p) {
    if ((waits_ != 0) | !table_.was_of_before(last_)) {  // mostly neither
      patient_ &= ~waits_;  // if there is no load in between it is the next mark that would wait
      settle();
      last_.before = nobody;
    }
    if (!table_.prepare(last_, key, p)) {
      waits_ = 0;
      return false;
    }
    waits_ = 1;
    if (patient_ == 0) make();
    return true;
  }
  /// Makes the mark that waits, if there is one.
  GPUTM_INLINE void make() {
    if (waits_ == 0) return;
    table_.make(last_);
    waits_ = 0;
  }
  /// At the end: whether another position had marked one of the elements before.
  GPUTM_INLINE bool several() {
    settle();
    return (found_ & another) != 0;
  }
  /// Behind that: whether one of the elements, which have marks of their own, had no mark at all. If a window stores to
  /// an element that had none before it, the first one of it to mark that finds so.
  GPUTM_INLINE bool found_none() const { return (found_ & none) != 0; }

 private:
  static constexpr std::uint32_t nobody = 1;  // a mark of no window: tags begin at 1
  static constexpr std::uint32_t another = 1, none = 2;

  GPUTM_INLINE void settle() {
    make();
    found_ |= (table_.settle(last_) ? another : 0) | (last_.before == 0 ? none : 0);
  }
};

}  // namespace gputm::parts
