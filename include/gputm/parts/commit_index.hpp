// Floor 2: which commit wrote an element last, in a hashed table in the shared memory of a server block. To hold a
// transaction against all commits since its snapshot takes one look for each of its keys, however many they are; and
// there is nothing that a transaction can be too old for. Elements share slots: the newer commit stays, and who wants
// the other one is refused, as if a record's entry had been overwritten.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/parts/commit_record.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Trivially copyable. One warp of the block uses it at a time, between lock() and unlock().
class commit_index {
  using order = simt::order;
  static constexpr simt::scope block = simt::scope::block;

  std::uint64_t* words_;  // {locked, last commit, then slots of {its stamp, its key}}
  std::uint32_t slots_;   // a power of two

  GPUTM_INLINE std::uint64_t* slot(std::uint64_t key) const {
    const auto hash = static_cast<std::uint32_t>((key >> 3) * 0x9E3779B97F4A7C15u >> 32);
    return words_ + 2 + 2 * std::size_t{hash & (slots_ - 1)};
  }

 public:
  static constexpr std::size_t slot_bytes = 16;

  GPUTM_INLINE commit_index(std::uint64_t* words, std::uint32_t slots) : words_(words), slots_(slots) {}

  /// Makes an index of uninitialised memory, after the commits up to `last`. `threads` threads call it, each with its
  /// rank; then a barrier.
  GPUTM_INLINE void open(std::uint64_t last, bool, std::uint32_t rank, std::uint32_t threads) const {
    if (rank == 0) {  // plain, here and below: the barrier orders it
      words_[0] = 0;
      words_[1] = last;
    }
    for (std::uint32_t k = rank; k < slots_; k += threads) words_[2 + 2 * k] = words_[3 + 2 * k] = 0;
  }

  /// All lanes of a warp call it.
  GPUTM_INLINE void lock() const {
    if (simt::lane() == 0)
      for (;;) {
        std::uint64_t free = 0;
        // acquire: pairs with the release in unlock()
        if (simt::atomic<block>(words_[0]).compare_exchange(free, 1, order::acquire)) break;
        simt::backoff(0);
      }
    simt::sync_warp(simt::full_mask);  // carries the acquire on to the other lanes
  }
  GPUTM_INLINE void unlock() const {
    simt::sync_warp(simt::full_mask);  // the release covers what all lanes have written
    // release: pairs with the acquire in lock()
    if (simt::lane() == 0) simt::atomic<block>(words_[0]).store(0, order::release);
  }

  // ---- under the lock; relaxed, since it orders all of it. N keys at once, so that latencies overlap
  GPUTM_INLINE std::uint64_t last() const { return simt::atomic<block>(words_[1]).load(order::relaxed); }
  /// One lane.
  GPUTM_INLINE void set_last(std::uint64_t stamp) const { simt::atomic<block>(words_[1]).store(stamp, order::relaxed); }
  /// Whether a commit after `snapshot` has written one of the first `count` elements.
  template <std::size_t N>
  GPUTM_INLINE record_check check(const std::uint64_t (&key)[N], std::uint32_t count, std::uint64_t snapshot) const {
    bool newer = false;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) newer |= i < count && stamp_of(key[i]) > snapshot;
    if (!newer) return record_check::clean;
    for (unsigned i = 0; i < N; ++i)
      if (i < count && stamp_of(key[i]) > snapshot && name_of(key[i]) == key[i]) return record_check::conflict;
    return record_check::overwritten;
  }
  /// Says that commit `stamp` has written the first `count` elements: all lanes of a warp call it, each for a commit of
  /// its own. Of several in one slot the newest stays.
  template <std::size_t N>
  GPUTM_INLINE void enter(const std::uint64_t (&key)[N], std::uint32_t count, std::uint64_t stamp) const {
    bool raised;
    do {  // lanes that share a slot may overwrite each other
      raised = false;
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) {
        if (i >= count || stamp_of(key[i]) >= stamp) continue;
        simt::atomic<block>(slot(key[i])[0]).store(stamp, order::relaxed);
        raised = true;
      }
      simt::sync_warp(simt::full_mask);
    } while (simt::any(simt::full_mask, raised));
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i)
      if (i < count && stamp_of(key[i]) == stamp) simt::atomic<block>(slot(key[i])[1]).store(key[i], order::relaxed);
    simt::sync_warp(simt::full_mask);  // the next ones to enter may replace these
  }

 private:
  GPUTM_INLINE std::uint64_t stamp_of(std::uint64_t key) const {
    return simt::atomic<block>(slot(key)[0]).load(order::relaxed);
  }
  GPUTM_INLINE std::uint64_t name_of(std::uint64_t key) const {
    return simt::atomic<block>(slot(key)[1]).load(order::relaxed);
  }
};

}  // namespace gputm::parts
