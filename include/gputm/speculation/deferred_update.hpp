// Floor 3: loops whose iterations run speculatively with deferred writes: the phases that GPU-TLS and its baseline
// with in-order commit share. One persistent kernel; the phases of a window are separated by grid-wide barriers.
//
//   execute   run the iterations of the window; log what they read and from whom, defer and mark what they write
//   check     an iteration is in violation unless all it read is what the last lower writer writes, or is memory's
//             where no lower one writes; nothing to do if no logged read is of a range (element_ranges) that was
//             stored to, or if reads have looked for marks and need no more (needs_check). Reads without a log are of
//             ranges that nobody has stored to: else the window begins anew
//   repair    run those in violation again, which now see the others' deferred writes, and wait for those of others
//             that run again; check again, unless that can find nothing (loop_plan::is_sure)
//   commit    the iterations below the lowest violation write back
//
// Why the result is the sequential loop's: take the iterations below the lowest violation, in order. Each one read
// from memory what no lower one of the window writes, and everything else from the last lower writer's log, which
// has not changed since and is right by induction. All of them commit, and the last writer of each element prevails.
// The lowest iteration of a window is never in violation, so each window commits one at least,
// unless that one ends the loop by an error, or the window begins anew (loop_plan::must_repeat), or is given up, since
// a shorter one takes less time (loop_plan::give_up).
//
// A repair looks at few positions only: those in violation run again, and as long as each writes to the elements that
// it wrote to before, only they can be wrong afterwards; nor do marks of last writers change. Else (unmarked: one has
// written elsewhere, or failed after a write, or the window has given up positions) all reads of the window are checked
// each time, and last writers are counted again. One that came too early for what it reads counts as a writer of what
// it wrote before, until it has run again.
//
// Where many run again and need each other's values, whose values those are is found out before any runs (repair_view):
// as exact as a look when the value is needed, since both go by the same marks, lists and logs, which change meanwhile
// only if one writes elsewhere than before; then all is checked.
//
// Marks tell who writes an element last below a position, where it has one writer, or all are below. Else lists tell,
// of those positions that share elements: a pass makes them before a window's first repair, and anew if a repair writes
// what it did not before, and shares that.
//
// After a window that needed no check, all of which commits, and no element of which has several writers, the next one
// overlaps these commits: each warp writes back what it has executed, and goes on without a barrier. Meanwhile memory
// may lack any of what the loop has stored so far, all of which lies in ranges whose reads are logged. In such a window
// no iteration reads one of those, nor goes wrong in another way: else it begins anew, behind the barrier that ends its
// execution, and so behind those commits. If none does, nothing has been logged, and again there is nothing to check.
#pragma once

#include "gputm/speculation/in_place_learning.hpp"
#include "gputm/speculation/joint_pass.hpp"
#include "gputm/speculation/repair_pass.hpp"

namespace gputm::speculation {

/// One thread of such a loop. Options: see deferred_access. Commit: operator()(environment, window, table,
/// barrier) writes back what commits; is_local, and then write_back(), see parallel_commit.
template <class Options, class Commit, class Body>
class deferred_update : repair_pass<Options, Body> {
  using order = simt::order;
  using base = repair_pass<Options, Body>;
  using base::barrier_, base::body_, base::env_, base::plan_, base::table_, base::view_, base::w_;
  using typename base::check_result, typename base::pass_result, typename base::positions;

  /// What the threads of this warp have found, but for what `those` tells.
  GPUTM_INLINE parts::loop_findings execute(positions& those) {
    pass_result f;
    if (!w_.is_first_pass()) {
      if constexpr (Options::repair) {
        if (w_.lists_now())
          this->list_contested(env_.logs, table_, w_.size, w_.which_lists());
        else
          this->repair(those, f);
      }
    } else if (this->expects_violations()) {
      if constexpr (!Options::repair) f = this->execute_warily(env_, body_, &those);
    } else if (this->joins()) {
      if constexpr (Options::forwarding && Options::repair) {
        const auto done = joint_pass<Options, Body>::run(env_, body_, &those, barrier_, this->begins());
        f = done.of_pass;
        barrier_.pass(done.barriers);
      }
    } else {
      f = this->template execute_all<pass::calm>(&those);
    }
    this->executed_ += static_cast<std::uint64_t>(std::int64_t{f.executed});
    this->forwarded_ += f.forwarded;
    return this->find_of_all(f.found);
  }

  /// Whether what this warp has done in a whole window asks for a check. Logged reads do, unless they have looked for
  /// marks. Then one is due if an element that was read may have been stored to in this window: if it has a mark; or if
  /// some store has found no mark before it, since the element may be one that has been read. Else all that was stored
  /// to had marks of windows before, which those who read have seen if they have read any of that.
  GPUTM_INLINE bool needs_check(const parts::loop_findings& mine) const {
    return w_.peeks() ? mine.has(parts::loop_findings::peeked) : mine.read_logged != 0;
  }
  /// Apart, since it would lie between instructions that all loops come to.
  static GPUTM_NOINLINE void end_repair(parts::loop_plan plan) { plan.end_repair(Options::repair); }
  /// What this warp has executed of the window before, if nobody has written that back yet.
  GPUTM_INLINE void write_back_pending() const {
    if (w_.pending == 0) return;
    Commit::write_back(env_, w_.pending);
    if (simt::is_full_warp()) simt::sync_warp();  // lanes have read each other's logs, and use theirs again
  }
  static constexpr unsigned after_pass = 0, after_check = 1;  // polls

