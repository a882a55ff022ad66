// The life of blocks and threads within a worker.
#include "worker.hpp"

#include <algorithm>
#include <cstdio>

namespace gputm::host {

namespace {
constexpr const char* unexpected = " (kernels and bodies must not throw: nobody knows what their memory holds now)";
// A thread's exception, kept as text: it must not stay caught while other fibers run.
std::string run_guarded(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::exception& e) {
    return std::string("exception: ") + e.what() + unexpected;
  } catch (...) {
    return std::string("an exception that is not a std::exception") + unexpected;
  }
}
}  // namespace

void worker::begin(job& j, unsigned index) {
  const config& c = *j.settings;
  job_ = &j;
  index_ = index;
  schedule_ = c.schedule;
  controlled_ = c.schedule != scheduler::fast;
  weak = c.weak_memory;
  in_step = c.in_step;
  report_ = {};
  report_.schedule_hash = 0xcbf29ce484222325u;
  random_ = random_source(c.seed);
  stacks_.set_size(c.stack_bytes);
  ready_.reset(schedule_ == scheduler::random || schedule_ == scheduler::pct);
  quota_ = j.resident / j.workers + (index < j.resident % j.workers ? 1 : 0);
  exhausted_ = false;
  retired_.clear();
  last_progress_ = 0;
  j.pulses[index].is.store(pulse::running, std::memory_order_relaxed);
  streak_ = 0;
  seen_achieved_ = 0;
  if (schedule_ == scheduler::pct) start_pct();
  if (weak) {
    if (!weak_memory_) weak_memory_ = std::make_unique<weak_memory>(*this);
    weak_memory_->reset(j.blocks * j.threads, j.blocks);
  }
}

void worker::run(job& j, unsigned index) noexcept {
  worker_context* const outer = simt::host::current;
  try {
    begin(j, index);
    simt::host::current = this;
    simt::host::controlled = controlled_;
    current_ = &main_;
    sanitizer::adopt_current(main_.tsan);
    sanitizer::release(&j.started);  // pairs with the acquire in run_thread
    while (start_block() && controlled_) {
    }
    if (fiber* first = decide(true); first && !j.stopped()) switch_to(*first);
  } catch (...) {
    j.fail(std::current_exception());
  }
  simt::host::current = outer;
  simt::host::controlled = false;  // nobody calls run() inside of a kernel
  end();
}

void worker::end() {
  try {
    if (job_->stopped() && !controlled_) report_.what = unfinished(nullptr);  // for a livelock's report
  } catch (const std::bad_alloc&) {
    report_.what.clear();
  }
  abandon_blocks();
  sanitizer::acquire(&job_->finished);  // pairs with the releases in finish_thread and of abandoned threads
  job_->pulses[index_].is.store(pulse::finished, std::memory_order_release);
}

void worker::abandon_blocks() {
  for (block* b : resident_) {
    for (std::uint32_t i = 0; i < b->size; ++i) {
      fiber& f = b->threads[i];
      if (f.stack) stacks_.give(f.stack);
      f.stack = nullptr;
      sanitizer::destroy_abandoned(f.tsan, main_.tsan, &job_->finished);
    }
    free_.push_back(b);
  }
  resident_.clear();
}

block* worker::free_slot() {
  if (free_.empty()) {
    slots_.push_back(std::make_unique<block>());
    free_.reserve(slots_.size());  // so that giving a slot back cannot fail
    resident_.reserve(slots_.size());
    free_.push_back(slots_.back().get());
  }
  block* b = free_.back();
  free_.pop_back();
  return b;
}

bool worker::start_block() {
  if (exhausted_ || resident_.size() >= quota_ || job_->stopped()) return false;
  const std::uint32_t rank = job_->next_block.fetch_add(1, std::memory_order_relaxed);
  if (rank >= job_->blocks) {
    exhausted_ = true;
    return false;
  }
  try {
    block* b = free_slot();
    b->slot = static_cast<std::uint32_t>(resident_.size());
    resident_.push_back(b);
    place(*b, rank);
  } catch (...) {  // no memory; run() throws it
    job_->fail(std::current_exception());
    return false;
  }
  progress();
  until_start_ = 4 * job_->threads + 64;
  return true;
}

