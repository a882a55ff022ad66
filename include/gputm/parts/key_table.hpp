// Floor 2: which transactions of a batch have touched a key: a small hash table that the lanes of one warp fill
// together, and then look up in. Lives in shared memory; open addressing, at most half full. A sparse bitmap before
// it answers most look-ups, with one load and no branch: lanes that probe for different lengths wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Trivially copyable. Keys are not 0. Which lanes have touched a key is a set of numbers below 32.
class key_table {
  using order = simt::order;
  static constexpr simt::scope block = simt::scope::block;
  static constexpr std::uint64_t empty = 0;

  static constexpr std::uint32_t words_a_slot = 2;  // of the bitmap

  std::uint64_t* keys_;
  std::uint32_t* owners_;
  std::uint32_t* bitmap_;
  std::uint32_t slots_;

  static GPUTM_INLINE std::uint32_t hash(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 3) * 0x9E3779B1u;
  }
  static GPUTM_INLINE std::uint32_t second_hash(std::uint64_t key) {
    const std::uint32_t h = hash(key);
    return (h ^ h >> 15) * 0x85EBCA6Bu >> 7;
  }
  GPUTM_INLINE std::uint32_t start(std::uint64_t key) const { return hash(key) >> 8 & (slots_ - 1); }
  GPUTM_INLINE std::uint32_t& word(std::uint32_t hash) const {
    return bitmap_[hash >> 5 & (slots_ * words_a_slot - 1)];
  }

 public:
  /// Slots for batches of `width` transactions with up to `keys` keys each; beyond the limit the keys of a batch take
  /// turns.
  static GPUTM_INLINE constexpr std::uint32_t slots_for(std::uint32_t width, std::uint32_t keys) {
    std::uint32_t slots = 8;
    while (slots < 2 * std::uint64_t{width} * keys && slots < 512) slots *= 2;
    return slots;
  }
  static GPUTM_INLINE constexpr std::size_t bytes(std::uint32_t slots) {
    return std::size_t{slots} * (12 + 4 * words_a_slot);
  }

  GPUTM_INLINE key_table(std::byte* memory, std::uint32_t slots)
      : keys_(reinterpret_cast<std::uint64_t*>(memory)),
        owners_(reinterpret_cast<std::uint32_t*>(memory + std::size_t{slots} * 8)),
        bitmap_(owners_ + slots),
        slots_(slots) {}

  /// Keys that it holds at most.
  GPUTM_INLINE std::uint32_t room() const { return slots_ / 2; }
  /// The part of it that one batch of `keys` keys uses, which fit, so that no more than that has to be cleared.
  GPUTM_INLINE key_table for_keys(std::uint32_t keys) const {
    key_table part = *this;
    for (part.slots_ = 8; part.slots_ < 2 * keys;) part.slots_ *= 2;
    return part;
  }

  /// All of `lanes` lanes of the warp call it; then sync_warp. Relaxed, here and below: that orders it.
  GPUTM_INLINE void clear(std::uint32_t lane, std::uint32_t lanes) const {
    for (std::uint32_t s = lane; s < slots_; s += lanes) {
      simt::atomic<block>(keys_[s]).store(empty, order::relaxed);
      simt::atomic<block>(owners_[s]).store(0, order::relaxed);
      for (std::uint32_t w = 0; w < words_a_slot; ++w)
        simt::atomic<block>(bitmap_[s + w * slots_]).store(0, order::relaxed);
    }
  }
  GPUTM_INLINE void add(std::uint64_t key, std::uint32_t owner) const {
    const std::uint32_t h = second_hash(key);
    simt::atomic<block>(word(h)).fetch_or(1u << (h & 31), order::relaxed);
    for (std::uint32_t s = start(key);; s = (s + 1) & (slots_ - 1)) {
      std::uint64_t seen = empty;
      if (simt::atomic<block>(keys_[s]).compare_exchange(seen, key, order::relaxed) || seen == key) {
        simt::atomic<block>(owners_[s]).fetch_or(1u << owner, order::relaxed);
        return;
      }
    }
  }
  /// After a sync_warp: false if nobody has added this key.
  GPUTM_INLINE bool perhaps(std::uint64_t key) const {
    const std::uint32_t h = second_hash(key);
    return simt::atomic<block>(word(h)).load(order::relaxed) >> (h & 31) & 1;
  }
  /// After a sync_warp: who has added this key.
  GPUTM_INLINE std::uint32_t owners(std::uint64_t key) const {
    for (std::uint32_t s = start(key);; s = (s + 1) & (slots_ - 1)) {
      const std::uint64_t seen = simt::atomic<block>(keys_[s]).load(order::relaxed);
      if (seen == key) return simt::atomic<block>(owners_[s]).load(order::relaxed);
      if (seen == empty) return 0;
    }
  }
};

}  // namespace gputm::parts
