// Floor 2: what a transaction over a lock table has touched: each lock once, with the version seen, and
// the deferred writes, chained to the lock that covers them. One look-up by lock serves both
// 'is this lock in the set' and 'did I write this element'; beyond the register entries it is a hash
// index, so large sets are not scanned.
#pragma once

#include <cstdint>
#include <cstring>

#include "gputm/parts/log_space.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/parts/word_log.hpp"
#include "gputm/parts/words.hpp"

namespace gputm::parts {

/// K: entries of each log kept in registers. Word: the lock table's word type.
template <class Word, unsigned K>
class access_log {
 public:
  static constexpr std::uint32_t none = 0xffffffu;  ///< no such entry; also the longest log

 private:
  static constexpr unsigned head_bits = 24;
  word_log<log_space::lock_words, K> locks_;    // {lock address, version << 24 | first write}
  word_log<log_space::write_words, K> writes_;  // {element address, payload, next write << 32 | bytes}
  log_columns columns_;
  std::uint32_t payload_start_ = 0, payload_used_ = 0, payload_capacity_ = 0;
  std::uint32_t index_start_ = 0, index_mask_ = 0;
  std::uint64_t generation_ = 0;  // of the hash index: entries of older ones count as empty

  static GPUTM_INLINE std::uint32_t hash(std::uint64_t key) {
    return static_cast<std::uint32_t>((key >> 2) * 0x9E3779B97F4A7C15ull >> 32);
  }
  GPUTM_INLINE void open_index() {  // the generation outlives the kernel: the columns do too
    if (generation_) return;
    std::uint64_t& kept = columns_[index_start_ + index_mask_ + 1];
    generation_ = kept + 1;
    if ((generation_ & 0xffffffffu) == 0) {  // the tag wraps: what is left of old generations must go
      for (std::uint32_t s = 0; s <= index_mask_; ++s) columns_[index_start_ + s] = 0;
      ++generation_;
    }
    kept = generation_;
  }
  /// The slot that holds `lock`, or the empty one where it belongs.
  GPUTM_INLINE std::uint32_t slot_of(std::uint64_t lock, std::uint32_t& entry) {
    for (std::uint32_t s = hash(lock) & index_mask_;; s = (s + 1) & index_mask_) {
      const std::uint64_t v = columns_[index_start_ + s];
      entry = none;
      if (v >> 32 != (generation_ & 0xffffffffu)) return s;
      entry = static_cast<std::uint32_t>(v);
      if (locks_.get(entry).word[0] == lock) return s;
    }
  }

 public:
  GPUTM_INLINE void attach(const log_space& s) {
    columns_ = log_columns(s);
    std::uint32_t at = 0;
    locks_.attach(columns_, at, s.capacity.locks());
    at += s.capacity.locks() * log_space::lock_words;
    writes_.attach(columns_, at, s.capacity.writes);
    at += s.capacity.writes * log_space::write_words;
    payload_start_ = at;
    payload_capacity_ = s.capacity.payload_words;
    index_start_ = at + s.capacity.payload_words;
    index_mask_ = s.index_slots - 1;
  }
  GPUTM_INLINE void clear() {
    locks_.clear();
    writes_.clear();
    payload_used_ = 0;
    generation_ = 0;
  }
  GPUTM_INLINE std::uint32_t lock_count() const { return locks_.size(); }
  GPUTM_INLINE std::uint32_t write_count() const { return writes_.size(); }

  /// The entry of this lock, or none.
  GPUTM_INLINE std::uint32_t find(const Word* lock) {
    const auto key = reinterpret_cast<std::uint64_t>(lock);
    const std::uint32_t k = locks_.find_in_registers(key);
    if (k < K) return k;
    if (locks_.size() <= K) return none;
    std::uint32_t entry;
    slot_of(key, entry);
    return entry;
  }
  GPUTM_INLINE bool locks_full() const { return locks_.full(); }
  GPUTM_INLINE std::uint32_t lock_room() const { return locks_.room(); }
  /// Adds a lock that find() did not find. `indexed`: whether it will ever be looked up.
  GPUTM_INLINE std::uint32_t add_lock(Word* lock, std::uint64_t version, bool indexed) {
    const auto key = reinterpret_cast<std::uint64_t>(lock);
    if (indexed && locks_.size() >= K) {
      open_index();
      std::uint32_t entry;
      const std::uint32_t s = slot_of(key, entry);
      columns_[index_start_ + s] = generation_ << 32 | locks_.size();
    }
    return locks_.push({{key, version << head_bits | none}});
  }
  GPUTM_INLINE std::uint64_t version_of(std::uint32_t entry) const { return locks_.get(entry).word[1] >> head_bits; }

  /// Calls visit(lock, version, written) for the first `count` locks until it returns false.
  template <class Visit>
  GPUTM_INLINE bool each_lock(std::uint32_t count, Visit visit) const {
    return locks_.each(count, [&](std::uint32_t, const log_entry<log_space::lock_words>& e) {
      return visit(reinterpret_cast<Word*>(e.word[0]), e.word[1] >> head_bits, (e.word[1] & none) != none);
    });
  }

 private:
  template <class T>
  GPUTM_INLINE std::uint32_t find_write(const region& r, std::uint32_t index, std::uint32_t lock_entry) const {
    const auto key = reinterpret_cast<std::uint64_t>(words_at<T>(r, index));
    for (auto w = static_cast<std::uint32_t>(locks_.get(lock_entry).word[1] & none); w != none;) {
      const auto e = writes_.get(w);
      if (e.word[0] == key) return w;
      w = static_cast<std::uint32_t>(e.word[2] >> 32);
    }
    return none;
  }
  template <class T>
  GPUTM_INLINE void put_payload(std::uint32_t at, const T& value) {
    constexpr std::uint32_t n = (sizeof(T) + 7) / 8;
    std::uint64_t words[n] = {};
    memcpy(words, &value, sizeof value);
    for (std::uint32_t k = 0; k < n; ++k) columns_[payload_start_ + at + k] = words[k];
  }

