// Floor 3: a pass over the positions of a window with deferred writes: it runs iterations, and notes what they have
// come to. Here all of a first pass; repair_pass.hpp and joint_pass.hpp go through positions in other ways.
#pragma once

#include "gputm/speculation/deferred_access.hpp"
#include "gputm/speculation/iteration.hpp"
#include "gputm/speculation/window_check.hpp"

namespace gputm::speculation {

/// One thread's part of it. Options: see deferred_access.
template <class Options, class Body>
class iteration_pass : protected window_check<Options, Body> {
  using base = window_check<Options, Body>;

 protected:
  using base::body_, base::env_, base::log, base::table_, base::view_, base::w_;
  using base::position, base::turn_of;
  using typename base::positions;

  /// What the iterations of a pass have done, those of this thread.
  struct pass_result {
    parts::loop_findings found;
    std::int32_t executed = 0;  ///< runs of bodies; in a first pass, beyond those of all positions
    std::uint32_t failed = 0;   ///< of a repair
    std::uint64_t forwarded = 0;
    std::uint32_t logs = 0;  ///< as positions::logs; a word: it lives in a register
  };

  /// What a run in a repair knows beforehand, and leaves, where lanes run each other's positions: in a dense one, whose
  /// values it is to take; where they go together, what it has begun.
  struct shared_run {
    bool may_return;      ///< if it needs the value of one that has yet to run, it leaves all as it was, and runs once
                          ///< more in this repair
    bool are_there;       ///< all of the values that its reads tell of
    std::uint32_t count;  ///< so many of its reads tell whose value they are to take
    std::uint32_t awaited = parts::window_view::memory;  ///< then: who had yet to run
    begun_reduction* begun = nullptr;
    bool guest = false;  ///< it is another lane's, and this one is there to help
  };
  /// Runs the iteration at position `p`. False if the others of this thread need not run; of a dense repair, if this
  /// one runs once more. `turn`: of a pass with rows that all warps load together, or of a repair that can use them.
  template <pass Kind>
  GPUTM_INLINE bool execute(std::uint32_t p, parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                            positions* those, shared_run* run = nullptr, joint_turn* turn = nullptr) {
    using access = deferred_access<Options, Kind>;
    constexpr bool calm = is_calm<Kind>, wary = Kind == pass::wary, repair = is_repair<Kind>;
    bool guest = false;
    if constexpr (Kind == pass::spread) guest = run->guest;
    if constexpr (Kind == pass::joint) guest = turn->loads;
    access a(view_, env_.ranges, marker, p, w_, env_.limits.patience, guest);
    if constexpr (Kind == pass::joint) a.take_turn(*turn);
    if constexpr (Kind == pass::dense) a.know_sources(run->count, run->are_there);
    if constexpr (Kind == pass::spread)
      if (run->begun != nullptr) a.go_together(*run->begun, *turn);
    iteration<access> it(a, env_.regions, env_.limits.operations, trouble);
    const attempt_end how = it.run(body_, w_.base + p);
    if constexpr (Kind == pass::spread) a.end_together();
    if constexpr (Kind == pass::spread || Kind == pass::joint)
      if (guest) return false;
    if constexpr (Kind == pass::joint)
      if (turn->asked) return true;  // it runs again
    if constexpr (repair) ++f.executed;
    f.found.add(a.found());
    if constexpr (Kind == pass::dense || Kind == pass::spread) {
      run->awaited = a.awaited();
      if (run->may_return && run->awaited != parts::window_view::memory) {  // its status stays as it was
        if (a.differs(false)) this->find(parts::loop_findings::unmarked);
        if (a.strayed()) this->find(parts::loop_findings::unlisted);
        return false;
      }
    }
    f.forwarded += a.forwarded();
    const bool overlaps = calm && w_.pending != 0;  // so it has logged no reads
    const bool committed = how == attempt_end::commit;
    bool unmarked = false;
    if constexpr (repair) {
      unmarked = a.differs(committed);
      f.failed += how == attempt_end::failed;
    }
    const bool usual = committed && !it.last() && !a.crowded();
    if constexpr (calm) {
      if (f.logs == 0 && !overlaps && (a.reads() != 0 || !usual)) {
        f.logs = 1;
        forget_reads(env_.logs, p);
      }
    }
    std::uint32_t reads = a.reads();
    if constexpr (Kind == pass::dense)  // the next repair finds their sources beforehand as well
      if (a.came_early() && reads < run->count) reads = run->count;
    log(p).set_sizes(reads, a.writes_left(committed), !calm || f.logs != 0);
    if (calm && usual) return true;  // one test, since most come to this
    if constexpr (wary) {
      if (usual && a.reads() == 0 && a.writes() == 0) return true;  // its sizes say that there is nothing to see
      those->readers.put(turn_of(p), a.reads() != 0 || !usual);
    }
    if (repair ? unmarked : !committed && a.writes() != 0) this->find(parts::loop_findings::unmarked);
    if (overlaps) return end_of_overlapping(p, how == attempt_end::failed || a.crowded(), it.last());
    parts::position_status s{w_.tag, w_.repair, how == attempt_end::failed, it.last()};
    if constexpr (repair && Kind != pass::dense) a.tell_value(committed, s);
    finish<Kind>(p, s);
    if (usual && !a.strayed()) return true;
    if constexpr (calm)  // which it is not if the iteration has just changed nothing
      those->trouble = those->trouble || how != attempt_end::cancel || a.writes() != 0 || it.last();
    if (a.strayed()) this->find(parts::loop_findings::unlisted);
    if (it.last()) this->find(parts::loop_findings::last_seen);
    if (how == attempt_end::failed) {
      if (a.why() == violation::capacity) env_.state->too_long.name(p);
      this->fail(p, p == 0, it.fault(), a.why());
    } else if (p == 0 && a.crowded()) {
      this->find(parts::loop_findings::alone);
    }
    return true;
  }
  /// The positions of this thread before `p` have read nothing. Mostly no position of a thread has in a calm pass, and
  /// then their logs need not say so: a store for each iteration is a tenth of the time of a short one.
  static GPUTM_NOINLINE void forget_reads(parts::loop_log_space logs, std::uint32_t p) {
    GPUTM_NO_UNROLL
    for (std::uint32_t q = position(0); q != p; q += simt::grid_threads()) parts::loop_log(logs, q).set_no_reads();
  }
  /// In a window that overlaps commits nothing is checked: an iteration counts, and may end the loop, or all run again.
  GPUTM_INLINE bool end_of_overlapping(std::uint32_t p, bool failed, bool last) {
    if (failed)
      this->find(parts::loop_findings::overlap_failed);
    else if (last)
      this->end_at(p);
    return !failed;
  }
  template <pass Kind>
  GPUTM_INLINE void finish(std::uint32_t p, const parts::position_status& s) const {
    constexpr simt::scope who = is_repair<Kind> ? simt::scope::device : simt::scope::block;
    if (!is_calm<Kind> && Options::forwarding)  // others look before the barrier
      log(p).template publish<who>(s);
    else if (!is_calm<Kind> || s.dirty || s.last)
      log(p).set_status(s);
  }
  GPUTM_INLINE void note_marks(parts::writer_marker& marker, pass_result& f) const {
    if (marker.several()) f.found.flags |= parts::loop_findings::several;
    if (w_.peeks() && marker.found_none()) f.found.flags |= parts::loop_findings::peeked;
  }
  /// All positions of this thread, in a first pass.
  template <pass Kind>
  GPUTM_INLINE pass_result execute_all(positions* those) {
    static_assert(Kind == pass::calm || Kind == pass::wary);
    constexpr bool calm = is_calm<Kind>;
    pass_result f;
    parts::writer_marker marker(view_.table(), calm);  // if not, others look for marks meanwhile
    iteration_trouble trouble;
    std::uint32_t p = position(0);
    if constexpr (calm) {
      those->trouble = false;
      // a set does not tell of the others, which are looked at always
      f.logs = w_.size > parts::position_set::turns * simt::grid_threads() && w_.pending == 0;
    } else {
      *those = {};
    }
    const auto run_turn = [&] {
      if (!Options::repair && p > env_.state->violated.get()) return false;  // it cannot commit
      const bool goes_on = execute<Kind>(p, marker, f, trouble, those);
      p += simt::grid_threads();
      return goes_on;
    };
    bool has_turn = p < w_.size;
    simt::in_step lanes(has_turn);
    GPUTM_NO_UNROLL
    while (has_turn) has_turn = lanes.next(run_turn() && p < w_.size);
    if (p < w_.size) f.executed -= static_cast<std::int32_t>(1 + (w_.size - 1 - p) / simt::grid_threads());
    note_marks(marker, f);
    if constexpr (calm) those->logs = f.logs != 0;
    return f;
  }
  /// Apart from the calm pass, so that this one's registers and the addresses it knows stay what they are. A thread
  /// makes all it needs anew: to copy it takes more memory than caches have, and calm loops longer as well.
  static GPUTM_NOINLINE pass_result execute_warily(const loop_environment& env, const Body& body, positions* those) {
    iteration_pass self(env, body, parts::current_window(*env.state));
    self.see_window();
    return self.template execute_all<pass::wary>(those);
  }
  /// The marks and logs of the window that it has been made for.
  GPUTM_INLINE void see_window() {
    table_ = parts::writer_table(env_.table, w_.tag);
    view_ = {env_.logs, table_};
  }

 public:
  using base::base;
};

}  // namespace gputm::speculation
