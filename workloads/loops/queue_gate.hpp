// What holds up a GPU's queue while a loop is enqueued, so that its time is not that of the host's calls as well: three
// launches take a host 20 to 50 microseconds if other data have just driven its own out of its caches.
#pragma once

#include <atomic>
#include <cstdint>

#include "gputm/kernel.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::workloads {

/// One thread that waits for the host. Not for longer than `longest_ns`: what is enqueued behind it might in turn have
/// the host wait for the stream, and then costs time only.
struct gate_keeper {
  std::uint32_t* open;       ///< memory that the host can write
  std::uint64_t longest_ns;  ///< nanoseconds
  GPUTM_INLINE void operator()() const {
    const std::uint64_t begun = simt::nanoseconds();
    // relaxed: it says nothing of any other data
    while (simt::atomic<simt::scope::system>(*open).load(simt::order::relaxed) == 0 &&
           simt::nanoseconds() - begun < longest_ns)
      simt::backoff();
  }
};

inline namespace GPUTM_BUILD {  // as the launch in it

/// Closed until lifted: what is enqueued in between waits.
class queue_gate {
  const stream& stream_;
  buffer word_;
  std::atomic_ref<std::uint32_t> open() const { return std::atomic_ref(*word_.as<std::uint32_t>()); }

 public:
  static constexpr std::uint64_t longest_ns = 1'000'000'000;
  /// Of a stream of a GPU, which outlives it; the host device has no queue. Throws what launching does.
  explicit queue_gate(const stream& s) : stream_(s), word_(buffer::visible(s.on(), sizeof(std::uint32_t))) {
    // relaxed, both: the launch comes after this store, and nothing else hangs on them
    open().store(0, std::memory_order_relaxed);
    const launch_shape one{1, 0, 1, s.on()->warp_width(), 0};
    launching::enqueue(s, s.on(), one, gate_keeper{word_.as<std::uint32_t>(), longest_ns});
  }
  void lift() { open().store(1, std::memory_order_relaxed); }
  queue_gate(const queue_gate&) = delete;
  queue_gate& operator=(const queue_gate&) = delete;
  ~queue_gate() {
    lift();
    try {
      stream_.synchronize();  // somebody may still be at the gate, whose word is about to go
    } catch (...) {           // whoever waits for the stream next is told
    }
  }
};

}  // namespace GPUTM_BUILD
}  // namespace gputm::workloads
