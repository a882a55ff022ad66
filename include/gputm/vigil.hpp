// Floor 4: how a client notices that nothing commits any more.
#pragma once

#include <cstdint>

#include "gputm/parts/control.hpp"

namespace gputm::detail {

/// Since when nothing is known to have committed. Small, and passed by value: a pointer to a client would
/// force its registers into memory, so the slow paths below are free functions.
struct vigil {
  std::uint64_t progress = 0, since = 0;
  bool kept = false, token = false, stuck = false;
};

/// Starts to watch the launch's progress.
GPUTM_INLINE vigil watch(parts::control& c) {
  simt::atomic(c.signals).fetch_add(parts::control::watcher, simt::order::relaxed);
  return {simt::atomic(c.progress).load(simt::order::relaxed), simt::nanoseconds(), true};
}
GPUTM_INLINE void unwatch(parts::control& c) {
  simt::atomic(c.signals).fetch_add(~parts::control::watcher + 1, simt::order::relaxed);
}
/// Has nothing committed for too long? Then the launch is stopped.
GPUTM_NOINLINE inline vigil look(parts::control* c, std::uint64_t limit, std::uint64_t number, bool retrying, vigil v) {
  const std::uint64_t now = simt::nanoseconds(), seen = simt::atomic(c->progress).load(simt::order::relaxed);
  if (seen != v.progress) {
    v.progress = seen;
    v.since = now;
  }
  v.stuck = limit != 0 && now > v.since && now - v.since > limit;
  if (v.stuck) parts::report_fault(*c, parts::fault::no_progress, 0, limit, retrying, number);
  return v;
}
/// Waits until this starving update is the one that may run.
GPUTM_NOINLINE inline vigil wait_for_token(parts::control* c, std::uint64_t limit, std::uint64_t number, vigil v) {
  if (!v.kept) v = watch(*c);
  while (!v.stuck && !(v.token = parts::starvation_gate::try_token(*c))) {
    simt::backoff(500);
    v = look(c, limit, number, false, v);
    v.stuck = v.stuck || parts::stopped(simt::atomic(c->signals).load(simt::order::relaxed));
  }
  return v;
}

}  // namespace gputm::detail
