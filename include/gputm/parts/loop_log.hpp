// Floor 2: what the iterations of a window have read and are going to write. A position of the window is a column:
// word k of position p is at base + k * window + p, so that lanes, which run neighbouring positions, coalesce.
#pragma once

#include <cstdint>
#include <cstring>

#include "gputm/parts/words.hpp"
#include "gputm/parts/writer_table.hpp"

namespace gputm::parts {

/// Rows of a window's log, all together less than 2^32 words: sizes (unused where there is room for one read and one
/// write), status, then keys read, keys written, values. Beside them a node for each write, of a list of an element's
/// writers: node i * window + p is entry i of position p.
struct loop_log_space {
  std::uint64_t* base = nullptr;
  std::uint32_t* links = nullptr;  ///< of node k: the next node, or no_node
  std::uint32_t window = 0;        ///< positions
  std::uint32_t reads = 0;         ///< entries a position
  std::uint32_t writes = 0;        ///< entries a position
  std::uint32_t value_words = 1;   ///< 8-byte words of the largest element

  static constexpr std::uint32_t no_node = 0xffffffffu;

  /// Below 2^32.
  constexpr std::uint64_t rows() const {
    return 2 + std::uint64_t{reads} + std::uint64_t{writes} * (std::uint64_t{value_words} + 1);
  }
  /// Bytes of the rows of sizes and statuses, which come first and must be zero before the first loop.
  constexpr std::uint64_t head_bytes() const { return 2 * std::uint64_t{window} * sizeof(std::uint64_t); }
  constexpr std::uint64_t position_bytes() const {
    return rows() * sizeof(std::uint64_t) + std::uint64_t{writes} * sizeof(std::uint32_t);
  }
  // The rows of all positions.
  constexpr std::uint64_t* statuses() const { return base + window; }
  GPUTM_INLINE constexpr std::uint64_t* entries() const { return base + 2 * std::uint64_t{window}; }
  GPUTM_INLINE constexpr std::uint64_t* write_keys() const { return base + (2 + std::uint64_t{reads}) * window; }
  constexpr std::uint64_t* values() const { return base + (2 + std::uint64_t{reads} + writes) * window; }
  /// Reads number `i`, those of a calm pass (loop_log::set_calm_read).
  GPUTM_INLINE const std::uint64_t* reads_row(std::uint32_t i) const { return base + (2 + std::uint64_t{i}) * window; }
  /// Logs of so many positions that lie where entries of these do: near to each other, so that few of them do not wait
  /// for as many pages as there are rows. And whether they have room there.
  GPUTM_INLINE constexpr loop_log_space among_entries(std::uint32_t few) const {
    loop_log_space logs = *this;
    logs.base = entries();
    logs.links = nullptr;
    logs.window = few;
    return logs;
  }
  constexpr bool has_room_among_entries(std::uint32_t few) const { return rows() * few <= (rows() - 2) * window; }
  GPUTM_INLINE constexpr std::uint64_t nodes() const { return std::uint64_t{writes} * window; }
  /// A write of a position.
  struct write {
    std::uint32_t position, entry;
  };
  /// The one that a node is of. A division takes dozens of instructions.
  GPUTM_INLINE constexpr write write_of(std::uint32_t node) const {
    constexpr std::uint32_t few = 8;
    if (writes > few) return {node % window, node / window};
    std::uint32_t entry = 0;
    for (; node >= window; node -= window) ++entry;
    return {node, entry};
  }
};

/// What became of a position in a window. Positions that a first pass has run without any incident need not have one.
struct position_status {
  std::uint32_t tag = 0;      ///< the window's, at most writer_table::tags
  std::uint32_t version = 0;  ///< the repair that executed the position last, at most `versions`; 0: the window's first
                              ///< pass did
  bool dirty = false;         ///< it must be executed again
  bool last = false;          ///< its body has ended the loop
  bool has_value = false;     ///< of a repair that is not dense: it writes one element alone, the same as in its run
                              ///< before. If that has 4 bytes at most, `value` is it: who needs it need not read the
                              ///< log, as long as marks hold
  std::uint32_t value = 0;    ///< or, of one in violation behind a first pass: 1 + the number of its last joint_row

  /// For who has no register for what it does not need.
  GPUTM_INLINE constexpr position_status without_value() const { return {tag, version, dirty, last}; }

