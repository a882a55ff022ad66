// Floor 2: which elements an iteration of a loop is taken to own, whose rows (owned_rows) are none: those that its log
// says it has stored to, in a loop before.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_log.hpp"

namespace gputm::parts {

/// The keys written in a position's log, as in_place_learning leaves them. An entry that counts is an element that the
/// position owns, and that is in nobody else's list; one that does not is another that it has stored to. `end` follows
/// the last one, if there is room. Good until a window uses the logs, see loop_past::listed. Slots are entries.
class owned_list {
  std::uint64_t* entries_;
  std::uint32_t width_, capacity_;

  GPUTM_INLINE std::uint64_t& word(std::uint32_t k) const { return entries_[k * width_]; }

 public:
  static constexpr std::uint32_t most = 32;  ///< entries of which any can be owned
  static constexpr std::uint32_t none = loop_log::none;
  static constexpr std::uint64_t end = ~std::uint64_t{0};
  static_assert(!loop_log::counts(end));

  GPUTM_INLINE owned_list(const loop_log_space& logs, std::uint32_t position)
      : entries_(logs.write_keys() + position), width_(logs.window), capacity_(capacity(logs)) {}

  static GPUTM_INLINE std::uint32_t capacity(const loop_log_space& logs) {
    return logs.writes < most ? logs.writes : most;
  }
  /// A bit for each slot; there is one at least.
  static GPUTM_INLINE std::uint32_t all_slots(const loop_log_space& logs) { return ~0u >> (most - capacity(logs)); }

  GPUTM_INLINE std::uint64_t key(std::uint32_t slot) const { return simt::plain_load(word(slot)); }
  GPUTM_INLINE std::uint64_t key_or_end(std::uint32_t k) const { return k < capacity_ ? key(k) : end; }
  /// One thread of a kernel changes a position's list.
  GPUTM_INLINE void set(std::uint32_t k, std::uint64_t entry) const { simt::plain_store(word(k), entry); }
  /// Ends a list of so many entries.
  GPUTM_INLINE void end_at(std::uint32_t count) const {
    if (count < capacity_) set(count, end);
  }
  /// The slot of the element, or none.
  GPUTM_INLINE std::uint32_t find(std::uint64_t key) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < capacity_; ++k) {
      const std::uint64_t entry = this->key(k);
      if (entry == key) return k;
      if (entry == end) break;
    }
    return none;
  }
};

}  // namespace gputm::parts
