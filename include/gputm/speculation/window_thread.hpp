// Floor 3: one thread of a loop that runs window after window: what engines share around their phases. The least that
// such an engine does, here without a repair (direct_update.hpp):
//
//   while (begin_window(table)) {                       // a table of the window's marks; runs stretches, too
//     for each position p of this thread, in order: run the iteration w_.base + p, and set_sizes() of its log, also of
//       those that it leaves out; fail(p, ...) if it has come to nothing, end_at(p) if its body has ended the loop;
//       ++executed_
//     barrier_.wait([this] { plan_.end_pass_unchecked(begins()); });   // decides how many positions commit
//     the first `commits` positions of current_window() take effect, the others leave no trace
//     barrier_.wait([this] { plan_.next(); });
//     look_at_window();
//   }
//   flush();                                            // counters
#pragma once

#include "gputm/parts/loop_plan.hpp"
#include "gputm/speculation/concept.hpp"
#include "gputm/speculation/one_by_one.hpp"

namespace gputm::speculation {

template <class Body>
class window_thread {
  using order = simt::order;

 protected:
  const loop_environment& env_;
  const Body& body_;
  parts::grid_barrier barrier_;
  parts::loop_plan plan_;
  parts::loop_window w_;
  /// What this thread has counted: `executed_` is what to add to runs of bodies that loop_plan has counted.
  std::uint64_t executed_ = 0, forwarded_ = 0;

  GPUTM_INLINE void find(std::uint32_t flag) const { parts::add_findings(*env_.state, {.flags = flag}); }
  GPUTM_INLINE parts::loop_log log(std::uint32_t p) const { return {env_.logs, p}; }

  /// Position `p` must not commit in this window, nor any above it.
  GPUTM_INLINE void violate(std::uint32_t p, violation why) {
    violate_again(p);
    simt::atomic(env_.state->counters.violations[static_cast<unsigned>(why)]).fetch_add(1, order::relaxed);
  }
  /// The same for a position that has been counted.
  GPUTM_INLINE void violate_again(std::uint32_t p) { env_.state->violated.name(p); }
  /// An attempt has failed. `real`: it cannot have been led astray, so a fault is the body's error.
  GPUTM_INLINE void fail(std::uint32_t p, bool real, const iteration_fault& f, violation why) {
    if (real && f.kind != parts::fault::none) {
      parts::report_fault(*env_.control, f.kind, f.region, f.a, f.b, loop_of<Body>::iteration(body_, w_.base + p));
      simt::atomic(env_.state->failed).store(1, order::relaxed);  // read in the serial section behind the phase
    }
    violate(p, why);
  }
  /// The body has ended the loop at position `p`.
  GPUTM_INLINE void end_at(std::uint32_t p) { env_.state->ended.name(p); }
  /// Whether, as far as is known, position `p` can commit.
  GPUTM_INLINE bool may_commit(std::uint32_t p) const {
    return p <= env_.state->violated.get() && p <= env_.state->ended.get();
  }

  /// Whether the window is the loop's first one.
  GPUTM_INLINE bool begins() const { return w_.number == 1; }
  /// The window as the last serial section left it.
  GPUTM_INLINE void look_at_window() { w_ = parts::current_window(*env_.state); }
  /// Gets a table ready for the window; false if the loop is over.
  template <class Table>
  GPUTM_INLINE bool begin_window(Table& table) {
    GPUTM_NO_UNROLL
    for (;;) {
      if (w_.over) return false;
      table = Table(env_.table, w_.tag);
      if (w_.clear_table) {
        table.clear();
        clear_statuses();
        barrier_.wait();
      }
      if (w_.stretch == 0) return true;
      run_stretch();
      look_at_window();
    }
  }
  /// Every thread calls it at its end.
  GPUTM_INLINE void flush() {
    // most loops have nothing to add, which takes fewer steps to find out than the sums
    if (simt::reduce_or(simt::full_mask, std::uint32_t{(executed_ | forwarded_) != 0}) == 0) return;
    auto& c = env_.state->counters;
    add_of_all(c.executed, executed_);
    add_of_all(c.forwarded, forwarded_);
  }
  /// Adds the lanes' values together: words that all threads change are slow. All lanes of a warp call it.
  static GPUTM_INLINE void add_of_all(std::uint64_t& word, std::uint64_t mine) {
    const std::uint64_t sum = simt::reduce_add(simt::full_mask, mine);
    if (simt::lane() == 0 && sum != 0) simt::atomic(word).fetch_add(sum, order::relaxed);
  }
  GPUTM_INLINE parts::loop_findings find_of_all(const parts::loop_findings& mine) const {
    std::uint64_t all[parts::loop_findings::words];
    GPUTM_UNROLL
    for (unsigned k = 0; k < parts::loop_findings::words; ++k) all[k] = simt::reduce_or(simt::full_mask, mine.word(k));
    const parts::loop_findings found = parts::loop_findings::of(all[0], all[1]);
    if (simt::lane() == 0) parts::add_findings(*env_.state, found);
    return found;
  }

 public:
  GPUTM_INLINE window_thread(const loop_environment& env, const Body& body)
      : env_(env),
        body_(body),
        barrier_(env.state->barrier),
        plan_(*env.state, loop_of<Body>::limits(env, body), *env.table.past, env.ranges),
        w_(plan_.first()) {}
  /// In a window that is under way.
  GPUTM_INLINE window_thread(const loop_environment& env, const Body& body, const parts::loop_window& w)
      : env_(env),
        body_(body),
        barrier_(env.state->barrier),
        plan_(*env.state, loop_of<Body>::limits(env, body), *env.table.past, env.ranges),
        w_(w) {}

 private:
  GPUTM_INLINE void clear_statuses() const {
    const parts::saved_space& saved = env_.in_place.saved;
    for (std::uint32_t p = simt::grid_thread_rank(); p < env_.logs.window; p += simt::grid_threads())
      log(p).set_status({});
    if (saved.positions == env_.logs.window) return;  // they are the same
    for (std::uint32_t p = simt::grid_thread_rank(); p < saved.positions; p += simt::grid_threads())
      parts::saved_values(saved, p).forget();
  }
  GPUTM_INLINE void run_stretch() {
    if (simt::grid_thread_rank() == 0) {
      plan_.stretches().begin();
      const serial_end end = run_one_by_one(env_, body_, w_.base, w_.stretch, w_.range_offset(),
                                            [this](std::uint64_t done) { return plan_.stretches().is_beaten(done); });
      executed_ += end.done;
      parts::add_findings(*env_.state, {.stored = end.stored});
      plan_.stretches().note(static_cast<std::uint32_t>(end.done), end.over);
    }
    barrier_.wait([this] { plan_.next_after_stretch(); });
  }
};

}  // namespace gputm::speculation