  static constexpr unsigned tag_bits = 10, version_bits = 19;
  static constexpr std::uint32_t versions = (1u << version_bits) - 1;
  static_assert(writer_table::tags < 1u << tag_bits && 3 + tag_bits + version_bits <= 32);
  GPUTM_INLINE constexpr std::uint64_t word() const {
    return static_cast<std::uint64_t>(value) << 32 | version << (3 + tag_bits) | tag << 3 | (has_value ? 4u : 0u) |
           (last ? 2u : 0u) | (dirty ? 1u : 0u);
  }
  static GPUTM_INLINE constexpr position_status of(std::uint64_t w) {
    const auto low = static_cast<std::uint32_t>(w);
    return {low >> 3 & ((1u << tag_bits) - 1),  low >> (3 + tag_bits), (w & 1) != 0, (w & 2) != 0, (w & 4) != 0,
            static_cast<std::uint32_t>(w >> 32)};
  }
};

/// The array that the latest entry was of, at first the first one: mostly the next one is of the same. Code that is
/// compiled apart would load what a kernel's parameters say of it for each entry, and wait for that; so who calls such
/// code makes it.
class latest_region {
  const region_table& regions_;
  std::uint32_t number_ = 0, bytes_;
  std::byte* data_;

 public:
  GPUTM_INLINE explicit latest_region(const region_table& regions)
      : regions_(regions), bytes_(regions.regions[0].element_bytes), data_(regions.regions[0].data) {}
  /// The element of this key.
  GPUTM_INLINE std::byte* element(std::uint64_t key) {
    const std::uint32_t number = region_of(key);
    if (number != number_) {
      const region& r = regions_.regions[number];
      number_ = number;
      data_ = r.data;
      bytes_ = r.element_bytes;
    }
    return data_ + std::uint64_t{index_of(key)} * bytes_;
  }
  /// Of that array.
  GPUTM_INLINE std::uint32_t element_bytes() const { return bytes_; }
};

// Values lie in words of 8 bytes; word(k) is the k-th one, and put(k, w) stores it.
template <class T, class Put>
GPUTM_INLINE void for_words(const T& value, const Put& put) {
  constexpr std::uint32_t words = (sizeof(T) + 7) / 8;
  std::uint64_t w[words] = {};
  memcpy(w, &value, sizeof value);
  for (std::uint32_t k = 0; k < words; ++k) put(k, w[k]);
}
template <class T, class Word>
GPUTM_INLINE void put_words(const T& value, const Word& word) {
  for_words(value, [&word](std::uint32_t k, std::uint64_t w) { simt::plain_store(word(k), w); });
}
template <class T, class Word>
GPUTM_INLINE T get_words(const Word& word) {
  constexpr std::uint32_t words = (sizeof(T) + 7) / 8;
  std::uint64_t w[words];
  for (std::uint32_t k = 0; k < words; ++k) w[k] = simt::plain_load(word(k));
  T value;
  memcpy(static_cast<void*>(&value), w, sizeof value);
  return value;
}
template <class Piece, class Word>
GPUTM_INLINE void write_pieces(std::byte* element, std::uint32_t bytes, const Word& word) {
  constexpr std::uint32_t in_word = 8 / sizeof(Piece);
  Piece* to = reinterpret_cast<Piece*>(element);
  GPUTM_NO_UNROLL
  for (std::uint32_t k = 0; k < bytes / sizeof(Piece); ++k)
    simt::plain_store(to[k],
                      static_cast<Piece>(simt::plain_load(word(k / in_word)) >> (8 * sizeof(Piece) * (k % in_word))));
}
/// An element of so many bytes.
template <class Word>
GPUTM_INLINE void write_words(std::byte* to, std::uint32_t bytes, const Word& word) {
  if (bytes % 8 == 0) return write_pieces<std::uint64_t>(to, bytes, word);
  if (bytes % 4 == 0) return write_pieces<std::uint32_t>(to, bytes, word);
  if (bytes % 2 == 0) return write_pieces<std::uint16_t>(to, bytes, word);
  write_pieces<std::uint8_t>(to, bytes, word);
}
/// The element of this key; `first` is word(0).
template <class Word>
GPUTM_INLINE void write_element_back(latest_region& array, std::uint64_t key, std::uint64_t first, const Word& word) {
  std::byte* const to = array.element(key);
  if (array.element_bytes() == 8) [[likely]]
    simt::plain_store(*reinterpret_cast<std::uint64_t*>(to), first);
  else if (array.element_bytes() == 4)
    simt::plain_store(*reinterpret_cast<std::uint32_t*>(to), static_cast<std::uint32_t>(first));
  else
    write_words(to, array.element_bytes(), word);
}

/// The column of one position. The thread that runs the position writes it, and others read it when it is finished. In
/// a first pass other lanes, also of other warps (joint_space), and in repairs those of its warp, may enter what they
/// have read for it (shared_loads), each an entry of its own, and others look at these behind the barrier that ends the
/// pass.
class loop_log {
  std::uint64_t* base_;
  std::uint32_t position_, width_, reads_, writes_, value_words_;

