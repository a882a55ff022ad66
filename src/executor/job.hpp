// One launch, as its workers share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "gputm/host/executor.hpp"

namespace gputm::host {

/// What one worker tells the others about its idleness, for the livelock detector. Written by its worker
/// alone; relaxed, but for `is`, whose release of `finished` pairs with the acquire in everybody_idle: who
/// sees a worker finished sees all that it has achieved.
struct alignas(64) pulse {
  enum state : std::uint8_t { absent, running, finished };
  std::atomic<std::uint8_t> is{absent};
  std::atomic<std::uint64_t> achieved{0};   ///< calls of progress() and returns of threads
  std::atomic<std::int64_t> idle_since{0};  ///< 0: something was achieved since it last looked idle
  std::atomic<std::int64_t> last_idle{0};
};

/// Where the dynamic shared memory of a block is, for the other blocks of its cluster, which other workers may run.
class dynamic_of_block {
  std::atomic<void*> place_{nullptr};  // null: the block has not begun; this: it has ended

 public:
  void begin(void* p) { place_.store(p, std::memory_order_release); }  // pairs with the acquire in find()
  void end() { place_.store(this, std::memory_order_relaxed); }        // nothing is read behind it
  /// Null before the block begins.
  void* find() const { return place_.load(std::memory_order_acquire); }
  bool ended(const void* found) const { return found == this; }
};

struct job {
  const config* settings = nullptr;
  const std::function<void()>* body = nullptr;
  std::uint32_t blocks = 0, threads = 0;
  std::uint32_t resident = 0;  ///< blocks at once, in all workers together
  unsigned workers = 1;
  std::unique_ptr<pulse[]> pulses;
  std::unique_ptr<dynamic_of_block[]> dynamic;  ///< by rank of the block; null without clusters

  std::atomic<std::uint32_t> next_block{0};
  std::atomic<bool> stop{false};  ///< set once, relaxed: `mutex` guards what went wrong

  std::mutex mutex;
  verdict result = verdict::ok;
  std::string what;
  std::exception_ptr error;

  char started = 0, finished = 0;  ///< addresses that stand for the launch's start and end in TSan's eyes

  /// The first failure counts.
  void fail(verdict v, const std::string& text) {
    const std::lock_guard lock(mutex);
    if (result == verdict::ok && !error) {
      result = v;
      what = text;
    }
    stop.store(true, std::memory_order_relaxed);
  }
  void fail(std::exception_ptr e) {
    const std::lock_guard lock(mutex);
    if (result == verdict::ok && !error) error = std::move(e);
    stop.store(true, std::memory_order_relaxed);
  }
  bool stopped() const { return stop.load(std::memory_order_relaxed); }
};

}  // namespace gputm::host