 public:
  /// Whether this transaction has written the element; if so its value.
  template <class T>
  GPUTM_INLINE bool read_own(const region& r, std::uint32_t index, std::uint32_t lock_entry, T& out) const {
    if (writes_.size() == 0) return false;
    const std::uint32_t w = find_write<T>(r, index, lock_entry);
    if (w == none) return false;
    const std::uint64_t payload = writes_.get(w).word[1];
    if constexpr (sizeof(T) <= 8) {
      memcpy(static_cast<void*>(&out), &payload, sizeof out);
    } else {
      constexpr std::uint32_t n = (sizeof(T) + 7) / 8;
      std::uint64_t words[n];
      for (std::uint32_t k = 0; k < n; ++k)
        words[k] = columns_[payload_start_ + static_cast<std::uint32_t>(payload) + k];
      memcpy(static_cast<void*>(&out), words, sizeof out);
    }
    return true;
  }
  /// Defers a write under the lock of entry `lock_entry`. False if the write set is full.
  template <class T>
  GPUTM_INLINE bool write(const region& r, std::uint32_t index, std::uint32_t lock_entry, const T& value) {
    constexpr std::uint32_t payload_words = sizeof(T) <= 8 ? 0 : (sizeof(T) + 7) / 8;
    std::uint64_t payload = 0;
    std::uint32_t w = find_write<T>(r, index, lock_entry);
    const bool fresh = w == none;
    if (fresh && (writes_.full() || payload_used_ + payload_words > payload_capacity_)) return false;
    if constexpr (payload_words == 0) {
      memcpy(&payload, &value, sizeof value);
    } else {
      payload = fresh ? payload_used_ : writes_.get(w).word[1];
      if (fresh) payload_used_ += payload_words;
      put_payload(static_cast<std::uint32_t>(payload), value);
    }
    if (!fresh) {
      writes_.set_word(w, 1, payload);
      return true;
    }
    const std::uint64_t head = locks_.get(lock_entry).word[1];
    w = writes_.push({{reinterpret_cast<std::uint64_t>(words_at<T>(r, index)), payload,
                       (head & none) << 32 | static_cast<std::uint32_t>(sizeof(T))}});
    locks_.set_word(lock_entry, 1, (head & ~std::uint64_t{none}) | w);
    return true;
  }
  /// Where each lock covers one element: calls visit(lock, element address, bytes, payload) for every written
  /// one; payload(k) is the k-th 8-byte word of the value.
  template <class Visit>
  GPUTM_INLINE void each_written(Visit visit) const {
    locks_.each(locks_.size(), [&](std::uint32_t, const log_entry<log_space::lock_words>& lock) {
      const auto head = static_cast<std::uint32_t>(lock.word[1] & none);
      if (head == none) return true;
      const auto e = writes_.get(head);
      const auto bytes = static_cast<std::uint32_t>(e.word[2]);
      visit(reinterpret_cast<Word*>(lock.word[0]), e.word[0], bytes, [&](std::uint32_t k) {
        return bytes <= 8 ? e.word[1] : columns_[payload_start_ + static_cast<std::uint32_t>(e.word[1]) + k];
      });
      return true;
    });
  }
  /// Stores every deferred write, relaxed: the caller's fences order them.
  GPUTM_INLINE void write_back() const {
    writes_.each(writes_.size(), [&](std::uint32_t, const log_entry<log_space::write_words>& e) {
      const auto bytes = static_cast<std::uint32_t>(e.word[2]);
      if (bytes == 4)
        simt::atomic(*reinterpret_cast<std::uint32_t*>(e.word[0]))
            .store(static_cast<std::uint32_t>(e.word[1]), simt::order::relaxed);
      else if (bytes == 8)
        simt::atomic(*reinterpret_cast<std::uint64_t*>(e.word[0])).store(e.word[1], simt::order::relaxed);
      else
        store_odd(columns_, payload_start_, e.word[0], e.word[1], bytes);
      return true;
    });
  }

 private:
  // Static and by value: a pointer to this log would force its registers into memory.
  template <class W>
  static GPUTM_INLINE void store_parts(const log_columns& payload, std::uint32_t start, std::uint64_t address,
                                       std::uint64_t inline_value, std::uint32_t bytes) {
    auto* to = reinterpret_cast<W*>(address);
    for (std::uint32_t k = 0; k < bytes / sizeof(W); ++k) {
      const std::uint32_t byte = k * static_cast<std::uint32_t>(sizeof(W));
      const std::uint64_t from =
          bytes <= 8 ? inline_value : payload[start + static_cast<std::uint32_t>(inline_value) + byte / 8];
      simt::atomic(to[k]).store(static_cast<W>(from >> byte % 8 * 8), simt::order::relaxed);
    }
  }
  static GPUTM_NOINLINE void store_odd(log_columns payload, std::uint32_t start, std::uint64_t address,
                                       std::uint64_t value, std::uint32_t bytes) {
    if (bytes % 8 == 0)
      store_parts<std::uint64_t>(payload, start, address, value, bytes);
    else if (bytes % 4 == 0)
      store_parts<std::uint32_t>(payload, start, address, value, bytes);
    else if (bytes % 2 == 0)
      store_parts<std::uint16_t>(payload, start, address, value, bytes);
    else
      store_parts<std::uint8_t>(payload, start, address, value, bytes);
  }
};

}  // namespace gputm::parts
