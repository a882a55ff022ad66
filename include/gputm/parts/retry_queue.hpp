// Floor 2: a bounded queue of input numbers, many producers and consumers, by tickets. Each input is in at
// most one place, so `count` slots are never too few.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

struct retry_queue {
  std::uint64_t& head;
  std::uint64_t& tail;
  std::uint64_t* slots;  ///< input + 1, or 0 for an empty slot
  std::uint64_t count;

  GPUTM_INLINE void push(std::uint64_t input) const {
    const std::uint64_t ticket = simt::atomic(tail).fetch_add(1, simt::order::relaxed);
    auto slot = simt::atomic(slots[ticket % count]);
    // the consumer that owns this slot's previous ticket may not have emptied it yet
    for (std::uint64_t empty = 0; !slot.compare_exchange(empty, input + 1, simt::order::relaxed); empty = 0)
      simt::backoff();
  }
  /// False if nothing is queued.
  GPUTM_INLINE bool pop(std::uint64_t& input) const {
    std::uint64_t ticket = simt::atomic(head).load(simt::order::relaxed);
    do {
      if (ticket >= simt::atomic(tail).load(simt::order::relaxed)) return false;
    } while (!simt::atomic(head).compare_exchange(ticket, ticket + 1, simt::order::relaxed));
    auto slot = simt::atomic(slots[ticket % count]);
    while ((input = slot.exchange(0, simt::order::relaxed)) == 0) simt::backoff();
    --input;
    return true;
  }
};

}  // namespace gputm::parts
