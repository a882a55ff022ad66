// The host executor: runs a kernel functor on a simulated grid of GPU threads. Compiled, in src/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gputm::host {

/// How simulated threads are interleaved.
///   fast: blocks are spread over OS threads; a thread runs until it would wait.
///   the others explore: one OS thread, a scheduling decision at every access (see docs/substrate.md).
enum class scheduler : std::uint8_t { fast, round_robin, random, pct };
const char* name(scheduler);

struct config {
  scheduler schedule = scheduler::fast;
  std::uint64_t seed = 1;                  ///< explore: the same config and seed replay the same schedule
  double switch_probability = 1.0;         ///< random: chance of a decision at a point (else the thread stays)
  unsigned pct_depth = 3;                  ///< pct: number of priority changes plus one
  std::uint64_t pct_length = 1000;         ///< pct: estimated number of points in a run
  bool weak_memory = false;                ///< explore: loads may return any older value the model allows
  double stale_probability = 0.5;          ///< weak memory: chance of going one store further back
  std::uint64_t livelock_steps = 200'000;  ///< explore: steps without progress() that count as a livelock
  double livelock_seconds = 60;            ///< fast: seconds of spinning without progress() that count as one
  unsigned os_threads = 0;                 ///< fast: 0 means one for each core
  std::size_t stack_bytes = 64 * 1024;     ///< of each simulated thread
  unsigned warp_width = 32;                ///< 1 to 32
  unsigned max_resident_blocks = 0;        ///< blocks that run at once; 0 means all
  std::size_t dynamic_shared_bytes = 0;    ///< of each block
  unsigned cluster_blocks = 1;  ///< of consecutive ranks, that reach each other's dynamic shared memory: 1 to 8
  bool in_step = true;          ///< lanes wait for each other where code only wishes them together (simt::in_step)
  bool record = false;          ///< explore: keep the list of scheduling decisions
};

enum class verdict : std::uint8_t { ok, check_failed, deadlock, livelock, bad_mask, race };
const char* name(verdict);

/// Simulated threads that can run at once: each has a stack with a guard page, which takes two mappings of the 65,530
/// that Linux gives a process.
inline constexpr std::uint32_t most_resident_threads = 30'000;

struct report {
  verdict result = verdict::ok;
  std::string what;                 ///< empty if ok; else names threads, operations and source lines
  std::uint64_t steps = 0;          ///< explore: scheduling points passed
  std::uint64_t switches = 0;       ///< fiber switches
  std::uint64_t schedule_hash = 0;  ///< explore: equal for equal schedules and values
  std::uint64_t stale_reads = 0;    ///< weak memory: loads that returned an older value
  std::string schedule;             ///< with config.record: global thread ranks, in order
  explicit operator bool() const { return result == verdict::ok; }
};

/// Keeps stacks and OS threads between runs. Not thread-safe: one run at a time.
class executor {
 public:
  executor();
  ~executor();
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Runs `thread_main` on blocks * threads simulated threads and waits for all of them.
  /// Throws std::invalid_argument for a zero-sized or oversized grid or a config out of range,
  /// std::bad_alloc if stacks cannot be had. An exception thrown by thread_main is reported as
  /// verdict::check_failed. After a failure the fibers are abandoned, not unwound.
  report run(const config&, std::uint32_t blocks, std::uint32_t threads, const std::function<void()>& thread_main);

  struct impl;

 private:
  std::unique_ptr<impl> impl_;
};

/// The schedules that together find most bugs soonest: config number `index` of a portfolio of random
/// (switch probability 1, 1/4, 1/20), PCT (depth 2 to 6; within two fifths of base's pct_length, or twice that) and
/// round robin, with `seed` mixed in. From each multiple of nine on, nine hold every kind. Three times in four lanes
/// are out of step, which leaves them more ways to go; once in three times warps have `narrow_warps` lanes, unless that
/// is 0. Weak memory, grid and limits are taken from `base`. What runs may go by remainders of `index`: these tell
/// nothing of the kind.
config portfolio(const config& base, std::uint64_t seed, std::uint64_t index, unsigned narrow_warps = 0);

}  // namespace gputm::host
