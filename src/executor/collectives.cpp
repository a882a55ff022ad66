// Warp collectives and the block barrier: who waits for whom, and what each gets.
#include <bit>

#include "worker.hpp"

namespace gputm::host {

namespace {
template <class Visit>
void for_each_lane(mask_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

bool same_place(const site& a, const site& b) { return a.line == b.line && a.file == b.file; }

// One synchronisation object for each group of lanes, in TSan's eyes.
const void* group(const warp& w, mask_t mask) { return &w.lanes[std::countr_zero(mask)]; }
}  // namespace

// Masks that overlap may be pending at once: lanes of a small group come to the larger one later, and a fast
// lane may be one operation ahead. So lanes meet only at the same operation, mask and place; a real mismatch
// ends as a deadlock that names who is where.
rendezvous& worker::meet(warp& w, collective_kind kind, mask_t mask, const site& at) {
  rendezvous* unused = nullptr;
  for (rendezvous& r : w.pending) {
    if (!r.used)
      unused = &r;
    else if (r.mask == mask && r.kind == kind && same_place(r.where, at))
      return r;
  }
  if (!unused) unused = &w.pending.emplace_back();
  unused->used = true;
  unused->kind = kind;
  unused->mask = mask;
  unused->arrived = 0;
  unused->where = at;
  return *unused;
}

std::uint64_t worker::collective(collective_kind kind, mask_t mask, std::uint64_t value, std::uint32_t argument,
                                 const site& at) {
  if (controlled_)
    point(op::warp, at);
  else
    note(op::warp, at);
  fiber& f = *current_;
  warp& w = *f.team;
  const mask_t own = 1u << f.state.lane;
  if ((mask & own) == 0) {
    blame(verdict::bad_mask, "the calling lane is not in its mask " + hex(mask) + "; " + describe(f));
    abandon();
  }
  mask &= f.state.warp_mask;
  const bool orders = kind == collective_kind::sync;
  if (orders) sanitizer::release(group(w, mask));
  rendezvous& r = meet(w, kind, mask, at);
  r.arrived |= own;
  r.value[f.state.lane] = value;
  r.argument[f.state.lane] = argument;
  if ((mask & w.alive) == r.arrived)
    complete(w, r);
  else
    sleep();
  if (orders) sanitizer::acquire(group(w, mask));
  return f.result;
}

mask_t worker::together(const site& at) {
  fiber& f = *current_;
  warp& w = *f.team;
  if (!controlled_ || !in_step) return 1u << f.state.lane;
  const auto arrivals = [&]() -> rendezvous& { return meet(w, collective_kind::together, f.state.warp_mask, at); };
  f.result = 0;
  rendezvous& r = arrivals();
  r.arrived |= 1u << f.state.lane;
  if (r.arrived == w.alive) complete(w, r);
  const std::int64_t priority = f.priority;  // waiting lowers it, but this is no lock
  for (unsigned steps = 8; f.result == 0; --steps) {
    if (steps != 0)
      explore_backoff(at);
    else
      complete(w, arrivals());
  }
  f.priority = priority;
  priorities_changed_ = true;
  return static_cast<mask_t>(f.result);
}

std::uint64_t worker::shuffled(const warp& w, const rendezvous& r, std::uint32_t lane) {
  const std::uint32_t source = r.argument[lane] % 32;  // as the hardware wraps it
  if ((r.arrived >> source & 1) == 0) {
    blame(verdict::bad_mask,
          "shfl reads lane " + std::to_string(source) + ", which does not take part; " + describe(w.lanes[lane]));
    abandon();
  }
  return r.value[source];
}

void worker::deliver(const warp& w, const rendezvous& r) {
  mask_t votes = 0;
  for_each_lane(r.arrived, [&](std::uint32_t l) { votes |= static_cast<mask_t>(r.value[l] != 0) << l; });
  for_each_lane(r.arrived, [&](std::uint32_t l) {
    std::uint64_t& result = w.lanes[l].result;
    switch (r.kind) {
      case collective_kind::sync: break;
      case collective_kind::together: result = r.arrived; break;
      case collective_kind::ballot: result = votes; break;
      case collective_kind::any: result = votes != 0; break;
      case collective_kind::all: result = votes == r.arrived; break;
      case collective_kind::shfl: result = shuffled(w, r, l); break;
      case collective_kind::match_any:
        result = 0;
        for_each_lane(r.arrived, [&](std::uint32_t k) { result |= std::uint64_t{r.value[k] == r.value[l]} << k; });
        break;
    }
  });
}

void worker::join_lanes(const warp& w, mask_t mask) {
  std::vector<fiber*> lanes;
  for_each_lane(mask, [&](std::uint32_t l) { lanes.push_back(&w.lanes[l]); });
  weak_memory_->join(lanes);
}

void worker::complete(warp& w, rendezvous& r) {
  r.used = false;
  if (weak && r.kind == collective_kind::sync) join_lanes(w, r.arrived);  // the others order nothing
  deliver(w, r);
  for_each_lane(r.arrived, [&](std::uint32_t l) {
    if (!w.lanes[l].ready) wake(w.lanes[l]);
  });
}

std::uint32_t worker::block_sync(std::uint32_t predicate, const site& at) {
  if (controlled_)
    point(op::barrier, at);
  else
    note(op::barrier, at);
  fiber& f = *current_;
  block& b = *f.home;
  b.counted += predicate != 0;
  b.waiting.push_back(&f);
  sanitizer::release(&b);
  if (b.waiting.size() == b.alive)
    release_barrier(b);
  else
    sleep();
  sanitizer::acquire(&b);
  return static_cast<std::uint32_t>(f.result);
}

void worker::release_barrier(block& b) {
  if (weak) weak_memory_->join(b.waiting);
  for (fiber* f : b.waiting) {
    f->result = b.counted;
    if (!f->ready) wake(*f);
  }
  b.waiting.clear();
  b.counted = 0;
}

// Those who wait for a thread that has returned wait for it no longer.
void worker::leave_collectives(fiber& f) {
  warp& w = *f.team;
  w.alive &= ~(1u << f.state.lane);
  for (rendezvous& r : w.pending)
    if (r.used && (r.mask & w.alive) == r.arrived) complete(w, r);
  block& b = *f.home;
  --b.alive;
  if (b.alive > 0 && b.waiting.size() == b.alive) release_barrier(b);
}

}  // namespace gputm::host