  GPUTM_INLINE std::uint64_t& row(std::uint32_t k) const { return base_[k * width_ + position_]; }
  GPUTM_INLINE std::uint32_t value_row(std::uint32_t i) const { return 2 + reads_ + writes_ + i * value_words_; }
  GPUTM_INLINE auto words_of_value(std::uint32_t i) const {
    return [log = *this, i](std::uint32_t k) -> std::uint64_t& { return log.row(log.value_row(i) + k); };
  }

 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint64_t absent = std::uint64_t{1} << 63;  ///< beside a key that does not count
  static constexpr unsigned key_bits = 36;                        ///< above them reads have something else: which write
  static constexpr unsigned entry_bits = 4;                       ///< of its source it was, and
  static constexpr unsigned source_from = key_bits + entry_bits;  ///< from this bit on, the source

  GPUTM_INLINE loop_log(const loop_log_space& s, std::uint32_t position)
      : base_(s.base),
        position_(position),
        width_(s.window),
        reads_(s.reads),
        writes_(s.writes),
        value_words_(s.value_words) {}

  GPUTM_INLINE std::uint32_t read_capacity() const { return reads_; }
  GPUTM_INLINE std::uint32_t write_capacity() const { return writes_; }

  /// How many entries of each kind the position has in the end, once they are set. Where there is room for one of a
  /// kind, its key says whether there is one: caches hold more iterations without sizes. `need_reads`: somebody may ask
  /// for read_count().
  GPUTM_INLINE void set_sizes(std::uint32_t reads, std::uint32_t writes, bool need_reads = true) const {
    if (writes_ == 1) {
      if (writes == 0) drop_only_write(*this);
      if (!need_reads) return;
    }
    if (need_reads && reads_ == 1 && reads == 0) simt::plain_store(row(2), absent);
    if (writes_ != 1 || reads_ != 1) simt::plain_store(row(0), static_cast<std::uint64_t>(reads) << 32 | writes);
  }
  /// For a position whose reads were not needed then, and which has none, if they are needed after all.
  GPUTM_INLINE void set_no_reads() const {
    if (reads_ == 1)
      simt::plain_store(row(2), absent);
    else if (writes_ == 1)
      simt::plain_store(row(0), 0);
  }
  /// Whether the entry of this key does: where there is room for one, or where entries have been dropped.
  static GPUTM_INLINE constexpr bool counts(std::uint64_t key) { return (key & absent) == 0; }
  /// The key itself, whether it does or not.
  static GPUTM_INLINE std::uint64_t element(std::uint64_t key) { return key & ~absent; }
  /// These two: of positions that have run in this window, of reads only if they were needed.
  GPUTM_INLINE std::uint32_t read_count() const {
    return reads_ == 1 ? counts(simt::plain_load(row(2))) : static_cast<std::uint32_t>(simt::plain_load(row(0)) >> 32);
  }
  GPUTM_INLINE std::uint32_t write_count() const {
    return writes_ == 1 ? counts(write_key(0)) : static_cast<std::uint32_t>(simt::plain_load(row(0)));
  }

