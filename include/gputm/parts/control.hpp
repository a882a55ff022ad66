// Floor 2: what the threads of a launch share besides the data: signals (stop, gate, watchers), the
// first error, and the counters. None of it guards data: a wrong or late signal costs time, never
// isolation.
#pragma once

#include <cstdint>

#include "gputm/parts/abort_reason.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Why a launch stopped; the host turns it into a typed exception.
enum class fault : std::uint32_t {
  none,
  read_capacity,       ///< a: needed at least, b: capacity
  write_capacity,      ///< a: needed at least, b: capacity
  out_of_range,        ///< a: index, b: length
  wrong_memory,        ///< a: handle, b: the memory's number
  store_in_read_only,  ///< a body stored although it called this input read-only
  no_progress,         ///< a: nanoseconds without any commit, b: 1 if the body asked for a retry
  clock_exhausted,     ///< a: stamps drawn in this launch
  history_full,        ///< a: capacity of the recorder, in words a thread
  cancel_after_store   ///< a body stored in place and then did not commit
};

/// Counter slots are spread, so that blocks do not queue at one address.
inline constexpr unsigned counter_slots = 32;

struct alignas(128) counter_block {
  std::uint64_t commits, read_only_commits, read_only_aborts;
  std::uint64_t aborts[abort_reasons];
};

struct control {
  static constexpr std::uint64_t stop = std::uint64_t{1} << 63;
  static constexpr std::uint64_t watcher = std::uint64_t{1} << 32;  ///< bits 32..62: who wants to hear of commits
  static constexpr std::uint64_t gate_mask = 0xffffffffu;           ///< bits 0..31: starving transactions

  alignas(128) std::uint64_t signals;
  alignas(128) std::uint64_t progress;  ///< counts commits while someone watches
  std::uint64_t token;                  ///< held by the one starving update that may run
  alignas(128) std::uint32_t claimed;   ///< the error fields belong to the thread that set it
  std::uint32_t fault_kind;             ///< a fault; written last
  std::uint32_t region;                 ///< the region concerned
  std::uint32_t thread;                 ///< rank in the grid
  std::uint64_t a, b;
  std::uint64_t input;                   ///< number of the input, or of the call in a user kernel
  std::uint64_t retry_head, retry_tail;  ///< tickets of the queue of inputs that asked for a retry
  counter_block counters[counter_slots];
};

GPUTM_INLINE bool stopped(std::uint64_t signals) { return signals & control::stop; }

/// Records the first fault and tells every thread to stop.
GPUTM_NOINLINE inline void report_fault(control& c, fault kind, std::uint32_t region, std::uint64_t a, std::uint64_t b,
                                        std::uint64_t input) {
  std::uint32_t mine = 0;
  // relaxed: the host reads the fields after the launch has ended, which orders them
  if (simt::atomic(c.claimed).compare_exchange(mine, 1u, simt::order::relaxed)) {
    simt::plain_store(c.region, region);
    simt::plain_store(c.thread, simt::grid_thread_rank());
    simt::plain_store(c.a, a);
    simt::plain_store(c.b, b);
    simt::plain_store(c.input, input);
    simt::plain_store(c.fault_kind, static_cast<std::uint32_t>(kind));
  }
  simt::atomic(c.signals).fetch_or(control::stop, simt::order::relaxed);
}

/// The starvation gate: while a starving transaction is inside, transactions that are not starving hold
/// back before their next attempt. Starving read-only transactions run together; starving updates run
/// one at a time, so each of them meets no conflict that lasts. This is gputm's own: PR-STM's priorities
/// cannot help a transaction whose invisible reads are overwritten.
class starvation_gate {
 public:
  static GPUTM_INLINE void enter(control& c) { simt::atomic(c.signals).fetch_add(1, simt::order::relaxed); }
  static GPUTM_INLINE void leave(control& c) {
    simt::atomic(c.signals).fetch_add(~std::uint64_t{0}, simt::order::relaxed);
  }
  static GPUTM_INLINE bool try_token(control& c) {
    std::uint64_t free = 0;
    return simt::atomic(c.token).compare_exchange(free, 1u, simt::order::relaxed);
  }
  static GPUTM_INLINE void drop_token(control& c) { simt::atomic(c.token).store(0, simt::order::relaxed); }
};

}  // namespace gputm::parts
