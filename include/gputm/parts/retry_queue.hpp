// Floor 2: a bounded queue of input numbers, many producers and consumers, by tickets. Each input is in at
// most one place, so `count` slots are never too few. No operation is a loop over a CAS: with thousands of threads at
// the queue hardly one of them would get through a round.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

struct retry_queue {
  std::uint64_t& head;
  std::uint64_t& tail;
  std::int64_t& ready;   ///< inputs queued, less those who are about to find that there is none for them
  std::uint64_t* slots;  ///< input + 1, or 0 for an empty slot
  std::uint64_t count;

  GPUTM_INLINE void push(std::uint64_t input) const {
    const std::uint64_t ticket = simt::atomic(tail).fetch_add(1, simt::order::relaxed);
    auto slot = simt::atomic(slots[ticket % count]);
    // the consumer that owns this slot's previous ticket may not have emptied it yet
    for (std::uint64_t empty = 0; !slot.compare_exchange(empty, input + 1, simt::order::relaxed); empty = 0)
      simt::backoff();
    simt::atomic(ready).fetch_add(1, simt::order::relaxed);
  }
  /// False if nothing is queued.
  GPUTM_INLINE bool pop(std::uint64_t& input) const {
    auto left = simt::atomic(ready);
    do {
      if (left.load(simt::order::relaxed) <= 0) return false;
      if (left.fetch_add(-1, simt::order::relaxed) > 0) return take(input);
      // Meanwhile another thread may have looked, and left, for an input that this one kept it from seeing.
    } while (left.fetch_add(1, simt::order::relaxed) >= 0);
    return false;
  }

 private:
  /// The caller has had one of those that are ready.
  GPUTM_INLINE bool take(std::uint64_t& input) const {
    const std::uint64_t ticket = simt::atomic(head).fetch_add(1, simt::order::relaxed);
    auto slot = simt::atomic(slots[ticket % count]);
    while ((input = slot.exchange(0, simt::order::relaxed)) == 0) simt::backoff();
    --input;
    return true;
  }
};

}  // namespace gputm::parts
