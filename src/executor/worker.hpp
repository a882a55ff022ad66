// One OS thread's part of a run: fibers, the scheduling decisions, and everything that simulated threads
// ask for. Its member functions are spread over the .cpp files of this directory, one concern each.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "gputm/host/executor.hpp"
#include "gputm/simt/host_hooks.hpp"
#include "job.hpp"
#include "random.hpp"
#include "ready_set.hpp"
#include "stack_pool.hpp"
#include "weak_memory.hpp"

namespace gputm::host {

class worker final : public simt::host::worker_context {
 public:
  worker() = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Runs its share of the blocks, until all are done or the job is stopped. What went wrong is in the job.
  void run(job&, unsigned index) noexcept;
  const report& result() const { return report_; }

  // What simulated threads call, through the hooks.
  void point(op, const site&);
  void backoff(const site&);
  void progress();
  std::uint64_t collective(collective_kind, mask_t, std::uint64_t value, std::uint32_t argument, const site&);
  mask_t together(const site&);
  std::uint32_t block_sync(std::uint32_t predicate, const site&);
  void* shared(std::size_t bytes, std::size_t alignment, const void* key, const site&);
  void* dynamic_shared();
  void* dynamic_shared_of(std::uint32_t rank, const site&);
  std::uint64_t time_step();

  // For the parts.
  fiber& self() { return *current_; }
  weak_memory& memory_model() { return *weak_memory_; }
  report& counters() { return report_; }
  random_source& random() { return random_; }
  const config& settings() const { return *job_->settings; }
  std::size_t stack_bytes() const { return stacks_.stack_bytes(); }
  /// Remembers the running thread's operation, for reports.
  void note(op o, const site& at) {
    current_->last = o;
    current_->where = at;
  }
  /// Makes the schedule's hash depend on `x`.
  void mix(std::uint64_t x) { report_.schedule_hash = (report_.schedule_hash ^ x) * 0x100000001B3u; }
  /// The running thread's own check has failed.
  [[noreturn]] void check_failed(const char* what, const site&);
  /// Names what ends the run; the first one counts. Its caller abandons, in a statement of its own: an
  /// abandoned stack destroys no temporary string.
  void blame(verdict, const std::string& what);
  /// Leaves a simulated thread for ever. No fiber is unwound.
  [[noreturn]] void abandon();

 private:
  // worker.cpp: the life of blocks and threads
  void begin(job&, unsigned index);
  void end();
  bool start_block();
  block* free_slot();
  void place(block&, std::uint32_t rank);
  void place_warps(block&);
  void init_thread(block&, std::uint32_t index);
  void finish_block(block&);
  void finish_thread();
  fiber* leave(fiber&);
  void run_thread();
  void abandon_blocks();
  static void enter(boost::context::detail::transfer_t);

  // switch.cpp: from one stack to another
  void switch_to(fiber&);
  void prepare(fiber&);
  void adopt_stack(fiber&);
  void arrived(boost::context::detail::transfer_t);

  // schedule.cpp: who runs next
  void step(op, const site&);
  fiber* decide(bool must_leave);
  fiber* pick(bool must_leave);
  fiber* pick_random(bool must_leave);
  fiber* pick_highest();
  void yield_to_next(bool must_leave);
  void explore_backoff(const site&);
  void fast_backoff(const site&);
  void waited();
  void idle_round();
  void check_livelock();
  bool everybody_idle(std::int64_t now, std::int64_t limit) const;
  std::uint64_t achieved() const;
  void sleep();
  void wake(fiber&);
  void start_pct();

  // collectives.cpp
  rendezvous& meet(warp&, collective_kind, mask_t, const site&);
  void complete(warp&, rendezvous&);
  void deliver(const warp&, const rendezvous&);
  std::uint64_t shuffled(const warp&, const rendezvous&, std::uint32_t lane);
  void join_lanes(const warp&, mask_t);
  void release_barrier(block&);
  void leave_collectives(fiber&);

  // text.cpp
  std::string describe(const fiber&) const;
  std::string waiting_for(const fiber&) const;
  std::string unfinished(const block* first) const;
  [[noreturn]] void fail_deadlock(const block&);

  // weak_memory.cpp calls describe()
  friend class weak_memory;

  job* job_ = nullptr;
  unsigned index_ = 0;
  scheduler schedule_ = scheduler::fast;
  bool controlled_ = false;  // every other scheduler decides at every access
  report report_;
  random_source random_;
  stack_pool stacks_;
  ready_set ready_;
  fiber main_;               // the OS thread's own stack
  fiber leaving_;            // stands for a thread that has returned, until its stack has been left
  fiber* current_ = &main_;  // runs now

  std::vector<std::unique_ptr<block>> slots_;
  std::vector<block*> free_, resident_;
  std::uint32_t quota_ = 1;  // resident blocks of this worker at most
  bool exhausted_ = false;   // no block is left to start

  std::uint64_t last_progress_ = 0;  // explore: the step
  /// PCT: where the priority of the running thread drops, below every start priority and above every spinner. Which of
  /// two threads that drop goes on first is left to chance: some bugs need it either way.
  struct change_point {
    std::uint64_t step;
    std::int64_t priority;
    friend auto operator<=>(const change_point&, const change_point&) = default;
  };
  std::vector<change_point> change_points_;  // in order
  std::size_t next_change_ = 0;
  std::int64_t lowest_priority_ = 0;
  bool priorities_changed_ = true;

  std::uint32_t streak_ = 0;         // fast: backoffs since progress()
  std::uint64_t seen_achieved_ = 0;  // fast: by all workers, when it last looked
  std::uint32_t until_start_ = 0;    // fast: waits before another block starts

  std::unique_ptr<weak_memory> weak_memory_;
  std::vector<shared_memory> retired_;  // weak memory, clusters: of blocks that have ended
};

/// The worker that runs the calling simulated thread.
inline worker& this_worker() { return *static_cast<worker*>(simt::host::current); }

const char* name(op);
/// "file.cpp:12", without directories.
std::string text(const site&);
std::string hex(mask_t);

}  // namespace gputm::host
