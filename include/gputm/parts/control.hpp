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
  cancel_after_store,  ///< a body stored in place and then did not commit
  runaway,             ///< a: loads and stores of one iteration of a loop, the limit
  retry_in_loop,       ///< the body of a loop asked for a retry, or returned a conflict of its own
  break_in_doall       ///< a body ended a loop whose iterations run in no order
};

/// Counter slots are spread, so that blocks do not queue at one address.
inline constexpr unsigned counter_slots = 32;

struct alignas(128) counter_block {
  std::uint64_t commits, read_only_commits, read_only_aborts;
  std::uint64_t aborts[abort_reasons];
  std::uint64_t phase_ns[phases];  ///< zero unless phases are compiled in
};

struct control {
  static constexpr std::uint64_t stop = std::uint64_t{1} << 63;
  static constexpr std::uint64_t watcher = std::uint64_t{1} << 32;  ///< bits 32..62: who wants to hear of commits
  static constexpr std::uint64_t closed = std::uint64_t{1} << 31;   ///< the starvation gate is closed
  static constexpr std::uint64_t starving_mask = closed - 1;        ///< bits 0..30: starving transactions

  alignas(128) std::uint64_t signals;
  alignas(128) std::uint64_t progress;  ///< counts commits while someone watches
  std::uint64_t token;                  ///< held by the one starving update that may run
  std::uint64_t closed_at;              ///< nanoseconds
  std::uint64_t open_until;             ///< nanoseconds: the gate has been closed for long enough
  alignas(128) std::uint32_t claimed;   ///< the error fields belong to the thread that set it
  std::uint32_t fault_kind;             ///< a fault; written last
  std::uint32_t region;                 ///< the region concerned
  std::uint32_t thread;                 ///< rank in the grid
  std::uint64_t a, b;
  std::uint64_t input;                   ///< number of the input, or of the call in a user kernel
  std::uint64_t retry_head, retry_tail;  ///< tickets of the queue of inputs that asked for a retry
  std::int64_t retry_ready;              ///< how many are in it
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

/// The starvation gate. Transactions that were aborted too often gather at it; once it closes, updates
/// that are not starving hold back, and those that gathered run: read-only ones together, updates one at
/// a time. So each of them meets no conflict that lasts. The gate then stays open for at least as long as
/// it was closed, unless nearly all threads have gathered. This is gputm's own: PR-STM's priorities cannot
/// help a transaction whose invisible reads are overwritten.
class starvation_gate {
  static GPUTM_INLINE std::uint64_t starving(std::uint64_t signals) { return signals & control::starving_mask; }

  /// May the gate close? `gathered_since`: when the asking transaction came; `threads`: that run transactions.
  static GPUTM_INLINE bool due(control& c, std::uint64_t signals, std::uint64_t gathered_since, std::uint64_t gather_ns,
                               std::uint64_t threads) {
    if (starving(signals) * 8 >= threads * 7) return true;
    const std::uint64_t now = simt::nanoseconds();
    return now >= gathered_since + gather_ns && now >= simt::atomic(c.open_until).load(simt::order::relaxed);
  }

  /// Closed, and for nobody.
  static GPUTM_INLINE bool is_left(std::uint64_t signals) {
    return starving(signals) == 0 && (signals & control::closed) != 0;
  }
  /// Unless somebody joins before: he takes the gate for closed, so it stays so until he leaves.
  static GPUTM_INLINE void open(control& c, std::uint64_t signals) {
    simt::fence(simt::order::acquire);  // pairs with the release in try_close(), for closed_at
    const std::uint64_t now = simt::nanoseconds();
    const std::uint64_t closed_for = now - simt::atomic(c.closed_at).load(simt::order::relaxed);
    simt::atomic(c.open_until).store(now + closed_for, simt::order::relaxed);
    while (is_left(signals) &&
           !simt::atomic(c.signals).compare_exchange(signals, signals & ~control::closed, simt::order::relaxed)) {
    }
  }

 public:
  /// Joins the starving ones.
  static GPUTM_INLINE std::uint64_t join(control& c) {
    return simt::atomic(c.signals).fetch_add(1, simt::order::relaxed) + 1;
  }
  /// Is the gate closed, if need be by this call? For one that joined at `since`.
  static GPUTM_INLINE bool try_close(control& c, std::uint64_t signals, std::uint64_t since, std::uint64_t gather_ns,
                                     std::uint64_t threads) {
    if (signals & control::closed) return true;
    if (!due(c, signals, since, gather_ns, threads)) return false;
    // whoever opens the gate must know when it was closed: of several threads that are about to close it any
    simt::atomic(c.closed_at).store(simt::nanoseconds(), simt::order::relaxed);
    // release: pairs with the fence in open()
    simt::atomic(c.signals).fetch_or(control::closed, simt::order::release);
    return true;
  }
  /// Joins the starving ones and waits until the gate is closed, or the launch stopped.
  static GPUTM_NOINLINE void enter(control* c, std::uint64_t gather_ns) {
    const std::uint64_t since = simt::nanoseconds();
    std::uint64_t signals = join(*c);
    while (!stopped(signals)) {
      if (try_close(*c, signals, since, gather_ns, simt::grid_threads())) return;
      simt::backoff(1000);
      signals = simt::atomic(c->signals).load(simt::order::relaxed);
    }
  }
  /// The last one to leave opens the gate. All others are through with one operation: as long as 84,480 threads left by
  /// loops of compare-exchanges, an H200 got through 0.14 million transactions a second instead of 39 million.
  static GPUTM_NOINLINE void leave(control* c) {
    const std::uint64_t now = simt::atomic(c->signals).fetch_add(~std::uint64_t{0}, simt::order::relaxed) - 1;
    if (is_left(now)) open(*c, now);
  }
  static GPUTM_INLINE bool try_token(control& c) {
    std::uint64_t free = 0;
    return simt::atomic(c.token).compare_exchange(free, 1u, simt::order::relaxed);
  }
  static GPUTM_INLINE void drop_token(control& c) { simt::atomic(c.token).store(0, simt::order::relaxed); }
  /// Waits while the gate is closed to this transaction; false if the launch has been stopped.
  static GPUTM_NOINLINE bool pass(control* c, std::uint64_t signals, bool free_to_pass) {
    while (!stopped(signals)) {
      if (free_to_pass || !(signals & control::closed)) return true;
      simt::backoff(1000);
      signals = simt::atomic(c->signals).load(simt::order::relaxed);
    }
    return false;
  }
};

}  // namespace gputm::parts
