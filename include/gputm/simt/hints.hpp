// Floor 1: clocks, and what a thread tells the scheduler or the caches.
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"
#include "gputm/simt/host_hooks.hpp"

namespace gputm::simt {

/// Gives way for about `ns` nanoseconds. Every spin loop calls it: on the host device it is where
/// other threads get to run, and what tells a livelock from work.
GPUTM_INLINE void backoff(unsigned ns = 64, GPUTM_HERE) { GPUTM_PICK(__nanosleep(ns), ((void)ns, host::backoff(at))); }

/// Something was achieved (a commit): the livelock detector starts over.
GPUTM_INLINE void progress() { GPUTM_PICK((void)0, host::progress()); }

/// Cycles of this multiprocessor; only differences on one thread mean anything.
GPUTM_INLINE std::uint64_t cycles() { return GPUTM_PICK(static_cast<std::uint64_t>(clock64()), host::cycles()); }

/// Nanoseconds of a device-wide clock of coarse resolution. In explore mode it counts steps, so that
/// time limits depend on the schedule alone.
GPUTM_INLINE std::uint64_t nanoseconds() {
#if GPUTM_ON_DEVICE
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return host::nanoseconds();
#endif
}

/// Asks a GPU's caches for the line of a byte in global memory that this thread will soon access; nothing waits for it.
GPUTM_INLINE void prefetch([[maybe_unused]] const void* at) {
#if GPUTM_ON_DEVICE
  asm volatile("prefetch.global.L1 [%0];" ::"l"(at));
#endif
}

/// Stops the launch: a test's assertion inside a kernel.
GPUTM_INLINE void check(bool ok, [[maybe_unused]] const char* what, GPUTM_HERE) {
#if GPUTM_ON_DEVICE
  if (!ok) __trap();
#else
  if (!ok) host::fail(what, at);
#endif
}

}  // namespace gputm::simt
