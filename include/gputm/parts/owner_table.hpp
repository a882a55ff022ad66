// Floor 2: who may touch an element in this window of a loop whose iterations write in place: one writer alone, or any
// number of readers. Hashed, in a tagged_table; or, where there is memory for it, with a word of its own for every
// element, so that there is always room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/parts/tagged_table.hpp"

namespace gputm::parts {

struct alignas(16) owner_entry {
  std::uint64_t key;
  std::uint64_t owner;  ///< tag << 48 | kind << 32 | position

  GPUTM_INLINE void clear() {
    simt::atomic(key).store(0, simt::order::relaxed);
    simt::atomic(owner).store(0, simt::order::relaxed);
  }
};

/// What came of asking for an element.
enum class ownership : std::uint8_t { granted, crowded, read_before, read_behind, written_before, written_behind };

class owner_table : public tagged_table<owner_entry> {
  using order = simt::order;
  enum kind : std::uint32_t { nobody, reader, readers, writer };

  GPUTM_INLINE std::uint64_t word(kind k, std::uint32_t p) const {
    return static_cast<std::uint64_t>(tag_) << 48 | static_cast<std::uint64_t>(k) << 32 | p;
  }
  /// Null if there is no room.
  GPUTM_INLINE std::uint64_t* owner_of(std::uint64_t key) const {
    if (direct()) return own_words() + own_mark(key);
    owner_entry* const e = this->claim(key);
    return e ? &e->owner : nullptr;
  }
  GPUTM_INLINE std::uint64_t* own_words() const { return static_cast<std::uint64_t*>(space_->base); }
  GPUTM_INLINE kind kind_of(std::uint64_t w) const { return w >> 48 == tag_ ? static_cast<kind>(w >> 32 & 3) : nobody; }
  static GPUTM_INLINE ownership refused(kind held, std::uint32_t by, std::uint32_t p) {
    if (held == writer) return by < p ? ownership::written_before : ownership::written_behind;
    return held == readers || by < p ? ownership::read_before : ownership::read_behind;
  }

 public:
  using tagged_table<owner_entry>::tagged_table;
  /// Bytes of an element's word where they are not hashed.
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

  /// Asks for an element for position `p`, to write it or only to read it.
  GPUTM_INLINE ownership acquire(std::uint64_t key, std::uint32_t p, bool to_write) const {
    std::uint64_t* const owner = owner_of(key);
    if (!owner) return ownership::crowded;
    // relaxed: who is granted an element is alone with it, or only reads it, until the barrier that ends the phase
    std::uint64_t seen = simt::atomic(*owner).load(order::relaxed);
    for (;;) {
      const kind held = kind_of(seen);
      const auto by = static_cast<std::uint32_t>(seen);
      const bool mine = held != nobody && held != readers && by == p;
      if (held == writer && mine) return ownership::granted;
      if (!to_write && (held == readers || mine)) return ownership::granted;
      if (held != nobody && !mine && (to_write || held == writer)) return refused(held, by, p);
      const std::uint64_t next = to_write ? word(writer, p) : held == nobody ? word(reader, p) : word(readers, 0);
      if (simt::atomic(*owner).compare_exchange(seen, next, order::relaxed)) return ownership::granted;
    }
  }

  /// All threads of the grid call it; a barrier must follow.
  GPUTM_INLINE void clear() const {
    if (!direct()) return tagged_table<owner_entry>::clear();
    for (std::uint64_t k = simt::grid_thread_rank(); k < elements(); k += simt::grid_threads())
      simt::atomic(own_words()[k]).store(0, order::relaxed);
  }
};

}  // namespace gputm::parts
