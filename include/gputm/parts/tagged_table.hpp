// Floor 2: a hashed table of the elements that a window of a loop touches, small enough for the L2 cache. An entry
// carries the identity of its element, so that two elements never share one; an element for which there is no room is
// refused, and costs a re-execution. Entries carry the tag of their window, so that the table is cleared only when
// tags run out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/parts/table_space.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Entry: 16 bytes whose first member is the key: tag << 36 | element_key. Zero is an entry of no window.
template <class Entry>
class tagged_table {
  using order = simt::order;

  static constexpr std::uint32_t probes = 32, key_bits = 36;

  /// Neighbours lie side by side at the first probe, and are spread at the others. Elements far apart, as of several
  /// streams through one array, go to places of their own.
  GPUTM_INLINE Entry& slot(std::uint64_t key, std::uint32_t probe) const {
    const std::uint32_t mask = space_->slots - 1;
    Entry* entries = static_cast<Entry*>(space_->base);
    if (probe == 0) return entries[(index_of(key) + (index_of(key) >> 16 ^ region_of(key) << 16) * 0x9E3779B1u) & mask];
    const std::uint64_t x = (key + probe) * 0x9E3779B97F4A7C15u;
    return entries[static_cast<std::uint32_t>((x ^ x >> 29) >> 24) & mask];
  }
  GPUTM_INLINE bool is_current(std::uint64_t word) const { return word >> key_bits == tag_; }
  GPUTM_INLINE std::uint64_t tagged(std::uint64_t key) const {
    return static_cast<std::uint64_t>(tag_) << key_bits | key;
  }

 protected:
  const table_space* space_ = nullptr;
  std::uint32_t tag_ = 0;

  /// Whether every element has marks of its own: then there are no entries to claim or to find.
  GPUTM_INLINE bool direct() const { return space_->slots == 0; }
  GPUTM_INLINE std::uint64_t own_mark(std::uint64_t key) const { return space_->number(key); }
  GPUTM_INLINE std::uint64_t elements() const { return space_->first[max_regions]; }

  /// The element's entry, made if need be; null if there is no room.
  GPUTM_INLINE Entry* claim(std::uint64_t key) const {
    const std::uint64_t mine = tagged(key);
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < probes; ++k) {
      Entry& e = slot(key, k);
      // relaxed: the word names its element itself, and the marks are ordered by the barrier that ends the phase
      std::uint64_t seen = simt::atomic(e.key).load(order::relaxed);
      while (!is_current(seen))
        if (simt::atomic(e.key).compare_exchange(seen, mine, order::relaxed)) return &e;
      if (seen == mine) return &e;
    }
    return nullptr;
  }
  /// The element's entry, or null if nobody has claimed one.
  GPUTM_INLINE Entry* find(std::uint64_t key, std::uint32_t first_probe = 0) const {
    const std::uint64_t mine = tagged(key);
    GPUTM_NO_UNROLL
    for (std::uint32_t k = first_probe; k < probes; ++k) {
      Entry& e = slot(key, k);
      const std::uint64_t seen = simt::atomic(e.key).load(order::relaxed);
      if (seen == mine) return &e;
      if (!is_current(seen)) return nullptr;  // a claim takes the first free place, and nobody gives one back
    }
    return nullptr;
  }
  /// The same for the first `n` of several elements, latencies of first probes overlapping; null for the others. Nobody
  /// may be claiming.
  template <std::size_t N>
  GPUTM_INLINE void find_some(const std::uint64_t (&key)[N], std::uint32_t n, Entry* (&found)[N]) const {
    std::uint64_t seen[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) seen[i] = i < n ? simt::plain_load(slot(key[i], 0).key) : 0;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      found[i] = seen[i] == tagged(key[i]) ? &slot(key[i], 0) : nullptr;
      if (!found[i] && is_current(seen[i])) found[i] = find(key[i], 1);
    }
  }

 public:
  /// Tags are 1 to this; each window uses two.
  static constexpr std::uint32_t tags = 1023;

  tagged_table() = default;
  /// `space` outlives it.
  GPUTM_INLINE tagged_table(const table_space& space, std::uint32_t tag) : space_(&space), tag_(tag) {}

  /// All threads of the grid call it; a barrier must follow.
  GPUTM_INLINE void clear() const {
    Entry* const entries = static_cast<Entry*>(space_->base);
    for (std::uint64_t k = simt::grid_thread_rank(); k < space_->slots; k += simt::grid_threads()) entries[k].clear();
  }
};

}  // namespace gputm::parts
