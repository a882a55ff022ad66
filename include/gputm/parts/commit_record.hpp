// Floor 2: the active transaction record (ATR, thesis section 3.1): what the recent commits wrote, in a
// ring of entries {stamp, keys}, in any memory that its users share; the stamps may lie apart from the keys.
// Stamps count commits; entry s lies in slot s % entries until s + entries replaces it. Belongs to one launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

enum class record_check : std::uint8_t { clean, conflict, overwritten };

/// One that has an entry for every commit: the place of a commit is its stamp.
struct whole_record {
  static GPUTM_INLINE constexpr std::uint64_t place(std::uint64_t stamp) { return stamp; }
  static GPUTM_INLINE constexpr std::uint64_t stamp(std::uint64_t place) { return place; }
  static GPUTM_INLINE constexpr bool holds(std::uint64_t) { return true; }
};

/// Trivially copyable. S: the threads that share it.
template <simt::scope S = simt::scope::device>
class commit_record : public whole_record {
  using order = simt::order;
  std::uint64_t* words_;          // {last place taken, last complete, then the stamps, each perhaps with its keys}
  std::uint64_t* keys_at_;        // of slot 0: {count, keys}
  std::uint32_t entries_, keys_;  // keys_: capacity of an entry
  std::uint32_t stamp_stride_, keys_stride_;  // from slot to slot

  GPUTM_INLINE std::uint64_t& stamp_of(std::uint64_t slot) const { return words_[2 + slot * stamp_stride_]; }
  GPUTM_INLINE std::uint64_t* keys_of(std::uint64_t slot) const { return keys_at_ + slot * keys_stride_; }

 public:
  static GPUTM_INLINE constexpr std::size_t bytes(std::uint32_t entries, std::uint32_t keys) {
    return 8 * (2 + std::size_t{entries} * (2 + keys));
  }
  static GPUTM_INLINE constexpr std::size_t stamp_bytes(std::uint32_t entries) {
    return 8 * (2 + std::size_t{entries});
  }
  static GPUTM_INLINE constexpr std::size_t key_bytes(std::uint32_t entries, std::uint32_t keys) {
    return 8 * std::size_t{entries} * (1 + keys);
  }
  GPUTM_INLINE commit_record(std::uint64_t* words, std::uint32_t entries, std::uint32_t keys)
      : words_(words),
        keys_at_(words + 3),
        entries_(entries),
        keys_(keys),
        stamp_stride_(2 + keys),
        keys_stride_(2 + keys) {}
  /// The stamps in `stamps` (stamp_bytes()), the keys in `keys_at` (key_bytes()).
  GPUTM_INLINE commit_record(std::uint64_t* stamps, std::uint64_t* keys_at, std::uint32_t entries, std::uint32_t keys)
      : words_(stamps), keys_at_(keys_at), entries_(entries), keys_(keys), stamp_stride_(1), keys_stride_(1 + keys) {}

  GPUTM_INLINE std::uint32_t entries() const { return entries_; }

  /// Makes a record of uninitialised memory, in which the commits up to `last` have been. `threads` threads call
  /// it, each with its rank; then a barrier. Of several servers the `first` makes what they share: here nothing.
  GPUTM_INLINE void open(std::uint64_t last, bool, std::uint32_t rank, std::uint32_t threads) const {
    if (rank == 0)
      words_[0] = words_[1] = last;  // plain: the barrier orders it, and a thousand scheduling points show nothing
    for (std::uint32_t slot = rank; slot < entries_; slot += threads) {
      const std::uint64_t behind = (last % entries_ + entries_ - slot) % entries_;
      stamp_of(slot) = behind < last ? last - behind : 0;
      keys_of(slot)[0] = 0;  // nobody is held against it, but it may be looked at
    }
  }