void worker::place(block& b, std::uint32_t rank) {
  const std::uint32_t threads = job_->threads;
  if (weak && job_->dynamic)
    retired_.push_back(std::move(b.memory));  // others of its cluster may still hold its address: nobody else gets it
  else if (weak)
    weak_memory_->forget(b.memory);  // an earlier block's objects, at the same addresses
  if (b.capacity < threads) {
    b.size = 0;
    b.threads = std::make_unique<fiber[]>(threads);
    b.capacity = threads;
  }
  b.rank = rank;
  b.size = b.alive = threads;
  b.ready = b.counted = 0;
  b.waiting.clear();
  b.memory.reset(job_->settings->dynamic_shared_bytes);
  place_warps(b);
  if (job_->dynamic) job_->dynamic[rank].begin(b.memory.dynamic());
  for (std::uint32_t i = 0; i < threads; ++i) init_thread(b, i);
}

void worker::place_warps(block& b) {
  const std::uint32_t width = job_->settings->warp_width;
  b.warps.resize((b.size + width - 1) / width);
  for (std::uint32_t w = 0; w < b.warps.size(); ++w) {
    const std::uint32_t lanes = std::min(width, b.size - w * width);
    b.warps[w].alive = lanes == 32 ? simt::full_mask : (1u << lanes) - 1;
    b.warps[w].lanes = &b.threads[w * width];
    b.warps[w].pending.clear();  // else who was here before decides in which order lanes meet and wake up
  }
}

void worker::init_thread(block& b, std::uint32_t index) {
  const std::uint32_t width = job_->settings->warp_width;
  fiber& f = b.threads[index];
  warp& w = b.warps[index / width];
  f = fiber{};
  f.state = {.thread = index,
             .lane = index % width,
             .warp = index / width,
             .block = b.rank,
             .block_size = b.size,
             .grid_size = job_->blocks,
             .warp_width = width,
             .warp_mask = w.alive};
  f.home = &b;
  f.team = &w;
  f.rank = b.rank * b.size + index;
  if (schedule_ == scheduler::pct)  // above every priority that a change point gives
    f.priority = static_cast<std::int64_t>(settings().pct_depth + (random_.next() >> 2));
#if defined(GPUTM_TSAN)
  char label[64];
  std::snprintf(label, sizeof label, "block %u thread %u", b.rank, index);
  sanitizer::create(f.tsan, label);
#endif
  wake(f);
}

void worker::run_thread() {
  sanitizer::acquire(&job_->started);
  if (const std::string what = run_guarded(*job_->body); !what.empty()) {
    sanitizer::quiet_begin(current_->tsan);
    blame(verdict::check_failed, what + "; " + describe(*current_));
  }
  if (job_->stopped()) abandon();
}

void worker::finish_block(block& b) {
  if (job_->dynamic) {
    job_->dynamic[b.rank].end();
    if (weak) weak_memory_->end(b.memory);
  }
  resident_[b.slot] = resident_.back();
  resident_[b.slot]->slot = b.slot;
  resident_.pop_back();
  free_.push_back(&b);
  if (controlled_ || ready_.empty()) start_block();
}

// Takes a thread that has returned out of everything; whom to run next, null if the run is over.
fiber* worker::leave(fiber& f) {
  f.done = true;
  progress();
  leave_collectives(f);
  block& b = *f.home;
  ready_.remove(f);
  --b.ready;
  priorities_changed_ = true;
  if (b.alive > 0 && b.ready == 0) fail_deadlock(b);
  // From here on the thread is `leaving_`: its block's slot may be taken by the next block.
  leaving_.stack = f.stack;
  leaving_.asan = f.asan;
  leaving_.tsan = f.tsan;
  f.stack = nullptr;
  f.tsan = {};
  current_ = &leaving_;
  if (b.alive == 0) finish_block(b);
  if (job_->stopped()) return nullptr;
  return decide(true);
}

void worker::finish_thread() {
  sanitizer::release(&job_->finished);
  sanitizer::quiet_begin(current_->tsan);
  fiber* const next = leave(*current_);
  sanitizer::quiet_end(leaving_.tsan);
  if (!next) {
    abandon();
  } else if (!next->stack && !sanitizer::sees_reuse) {
    adopt_stack(*next);
  } else {
    switch_to(*next);
    std::terminate();  // nobody switches to leaving_
  }
}

void worker::check_failed(const char* what, const site& at) {
  note(op::user, at);
  blame(verdict::check_failed, std::string(what) + "; " + describe(*current_));
  abandon();
}

void worker::blame(verdict v, const std::string& what) { job_->fail(v, what); }

}  // namespace gputm::host
