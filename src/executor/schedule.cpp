// Who runs next, and what counts as getting nowhere.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "worker.hpp"

namespace gputm::host {

namespace {
std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
std::string seconds(double s) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", s);
  return text;
}
void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}
}  // namespace

// ---- explore ---------------------------------------------------------------------------------

void worker::start_pct() {
  const config& c = settings();
  change_points_.clear();
  for (unsigned i = 1; i < c.pct_depth; ++i) change_points_.push_back({1 + random_.next() % c.pct_length, i});
  std::sort(change_points_.begin(), change_points_.end());
  next_change_ = 0;
  lowest_priority_ = 0;
  priorities_changed_ = true;
}

void worker::step(op o, const site& at) {
  ++report_.steps;
  note(o, at);
  current_->spinning = o == op::backoff;
  mix(std::uint64_t{current_->rank} << 8 | static_cast<std::uint64_t>(o));
  if (report_.steps - last_progress_ > settings().livelock_steps) {
    blame(verdict::livelock,
          "no progress() for " + std::to_string(settings().livelock_steps) + " steps" + unfinished(nullptr));
    abandon();
  }
  if (schedule_ == scheduler::pct && next_change_ < change_points_.size() &&
      report_.steps >= change_points_[next_change_].step) {
    current_->priority = change_points_[next_change_++].priority;
    priorities_changed_ = true;
  }
}

void worker::point(op o, const site& at) {
  step(o, at);
  yield_to_next(false);
}

/// Null if nobody can run.
fiber* worker::decide(bool must_leave) {
  if (ready_.empty()) return nullptr;
  fiber* next = pick(must_leave);
  if (controlled_ && settings().record) report_.schedule += std::to_string(next->rank) + ' ';
  return next;
}

fiber* worker::pick(bool must_leave) {
  switch (schedule_) {
    case scheduler::random: return pick_random(must_leave);
    case scheduler::pct: return pick_highest();
    default: return &ready_.after(*current_);
  }
}

fiber* worker::pick_random(bool must_leave) {
  const double p = settings().switch_probability;
  if (current_->ready && !must_leave && p < 1.0 && !random_.chance(p)) return current_;
  const std::uint32_t drawn = random_.below(ready_.size());
  fiber& f = ready_[drawn];
  if (must_leave && &f == current_) return &ready_[(drawn + 1) % ready_.size()];
  return &f;
}

fiber* worker::pick_highest() {
  if (!priorities_changed_ && current_->ready) return current_;
  priorities_changed_ = false;
  return *std::max_element(ready_.array().begin(), ready_.array().end(),
                           [](const fiber* a, const fiber* b) { return a->priority < b->priority; });
}

void worker::yield_to_next(bool must_leave) { switch_to(*decide(must_leave)); }

void worker::explore_backoff(const site& at) {
  step(op::backoff, at);
  if (schedule_ == scheduler::pct) {  // or a spinner of high priority would keep out whom it waits for
    current_->priority = --lowest_priority_;
    priorities_changed_ = true;
  }
  yield_to_next(true);
}

std::uint64_t worker::time_step() {
  // Asking for the time passes time, so that a loop with a time limit ends.
  return controlled_ ? ++report_.steps : 0;
}

// ---- fast ------------------------------------------------------------------------------------

void worker::fast_backoff(const site& at) {
  note(op::backoff, at);
  current_->spinning = true;
  if (++streak_ > std::max(ready_.size(), 64u)) idle_round();
  waited();
  fiber& next = ready_.after(*current_);
  if (&next == current_)
    pause();
  else
    switch_to(next);
}

// Called at every wait. Blocks start one by one, after a number of waits: a grid of blocks that wait for
// nothing runs in a few stacks, and still everybody whom somebody waits for gets started.
void worker::waited() {
  if (job_->stopped()) abandon();
  if (--until_start_ == 0) {
    until_start_ = 4 * job_->threads + 64;
    start_block();
    if (job_->stopped()) abandon();
  }
}

void worker::idle_round() {
  streak_ = 0;
  // Whom the threads wait for may be on another OS thread that shares this core. A worker alone waits for none of them,
  // and a yield would give the core away for milliseconds wherever other programs want it.
  if (job_->workers > 1) sched_yield();
  check_livelock();
}

namespace {
/// Nanoseconds between two idle rounds of a worker that does nothing else, at most; else it computes, or its OS thread
/// did not run.
std::int64_t longest_gap(std::int64_t limit) { return std::max<std::int64_t>(limit / 2, 20'000'000); }
}  // namespace

void worker::check_livelock() {
  pulse& mine = job_->pulses[index_];
  const std::int64_t now = now_ns();
  const auto limit = static_cast<std::int64_t>(std::min(settings().livelock_seconds, 1e9) * 1e9);
  const auto start_over = [&] {
    seen_achieved_ = achieved();
    mine.idle_since.store(now, std::memory_order_relaxed);
  };
  const bool paused = now - mine.last_idle.load(std::memory_order_relaxed) > longest_gap(limit);
  if (mine.idle_since.load(std::memory_order_relaxed) == 0 || paused) start_over();
  mine.last_idle.store(now, std::memory_order_relaxed);
  if (now - mine.idle_since.load(std::memory_order_relaxed) < limit || !everybody_idle(now, limit)) return;
  // In this order: whatever a worker did before it was seen finished counts, up to its very last step.
  if (achieved() != seen_achieved_) return start_over();
  blame(verdict::livelock, "no progress() for " + seconds(settings().livelock_seconds) + " s of spinning");
  abandon();
}

std::uint64_t worker::achieved() const {
  std::uint64_t all = 0;
  for (unsigned i = 0; i < job_->workers; ++i) all += job_->pulses[i].achieved.load(std::memory_order_relaxed);
  return all;
}

bool worker::everybody_idle(std::int64_t now, std::int64_t limit) const {
  bool all_running = true;
  for (unsigned i = 0; i < job_->workers; ++i) {
    const pulse& p = job_->pulses[i];
    const std::uint8_t is = p.is.load(std::memory_order_acquire);
    if (is == pulse::absent) all_running = false;
    if (is != pulse::running) continue;
    const std::int64_t since = p.idle_since.load(std::memory_order_relaxed);
    if (since == 0 || now - since < limit) return false;
    if (now - p.last_idle.load(std::memory_order_relaxed) > longest_gap(limit)) return false;
  }
  return all_running || job_->next_block.load(std::memory_order_relaxed) >= job_->blocks;
}

// ---- both ------------------------------------------------------------------------------------

void worker::backoff(const site& at) { controlled_ ? explore_backoff(at) : fast_backoff(at); }

void worker::progress() {
  last_progress_ = report_.steps;
  streak_ = 0;
  if (controlled_) return;
  pulse& mine = job_->pulses[index_];
  mine.achieved.store(mine.achieved.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (mine.idle_since.load(std::memory_order_relaxed) != 0) mine.idle_since.store(0, std::memory_order_relaxed);
}

void worker::wake(fiber& f) {
  ready_.add(f);
  ++f.home->ready;
  priorities_changed_ = true;
}

/// Until another thread of the block wakes this one.
void worker::sleep() {
  fiber& f = *current_;
  f.spinning = false;
  ready_.remove(f);
  priorities_changed_ = true;
  if (--f.home->ready == 0) fail_deadlock(*f.home);
  if (controlled_) return yield_to_next(true);
  waited();
  switch_to(*decide(true));
}

}  // namespace gputm::host
