// Floor 2: who writes an element in this window of a loop: the first and the last writer, GPU-TLS's minWriter and
// maxWriter.
#pragma once

#include <cstdint>

#include "gputm/parts/tagged_table.hpp"

namespace gputm::parts {

struct alignas(16) writer_entry {
  std::uint64_t key;
  std::uint32_t first;  ///< tag << 24 | ~position, so that the maximum is the newest window's first writer
  std::uint32_t last;   ///< tag << 24 | position

  GPUTM_INLINE void clear() {
    simt::atomic(key).store(0, simt::order::relaxed);
    simt::atomic(first).store(0, simt::order::relaxed);
    simt::atomic(last).store(0, simt::order::relaxed);
  }
};

class writer_table : public tagged_table<writer_entry> {
  using order = simt::order;
  static constexpr std::uint32_t position_bits = 24;

 public:
  /// Positions in a window are below this.
  static constexpr std::uint32_t positions = 1u << position_bits;
  static constexpr std::uint32_t none = positions;

  using tagged_table<writer_entry>::tagged_table;

  enum class marked : std::uint8_t { no_room, fresh, perhaps_before };

  /// Position `p` writes the element, perhaps not for the first time: then a higher one may have, too.
  GPUTM_INLINE marked mark(std::uint64_t key, std::uint32_t p) const {
    writer_entry* e = this->claim(key);
    if (!e) return marked::no_room;
    simt::atomic(e->first).fetch_max(tag_ << position_bits | (positions - 1 - p), order::relaxed);
    const std::uint32_t mine = tag_ << position_bits | p;
    return simt::atomic(e->last).fetch_max(mine, order::relaxed) < mine ? marked::fresh : marked::perhaps_before;
  }
  /// Counts last writers anew, under the window's second tag: for when some of those marked do not commit.
  GPUTM_INLINE void mark_again(std::uint64_t key, std::uint32_t p) const {
    if (writer_entry* e = this->find(key))
      simt::atomic(e->last).fetch_max((tag_ + 1) << position_bits | p, order::relaxed);
  }
  /// The lowest position that has marked the element so far, or none.
  GPUTM_INLINE std::uint32_t first_writer(std::uint64_t key) const {
    writer_entry* e = this->find(key);
    if (!e) return none;
    const std::uint32_t word = simt::atomic(e->first).load(order::relaxed);
    if (word >> position_bits != tag_) return none;  // claimed, and not marked yet
    return positions - 1 - (word & (positions - 1));
  }
  /// The highest position that has marked the element so far, or none.
  GPUTM_INLINE std::uint32_t last_writer(std::uint64_t key) const {
    writer_entry* e = this->find(key);
    if (!e) return none;
    const std::uint32_t word = simt::atomic(e->last).load(order::relaxed);
    return word >> position_bits == tag_ ? word & (positions - 1) : none;
  }
  /// Whether `p` is the last writer of the element: of those marked, or of those marked again.
  GPUTM_INLINE bool is_last_writer(std::uint64_t key, std::uint32_t p, bool again) const {
    writer_entry* e = this->find(key);
    if (!e) return false;
    const std::uint32_t word = simt::atomic(e->last).load(order::relaxed);
    return word == ((tag_ + again) << position_bits | p);
  }
};

}  // namespace gputm::parts