  /// The window behind its pass or the check of that. If nobody has decided about it, nobody has written down either
  /// whether elements have several writers, nor which ranges are mixed, but all threads can see what was found.
  GPUTM_INLINE void look_behind_pass() {
    this->look_at_window();
    if (!w_.foreseen) return;
    const parts::loop_findings found = parts::known_in(*env_.state);
    w_.several = found.has(parts::loop_findings::several);
    w_.mixed = found.stored & found.read_logged;
  }
  /// The loop has read one range alone to which loops are known to store: looks, for the next loop, to which of its
  /// elements loops have stored, as far as marks tell. All threads of the grid call it, and nobody marks any more. What
  /// they find is a hint: a loop is right whatever the offset of its ranges.
  static GPUTM_NOINLINE void find_boundary(const loop_environment& env, parts::writer_table table, std::uint32_t range,
                                           std::uint32_t offset) {
    parts::loop_past& past = *env.table.past;
    if (!env.ranges.movable || !table.has_own_marks()) return;
    if (simt::plain_load(past.moves) == parts::loop_past::most_moves) return;
    const parts::element_ranges::interval e = env.ranges.elements_of(range, offset);
    const parts::writer_table::interval stored = table.find_marks(e.region, e.begin, e.end);
    if (stored.end == 0) return;
    const auto raise = [](std::uint32_t& word, std::uint32_t value) {  // words that all threads change are slow
      if (simt::atomic(word).load(order::relaxed) < value) simt::atomic(word).fetch_max(value, order::relaxed);
    };
    raise(past.begin, static_cast<std::uint32_t>(e.begin));
    raise(past.lowest, ~stored.begin);
    raise(past.end, stored.end);
  }
  /// One pass over the window, or a repair of it; false if the window begins anew. Whatever a poll comes to, the window
  /// is what memory says then, and what follows depends on that alone: so a compiler knows that all threads go the same
  /// way, and keeps the window's words in registers that a warp has once. Without them streaming iterations of one
  /// access take a tenth longer.
  GPUTM_INLINE bool run_pass(positions& those) {
    if constexpr (Commit::is_local) write_back_pending();  // before its logs are used again
    const parts::loop_findings found = execute(those);
    const auto end = [this] { plan_.end_pass(this->begins(), Commit::is_local, Options::repair); };
    if (plan_.is_whole(w_))
      barrier_.poll(after_pass, those.trouble || plan_.is_trouble(w_, found), needs_check(found), end);
    else
      barrier_.wait([this, &end] { w_.is_first_pass() ? end() : end_repair(plan_); });
    const std::uint32_t number = w_.number;
    look_behind_pass();
    if (w_.number != number) return false;
    if (w_.foreseen ? !barrier_.has_noted(after_pass) : (w_.decided | w_.again) != 0) return true;
    const check_result checked = this->check_all(those);
    const auto decide = [this] { plan_.decide_or_repair(Options::repair); };
    if (w_.foreseen)
      barrier_.poll(after_check, checked.dirty, checked.touched, decide);
    else
      barrier_.wait(decide);
    look_behind_pass();
    return true;
  }

 public:
  using base::base;

  /// Every thread of the grid calls it once.
  GPUTM_INLINE void run() {
    positions those;
    if (plan_.is_whole(w_) && simt::grid_thread_rank() == 0) plan_.foresee(w_);
    GPUTM_NO_UNROLL
    while (this->begin_window(table_)) {
      view_ = {env_.logs, table_};
      bool same;
      do same = run_pass(those);
      while (same && (w_.repair | w_.again) != 0);
      if (!same) continue;
      Commit()(env_, w_, table_, barrier_);
      if (w_.closing) break;  // nobody waits for these commits
      barrier_.wait([this] { plan_.next(); });
      this->look_at_window();
    }
    if (w_.foreseen && simt::grid_thread_rank() == 0)
      plan_.end_whole(w_, barrier_.has_noted(after_pass), barrier_.has_noted(after_check));
    if (w_.has_one_mixed() && !w_.has_moved()) find_boundary(env_, table_, w_.mixed, w_.range_offset());
    this->flush();
    const bool whole = w_.commits == w_.size && w_.base + w_.commits == env_.limits.iterations;
    const bool smooth = w_.wary == 0 && !w_.was_repaired() && whole && w_.over == 0;
    if (env_.in_place.learns && smooth && w_.closing)
      in_place_learning::learn(env_, barrier_, w_.base, w_.size, those.logs);
    else if (env_.in_place.learns && simt::grid_thread_rank() == 0)
      in_place_learning::claim_again(env_);
  }
};

}  // namespace gputm::speculation