  /// The last place taken, as far as this record knows: one that nobody has opened starts at 0, whatever the clock
  /// says.
  GPUTM_INLINE std::uint64_t last() const {
    return simt::atomic<S>(*words_).load(order::relaxed);  // what an entry holds is ordered by its stamp
  }
  /// Takes the places up to `until`, if `last` is still the last one taken.
  GPUTM_INLINE bool reserve(std::uint64_t last, std::uint64_t until) const {
    return simt::atomic<S>(*words_).compare_exchange(last, until, order::relaxed);
  }
  /// Before the places up to `until` are filled in, by all lanes of a warp: of a record where they are taken by other
  /// means than reserve().
  GPUTM_INLINE void expect(std::uint64_t until) const {
    // relaxed, by fetch_max: the release fence in fill() orders it, and batches come in any order
    if (simt::lane() == 0) simt::atomic<S>(*words_).fetch_max(until, order::relaxed);
    simt::sync_warp(simt::full_mask);
  }
  /// The commit whose entry the place `stamp` replaces: it must be visible before fill().
  GPUTM_INLINE std::uint64_t replaced_by(std::uint64_t stamp) const { return stamp > entries_ ? stamp - entries_ : 0; }
  /// Waits until the entry that the place `stamp` replaces is complete; for users that take places many at a time.
  GPUTM_INLINE void wait_for_replaced(std::uint64_t stamp) const {
    // acquire: pairs with the release store in fill(), so that the two do not write to one entry at once
    (void)simt::await_at_least<S>(stamp_of(stamp % entries_), replaced_by(stamp));
  }
  /// Fills the reserved place `stamp` with `count` keys, which `each_key(sink)` gives to its sink.
  template <class EachKey>
  GPUTM_INLINE void fill(std::uint64_t stamp, std::uint32_t count, EachKey each_key) const {
    std::uint64_t& number = stamp_of(stamp % entries_);
    std::uint64_t* e = keys_of(stamp % entries_);
    simt::atomic<S>(number).store(0, order::relaxed);
    // release: pairs with the second acquire fence in check(): a reader that sees a new key sees that the old stamp
    // is gone
    simt::fence<S>(order::release);
    simt::atomic<S>(e[0]).store(count, order::relaxed);
    std::uint32_t k = 1;
    each_key([&](std::uint64_t key) { simt::atomic<S>(e[k++]).store(key, order::relaxed); });
    // release: pairs with the first acquire fence in check()
    simt::atomic<S>(number).store(stamp, order::release);
  }
  /// Looks through the entry `stamp`, which must have been reserved, for a key that `conflicts`; waits until it
  /// is complete.
  template <class Conflicts>
  GPUTM_INLINE record_check check(std::uint64_t stamp, Conflicts conflicts) const {
    std::uint64_t& number = stamp_of(stamp % entries_);
    std::uint64_t* e = keys_of(stamp % entries_);
    for (;;) {
      const std::uint64_t now = simt::atomic<S>(number).load(order::relaxed);
      if (now > stamp) return record_check::overwritten;
      if (now == stamp) break;
      if (last() >= stamp + entries_) return record_check::overwritten;  // its successor is being filled in
      simt::backoff(32);
    }
    // Two fences, and not acquire loads, each of which costs as much.
    // acquire: pairs with the release store of the stamp in fill(): the keys are there
    simt::fence<S>(order::acquire);
    const auto count = static_cast<std::uint32_t>(simt::atomic<S>(e[0]).load(order::relaxed));
    bool conflict = false;
    for (std::uint32_t k = 0; k < count && k < keys_ && !conflict; ++k)
      conflict = conflicts(simt::atomic<S>(e[1 + k]).load(order::relaxed));
    // acquire: pairs with the release fence in fill(): what was read counts only if it was this entry's
    simt::fence<S>(order::acquire);
    if (simt::atomic<S>(number).load(order::relaxed) != stamp) return record_check::overwritten;
    return conflict ? record_check::conflict : record_check::clean;
  }
  // ---- for servers that take places many at a time: which entries are complete, in order, so that one look at it
  // orders them all
  /// Says that the entries `first` to `last`, this thread's or ordered before it, have been filled in.
  GPUTM_INLINE void complete(std::uint64_t first, std::uint64_t last) const {
    // acquire, here and in wait_until_complete(): pairs with the release below; what it ordered stays ordered
    (void)simt::await_at_least<S>(words_[1], first - 1);  // never more: the commits before it come first
    simt::atomic<S>(words_[1]).store(last, order::release);
  }
  GPUTM_INLINE void wait_until_complete(std::uint64_t last) const { (void)simt::await_at_least<S>(words_[1], last); }
  /// Called by all lanes of a warp before they look at entries up to `last`.
  GPUTM_INLINE void prepare(std::uint64_t last, std::uint32_t, std::uint32_t) const { wait_until_complete(last); }
  /// Calls visit(i, key) for the keys of N complete entries, latencies overlapping, and 0 where one has fewer. What it
  /// sees counts only if overwritten_up_to() says so.
  template <std::size_t N, class Visit>
  GPUTM_INLINE void each_key(const std::uint32_t (&slot)[N], Visit visit) const {
    std::uint32_t count[N], most = 0;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) count[i] = keys(slot[i]);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) most = count[i] > most ? count[i] : most;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < most; ++k) {
      std::uint64_t key[N];
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) key[i] = this->key(slot[i], k);
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) visit(i, k < count[i] ? key[i] : 0);
    }
  }
  /// One of them: how many keys it has, and which.
  GPUTM_INLINE std::uint32_t keys(std::uint32_t slot) const {
    const auto count = static_cast<std::uint32_t>(simt::atomic<S>(keys_of(slot)[0]).load(order::relaxed));
    return count < keys_ ? count : keys_;  // one that is being overwritten says anything
  }
  GPUTM_INLINE std::uint64_t key(std::uint32_t slot, std::uint32_t k) const {
    return simt::atomic<S>(keys_of(slot)[1 + k]).load(order::relaxed);
  }
  /// The last commit whose entry may have been overwritten before its keys were looked at.
  GPUTM_INLINE std::uint64_t overwritten_up_to() const {
    // acquire: pairs with the release fence in fill(): a reader that has seen a new key sees its place taken
    simt::fence<S>(order::acquire);
    const std::uint64_t taken = last();
    return taken > entries_ ? taken - entries_ : 0;
  }
  /// The slot of a commit, and the one `steps` slots before it, around the end.
  GPUTM_INLINE std::uint32_t slot_of(std::uint64_t stamp) const { return static_cast<std::uint32_t>(stamp % entries_); }
  GPUTM_INLINE std::uint32_t back(std::uint32_t slot, std::uint32_t steps) const {
    steps = steps < entries_ ? steps : steps % entries_;
    return slot >= steps ? slot - steps : slot + entries_ - steps;
  }
};

}  // namespace gputm::parts