  /// Ordered by barriers, or by the end of a kernel.
  GPUTM_INLINE void set_status(const position_status& s) const {
    simt::atomic(row(1)).store(s.word(), simt::order::relaxed);
  }
  GPUTM_INLINE position_status last_status() const {
    return position_status::of(simt::atomic(row(1)).load(simt::order::relaxed));
  }
  /// In the window of this tag; the position has been run.
  GPUTM_INLINE position_status status(std::uint32_t tag) const { return of_window(last_status(), tag); }
  /// The same; what was published for the device before that may be read. Its caller asks for the result: else a
  /// compiler deletes the load (simt::await).
  GPUTM_INLINE position_status acquire_status(std::uint32_t tag) const {
    // acquire: pairs with the release in publish()
    return of_window(position_status::of(simt::atomic(row(1)).load(simt::order::acquire)), tag);
  }
  /// For threads of this block, or of the device, which may read the log before a barrier comes. The words are of
  /// device scope, since other blocks look at them too; the release pairs with the fence of acquire(), or with the load
  /// of acquire_status(). For the device it is the store's: a fence would empty the multiprocessor's cache besides. For
  /// the block a fence is less than such a store.
  template <simt::scope S>
  GPUTM_INLINE void publish(const position_status& s) const {
    if constexpr (S == simt::scope::device) {
      simt::atomic(row(1)).store(s.word(), simt::order::release);
    } else {
      simt::fence<S>(simt::order::release);
      set_status(s);
    }
  }
  /// Once last_status() has told of what was published for that scope: the log may be read.
  template <simt::scope S>
  static GPUTM_INLINE void acquire() {
    simt::fence<S>(simt::order::acquire);
  }

  /// What was read, and from whom: `source` is none, or the position whose deferred write it was, or is to be, or a
  /// number that no position has; `entry`: which one of its writes, if that is known.
  GPUTM_INLINE void set_read(std::uint32_t i, std::uint64_t key, std::uint32_t source,
                             std::uint32_t entry = none) const {
    constexpr std::uint32_t most = (1u << entry_bits) - 2;
    const std::uint64_t known = entry <= most ? entry + 1 : 0;
    simt::plain_store(row(2 + i), static_cast<std::uint64_t>(source + 1) << source_from | known << key_bits | key);
  }
  /// The same with no source in a calm pass: one check looks at it, and caches keep data and marks instead.
  GPUTM_INLINE void set_calm_read(std::uint32_t i, std::uint64_t key) const { simt::streaming_store(row(2 + i), key); }
  GPUTM_INLINE std::uint64_t calm_read(std::uint32_t i) const { return simt::streaming_load(row(2 + i)); }
  /// N of them from `i` on, to be taken apart by who knows how many there are: the loads wait for nothing.
  template <std::size_t N>
  GPUTM_INLINE void fetch_reads(std::uint32_t i, std::uint64_t (&entry)[N]) const {
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) entry[k] = i + k < reads_ ? simt::plain_load(row(2 + i + k)) : 0;
  }
  /// The same of a calm pass, whose entries are the keys.
  template <std::size_t N>
  GPUTM_INLINE void fetch_calm_reads(std::uint32_t i, std::uint64_t (&key)[N]) const {
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) key[k] = i + k < reads_ ? simt::streaming_load(row(2 + i + k)) : 0;
  }
  /// Entry `i`, as fetch_reads(); of a position that has so many.
  GPUTM_INLINE std::uint64_t read_entry(std::uint32_t i) const { return simt::plain_load(row(2 + i)); }
  static GPUTM_INLINE std::uint64_t key_of_read(std::uint64_t entry) {
    return entry & ((std::uint64_t{1} << key_bits) - 1);
  }
  static GPUTM_INLINE std::uint32_t source_of_read(std::uint64_t entry) {
    return static_cast<std::uint32_t>(entry >> source_from) - 1;
  }
  /// Which one of that position's writes, or none if that is not known.
  static GPUTM_INLINE std::uint32_t entry_of_source(std::uint64_t entry) {
    return (static_cast<std::uint32_t>(entry >> key_bits) & ((1u << entry_bits) - 1)) - 1;
  }
  GPUTM_INLINE void set_write_key(std::uint32_t i, std::uint64_t key) const {
    simt::plain_store(row(2 + reads_ + i), key);
  }
  GPUTM_INLINE std::uint64_t write_key(std::uint32_t i) const { return simt::plain_load(row(2 + reads_ + i)); }
  /// Entry `i`, of this key, is not to be written back. It stays among those that write_count() tells of, unless there
  /// is room for one.
  GPUTM_INLINE void drop_write(std::uint32_t i, std::uint64_t key) const { set_write_key(i, key | absent); }
  /// The entry of the element among the first `size`, or none; latencies overlap, that of a size that has just been
  /// asked for, too.
  GPUTM_INLINE std::uint32_t find_write(std::uint64_t key, std::uint32_t size) const {
    constexpr std::uint32_t at_once = 4;
    std::uint64_t seen[at_once];
    fetch_write_keys(0, seen);
    GPUTM_NO_UNROLL
    for (std::uint32_t i = 0; i < size;) {
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        if (i + k < size && seen[k] == key) return i + k;
      i += at_once;
      if (i < size) fetch_write_keys(i, seen);
    }
    return none;
  }

  /// The keys of N writes from `i` on: the loads wait for nothing.
  template <std::size_t N>
  GPUTM_INLINE void fetch_write_keys(std::uint32_t i, std::uint64_t (&key)[N]) const {
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) key[k] = i + k < writes_ ? write_key(i + k) : 0;
  }
  /// N writes from `i` on, below `end`, and the first words of their values.
  template <std::size_t N>
  GPUTM_INLINE void fetch_writes(std::uint32_t i, std::uint32_t end, std::uint64_t (&key)[N],
                                 std::uint64_t (&value)[N]) const {
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) key[k] = i + k < end ? write_key(i + k) : 0;
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) value[k] = i + k < end ? first_word(i + k) : 0;
  }

  /// Of entry i's value.
  GPUTM_INLINE std::uint64_t first_word(std::uint32_t i) const { return simt::plain_load(row(value_row(i))); }
  template <class T>
  GPUTM_INLINE void set_value(std::uint32_t i, const T& value) const {
    put_words(value, words_of_value(i));
  }
  template <class T>
  GPUTM_INLINE T value(std::uint32_t i) const {
    return get_words<T>(words_of_value(i));
  }
  /// Writes entry `i`, the element of this key, to memory; something else orders it with every conflicting access.
  /// `value`: the first word of its value.
  GPUTM_INLINE void write_back(latest_region& array, std::uint32_t i, std::uint64_t key, std::uint64_t value) const {
    write_element_back(array, key, value, words_of_value(i));
  }
  GPUTM_INLINE void write_back(const region_table& regions, std::uint32_t i, std::uint64_t key) const {
    latest_region array(regions);
    std::byte* const to = array.element(key);
    write_words(to, array.element_bytes(), words_of_value(i));
  }

 private:
  static GPUTM_INLINE position_status of_window(const position_status& s, std::uint32_t tag) {
    return s.tag == tag ? s : position_status{tag};
  }
  /// Apart, since a GPU would ask for the key at any rate, and wait for it.
  static GPUTM_NOINLINE void drop_only_write(loop_log log) { log.drop_write(0, log.write_key(0)); }
};

