// Weak memory: which accesses race, and misuse that the model cannot represent.
#include <algorithm>

#include "worker.hpp"

namespace gputm::host {

using simt::scope;

// Compares with the last access of each kind of every thread, and takes this one's place among them.
void weak_memory::check(location& l, const request& r, bool writes) {
  const fiber& f = owner_.self();
  std::vector<std::uint32_t>& clock = self().now.clock;
  if (clock.size() <= f.rank) clock.resize(f.rank + 1, 0);
  const access now{f.rank, f.state.block, ++clock[f.rank], writes, r.plain, r.scope, r.kind, r.at};
  access* same_kind = nullptr;
  for (access& a : l.accesses) {
    if (a.thread == now.thread) {
      if (a.writes == writes && a.plain == r.plain && a.scope == r.scope) same_kind = &a;
      continue;
    }
    if (!a.writes && !writes) continue;
    const bool too_narrow = a.block != now.block && (a.scope == scope::block || r.scope == scope::block);
    if (!a.plain && !r.plain && !too_narrow) continue;
    if (a.thread < clock.size() && a.clock <= clock[a.thread]) continue;
    fail_race(a, r, too_narrow && !a.plain && !r.plain);
  }
  if (writes && r.plain) {
    // All accesses so far happen before this one: whatever races with them later races with this one too.
    l.accesses.assign(1, now);
  } else if (same_kind) {
    *same_kind = now;
  } else {
    l.accesses.push_back(now);
  }
}

void weak_memory::fail_race(const access& before, const request& r, bool too_narrow) {
  const auto other = [&] {
    return "block " + std::to_string(before.block) + " thread " +
           std::to_string(before.thread % owner_.self().state.block_size) + ": " + name(before.kind) + " at " +
           text(before.at);
  };
  owner_.note(r.kind, r.at);
  owner_.blame(verdict::race, (too_narrow ? "scope too narrow: " : "data race: ") + owner_.describe(owner_.self()) +
                                  ", not ordered after " + other() +
                                  (too_narrow ? ", which block scope does not reach" : ""));
  owner_.abandon();
}

void weak_memory::fail_mixed(const location& l, const request& r) {
  owner_.note(r.kind, r.at);
  owner_.blame(verdict::check_failed, "accesses of different sizes to the same bytes: " + std::to_string(r.size) +
                                          " bytes, " + owner_.describe(owner_.self()) + "; before it " +
                                          std::to_string(l.size) + " bytes, " + name(l.first_kind) + " at " +
                                          text(l.first));
  owner_.abandon();
}

void weak_memory::fail_misaligned(const request& r) {
  owner_.note(r.kind, r.at);
  owner_.blame(verdict::check_failed,
               "misaligned access of " + std::to_string(r.size) + " bytes; " + owner_.describe(owner_.self()));
  owner_.abandon();
}

void weak_memory::fail_ended(const request& r) {
  owner_.note(r.kind, r.at);
  owner_.blame(verdict::check_failed, "shared memory of a block that has ended; " + owner_.describe(owner_.self()));
  owner_.abandon();
}

void weak_memory::fail_changed(const location& l, const request& r) {
  owner_.note(r.kind, r.at);
  const auto store = std::find_if(l.accesses.rbegin(), l.accesses.rend(), [](const access& a) { return a.writes; });
  owner_.blame(verdict::check_failed,
               "memory changed by something other than atomic_ref or plain_store; " + owner_.describe(owner_.self()) +
                   (store == l.accesses.rend() ? std::string(", never stored to by a simulated thread")
                                               : "; last store at " + text(store->at)));
  owner_.abandon();
}

}  // namespace gputm::host
