// Floor 2: the active transaction record (ATR, thesis section 3.1): what the recent commits wrote, in a
// ring of entries {stamp, keys}, in any memory that its users share. Stamps count commits; entry s lies in
// slot s % entries until s + entries replaces it. Belongs to one launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

enum class record_check : std::uint8_t { clean, conflict, overwritten };

/// Trivially copyable. S: the threads that share it.
template <simt::scope S = simt::scope::device>
class commit_record {
  using order = simt::order;
  std::uint64_t* words_;          // {next, then the entries}
  std::uint32_t entries_, keys_;  // keys_: capacity of an entry

  GPUTM_INLINE std::uint64_t* entry(std::uint64_t stamp) const { return words_ + 1 + stamp % entries_ * (2 + keys_); }

 public:
  static constexpr std::size_t bytes(std::uint32_t entries, std::uint32_t keys) {
    return 8 * (1 + std::size_t{entries} * (2 + keys));
  }
  GPUTM_INLINE commit_record(std::uint64_t* words, std::uint32_t entries, std::uint32_t keys)
      : words_(words), entries_(entries), keys_(keys) {}

  /// The last place taken, as far as this record knows: a new record starts at 0, whatever the clock says.
  GPUTM_INLINE std::uint64_t last() const {
    return simt::atomic<S>(*words_).load(order::relaxed);  // what an entry holds is ordered by its stamp
  }
  /// Takes the places up to `until`, if `last` is still the last one taken.
  GPUTM_INLINE bool reserve(std::uint64_t last, std::uint64_t until) const {
    return simt::atomic<S>(*words_).compare_exchange(last, until, order::relaxed);
  }
  /// The commit whose entry the place `stamp` replaces: it must be visible before fill().
  GPUTM_INLINE std::uint64_t replaced_by(std::uint64_t stamp) const { return stamp > entries_ ? stamp - entries_ : 0; }
  /// Fills the reserved place `stamp` with `count` keys, which `each_key(sink)` gives to its sink.
  template <class EachKey>
  GPUTM_INLINE void fill(std::uint64_t stamp, std::uint32_t count, EachKey each_key) const {
    std::uint64_t* e = entry(stamp);
    simt::atomic<S>(e[0]).store(0, order::relaxed);
    // release: pairs with the acquire loads of the keys in check(): a reader that sees a new key sees that the
    // old stamp is gone
    simt::fence<S>(order::release);
    simt::atomic<S>(e[1]).store(count, order::relaxed);
    std::uint32_t k = 2;
    each_key([&](std::uint64_t key) { simt::atomic<S>(e[k++]).store(key, order::relaxed); });
    // release: pairs with the acquire load of the stamp in check()
    simt::atomic<S>(e[0]).store(stamp, order::release);
  }
  /// Looks through the entry `stamp`, which must have been reserved, for a key that `conflicts`; waits until it
  /// is complete.
  template <class Conflicts>
  GPUTM_INLINE record_check check(std::uint64_t stamp, Conflicts conflicts) const {
    std::uint64_t* e = entry(stamp);
    for (;;) {
      // acquire: pairs with the release store in fill()
      const std::uint64_t now = simt::atomic<S>(e[0]).load(order::acquire);
      if (now > stamp) return record_check::overwritten;
      if (now == stamp) break;
      if (last() >= stamp + entries_) return record_check::overwritten;  // its successor is being filled in
      simt::backoff(32);
    }
    // acquire: pairs with the release fence in fill()
    const auto count = static_cast<std::uint32_t>(simt::atomic<S>(e[1]).load(order::acquire));
    bool conflict = false;
    for (std::uint32_t k = 0; k < count && k < keys_ && !conflict; ++k)
      conflict = conflicts(simt::atomic<S>(e[2 + k]).load(order::acquire));
    // what was read counts only if it was this entry's
    if (simt::atomic<S>(e[0]).load(order::relaxed) != stamp) return record_check::overwritten;
    return conflict ? record_check::conflict : record_check::clean;
  }
};

}  // namespace gputm::parts
