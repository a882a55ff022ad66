// Reports: who was where.
#include <cstdio>
#include <string_view>

#include "worker.hpp"

namespace gputm::host {

namespace {
constexpr std::size_t threads_listed = 8;
}

const char* name(op o) {
  switch (o) {
    case op::none: return "start";
    case op::load: return "load";
    case op::store: return "store";
    case op::rmw: return "read-modify-write";
    case op::cas: return "compare-exchange";
    case op::fence: return "fence";
    case op::backoff: return "backoff";
    case op::plain_load: return "plain load";
    case op::plain_store: return "plain store";
    case op::warp: return "warp collective";
    case op::barrier: return "block barrier";
    default: return "user code";
  }
}

std::string text(const site& at) {
  std::string_view file = at.file;
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return std::string(file) + ':' + std::to_string(at.line);
}

std::string hex(mask_t mask) {
  char s[16];
  std::snprintf(s, sizeof s, "%08x", mask);
  return s;
}

std::string worker::describe(const fiber& f) const {
  std::string s =
      "block " + std::to_string(f.state.block) + " thread " + std::to_string(f.state.thread) + ": " + name(f.last);
  if (f.last != op::none) s += " at " + text(f.where);
  return s;
}

std::string worker::waiting_for(const fiber& f) const {
  if (f.ready) return f.spinning ? " (spinning)" : "";
  for (const rendezvous& r : f.team->pending) {
    if (!r.used || (r.arrived >> f.state.lane & 1) == 0) continue;
    return " (blocked; mask " + hex(r.mask) + ", still missing " + hex(r.mask & f.team->alive & ~r.arrived) + ")";
  }
  return " (blocked)";
}

/// The threads that have not returned, those of `first` before the others.
std::string worker::unfinished(const block* first) const {
  std::string s;
  std::size_t n = 0;
  const auto list = [&](const block& b) {
    for (std::uint32_t i = 0; i < b.size; ++i) {
      const fiber& f = b.threads[i];
      if (!f.done && n++ < threads_listed) s += "\n  " + describe(f) + waiting_for(f);
    }
  };
  if (first) list(*first);
  for (const block* b : resident_)
    if (b != first) list(*b);
  if (n > threads_listed) s += "\n  and " + std::to_string(n - threads_listed) + " more";
  return s;
}

void worker::fail_deadlock(const block& b) {
  blame(verdict::deadlock,
        "every thread of block " + std::to_string(b.rank) + " that has not returned is blocked" + unfinished(&b));
  abandon();
}

}  // namespace gputm::host