/// read_element() of it may follow.
template <class T>
GPUTM_INLINE void prefetch_element(const region& r, std::uint32_t index) {
  simt::prefetch(words_at<T>(r, index));
}
/// Reads an element that nobody writes in this phase.
template <class T>
GPUTM_INLINE T read_element(const region& r, std::uint32_t index) {
  word_of<T>* p = words_at<T>(r, index);
  word_of<T> w[words_in<T>];
  for (std::uint32_t k = 0; k < words_in<T>; ++k) w[k] = simt::plain_load(p[k]);
  T value;
  memcpy(static_cast<void*>(&value), w, sizeof value);
  return value;
}
/// The same for several: the loads overlap.
template <class T, std::size_t N>
GPUTM_INLINE void read_elements(const region& r, const std::uint32_t (&index)[N], T (&value)[N]) {
  GPUTM_UNROLL
  for (unsigned i = 0; i < N; ++i) value[i] = read_element<T>(r, index[i]);
}
/// Writes one that nobody else accesses in this phase.
template <class T>
GPUTM_INLINE void write_element(const region& r, std::uint32_t index, const T& value) {
  word_of<T>* p = words_at<T>(r, index);
  word_of<T> w[words_in<T>];
  memcpy(w, &value, sizeof value);
  for (std::uint32_t k = 0; k < words_in<T>; ++k) simt::plain_store(p[k], w[k]);
}

}  // namespace gputm::parts
