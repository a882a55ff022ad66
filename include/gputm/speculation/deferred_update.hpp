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

#include "gputm/parts/position_dealer.hpp"
#include "gputm/speculation/deferred_access.hpp"
#include "gputm/speculation/in_place_learning.hpp"
#include "gputm/speculation/window_check.hpp"

namespace gputm::speculation {

/// One thread of such a loop. Options: see deferred_access. Commit: operator()(environment, window, table,
/// barrier) writes back what commits; is_local, and then write_back(), see parallel_commit.
template <class Options, class Commit, class Body>
class deferred_update : window_check<Options, Body> {
  using order = simt::order;
  using base = window_check<Options, Body>;
  using base::barrier_, base::body_, base::env_, base::log, base::plan_, base::table_, base::view_, base::w_;
  using base::first_turn, base::joins, base::know_writers, base::position, base::repairs, base::turn_of;
  using typename base::check_result, typename base::positions;

  /// What the iterations of a pass have done, those of this thread.
  struct pass_result {
    parts::loop_findings found;
    std::int32_t executed = 0;  ///< runs of bodies; in a first pass, beyond those of all positions
    std::uint32_t failed = 0;   ///< of a repair
    std::uint64_t forwarded = 0;
    std::uint32_t logs = 0;  ///< as positions::logs; a word: it lives in a register
  };

  /// What is known of an iteration of a dense repair; `begun`: or of one whose lanes go together.
  struct known_sources {
    bool may_return;      ///< if it needs the value of one that has yet to run, it leaves all as it was, and runs once
                          ///< more in this repair
    bool are_there;       ///< all of the values that its reads tell of
    std::uint32_t count;  ///< so many of its reads tell whose value they are to take
    std::uint32_t awaited = parts::window_view::memory;  ///< then: who had yet to run
    begun_reduction* begun = nullptr;
    bool guest = false;  ///< it is another lane's, and this one is there to help
  };
  /// Runs the iteration at position `p`. False if the others of this thread need not run; of a dense repair, if this
  /// one runs once more. `turn`: of a pass with rows that all warps load together.
  template <pass Kind>
  GPUTM_INLINE bool execute(std::uint32_t p, parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                            positions* those, known_sources* sources = nullptr, joint_turn* turn = nullptr) {
    using access = deferred_access<Options, Kind>;
    constexpr bool calm = is_calm<Kind>, wary = Kind == pass::wary, repair = is_repair<Kind>;
    bool guest = false;
    if constexpr (Kind == pass::spread) guest = sources->guest;
    if constexpr (Kind == pass::joint) guest = turn->loads;
    access a(view_, env_.ranges, marker, p, w_, env_.limits.patience, guest);
    if constexpr (Kind == pass::joint) a.take_turn(*turn);
    if constexpr (Kind == pass::dense) a.know_sources(sources->count, sources->are_there);
    if constexpr (Kind == pass::spread)
      if (sources->begun != nullptr) a.go_together(*sources->begun);
    iteration<access> it(a, env_.regions, env_.limits.operations, trouble);
    const attempt_end how = it.run(body_, w_.base + p);
    if constexpr (Kind == pass::spread || Kind == pass::joint)
      if (guest) return false;
    if constexpr (Kind == pass::joint) {
      if (turn->asked) {  // it runs again
        f.found.flags |= parts::loop_findings::long_rows;
        return true;
      }
    }
    if constexpr (repair) ++f.executed;
    f.found.add(a.found());
    if constexpr (Kind == pass::dense || Kind == pass::spread) {
      sources->awaited = a.awaited();
      if (sources->may_return && sources->awaited != parts::window_view::memory) {  // its status stays as it was
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
      if (a.came_early() && reads < sources->count) reads = sources->count;
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
  GPUTM_INLINE bool is_dirty(std::uint32_t p) const { return log(p).status(w_.tag).dirty; }
  /// Whether `p`, whose turn is in the set of those that are due, is: the set is exact for the first turns; for later
  /// ones its status tells.
  GPUTM_INLINE bool is_due(std::uint32_t turn, std::uint32_t p) const {
    return turn < parts::position_set::turns || is_dirty(p);
  }

  /// Whether the lanes of a warp can share what is due in a repair: all of them are there, and sets are exact.
  GPUTM_INLINE bool may_share_repairs() const {
    return simt::is_full_warp() && w_.size <= parts::position_set::turns * simt::grid_threads();
  }
  /// Whether they do: if some may have more of it than others.
  GPUTM_INLINE bool share_repairs() const {
    return may_share_repairs() && (is_dense() || w_.size > simt::grid_threads());
  }
  /// Whether positions that are due are dealt out to all warps, one by one. Long iterations often are near to each
  /// other; those of one warp would go one after another, since each has its own way, and wait for each other besides.
  GPUTM_INLINE bool spread_repairs() const {
    return Options::forwarding && w_.is_spread() && simt::block_size() % simt::warp_width() == 0;
  }
  /// Whether it is known beforehand whose values those take that are due.
  GPUTM_INLINE bool is_dense() const { return Options::forwarding && w_.is_dense() && may_share_repairs(); }
  /// Whose values the positions of this thread are to take that are due, before any of its warp runs. Apart: what
  /// repairs hold in registers would not fit beside it.
  static GPUTM_NOINLINE void find_sources(parts::window_view view, parts::position_set due, std::uint32_t from,
                                          std::uint32_t size, std::uint32_t tag, std::uint32_t repair) {
    const repair_view<true> others(view, tag, repair);
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = due.next(from), p; (p = position(turn)) < size; turn = due.next(turn + 1))
      others.find_sources(p);
  }
  /// Those of the lanes' positions that have failed in a repair, `failed` being this lane's, are left for the next one.
  static GPUTM_INLINE void leave(bool failed, const parts::position_dealer::dealt& its, positions* those) {
    GPUTM_NO_UNROLL
    for (simt::mask_t m = simt::ballot(simt::full_mask, failed); m != 0; m &= m - 1) {
      const std::uint32_t which = simt::lowest(m), owner = simt::shfl(simt::full_mask, its.owner, which);
      const std::uint32_t turn = simt::shfl(simt::full_mask, its.turn, which);
      if (simt::lane() == owner) those->left.put(turn, true);
    }
  }
  /// The positions due of a warp, one for each lane at a time, whoever has them.
  GPUTM_INLINE void execute_shared(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                   positions* those) {
    parts::position_dealer dealer(those->due, first_turn(), w_.size);
    parts::position_dealer::dealt its;
    GPUTM_NO_UNROLL
    for (;;) {
      const bool has_one = dealer.deal(true, its);
      if (!simt::any(simt::full_mask, has_one)) break;
      const std::uint32_t before = f.failed;
      if (has_one) execute<pass::repair>(its.position(), marker, f, trouble, those);
      leave(f.failed != before, its, those);
    }
  }
  /// Those that are due, as their statuses tell, of positions as many apart as the grid has warps.
  GPUTM_INLINE void execute_spread(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                   positions* those) {
    const std::uint32_t threads = simt::grid_threads(), warps = threads / simt::warp_width();
    const std::uint32_t step = warps * 5 / 8 | 1;
    std::uint32_t p =
        simt::lane() * warps + (simt::grid_thread_rank() / simt::warp_width() + simt::lane() * step) % warps;
    std::uint32_t awaited = view_.memory;
    const auto skip = [&] {
      GPUTM_NO_UNROLL
      while (p < w_.size && (p < w_.from || !is_dirty(p))) p += threads;
    };
    skip();
    begun_reduction begun;
    const repair_view<true> others(view_, w_.tag, w_.repair);
    const std::uint32_t patience = w_.patience(env_.limits.patience);
    std::uint32_t in_vain = 0;
    GPUTM_NO_UNROLL
    for (;;) {
      const bool has_one = p < w_.size, waits = in_vain < patience;
      std::uint32_t its = p;
      bool runs = has_one;
      known_sources sources{waits, false, 0};
      if (w_.gathers()) {
        if (!simt::any(simt::full_mask, has_one)) break;
        if (has_one && waits && awaited != view_.memory)
          runs = others.of_status(view_.log(awaited).status(w_.tag)) != repair_view<true>::progress::pending;
        const simt::mask_t running = simt::ballot(simt::full_mask, runs);
        if (running == 0) {
          ++in_vain;
          simt::backoff(20);
          continue;
        }
        simt::sync_warp();  // lanes have entered reads in each other's logs, and may enter them again
        const std::uint32_t whose = simt::shfl(simt::full_mask, p, simt::lowest(running));
        if (!runs) its = whose;
        sources.begun = &begun;
        sources.guest = !runs;
      } else {
        if (!has_one) break;
        sources.may_return = false;
      }
      const std::uint32_t before = f.failed;
      const bool ends = execute<pass::spread>(its, marker, f, trouble, those, &sources);
      if (runs && ends) {
        p += threads;
        skip();
        awaited = view_.memory;
      } else if (runs) {
        awaited = sources.awaited;
      }
      if (w_.gathers() && simt::any(simt::full_mask, runs && (waits || f.failed == before))) in_vain = 0;
    }
    those->left = those->due;  // who runs them has no part in this thread's sets; the check looks at all of these
  }
  /// The same as execute_shared() where many of them need each other's values. One that needs the value of another one
  /// that has yet to run stays with its lane meanwhile, and the others go on: if it waited where it needs it, a
  /// compiler would have those lanes wait as well that are to go on together with it. Nobody waits for one that waits
  /// for him: the lowest one that has yet to run is with a lane, since each warp begins with its lowest, and needs
  /// nothing.
  GPUTM_INLINE void execute_dense(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                  positions* those) {
    if (!w_.has_notes()) find_sources(view_, those->due, first_turn(), w_.size, w_.tag, w_.repair);
    simt::sync_warp();  // lanes run each other's
    // A warp that gets on waits longer for more. Where nearly all wait for one chain, one thread had better run it. Who
    // has given up does not wait again until it gets on.
    constexpr std::uint32_t longer = 2, longest = 8;
    const std::uint32_t patience = env_.limits.patience < ~0u / 16 ? env_.limits.patience : ~0u / 16;
    std::uint32_t in_vain = 0, most_in_vain = patience;
    parts::position_dealer dealer(those->due, first_turn(), w_.size);
    parts::position_dealer::dealt its;
    const repair_view<true> others(view_, w_.tag, w_.repair);
    repair_view<true>::waiting on;
    bool has_one = false;
    GPUTM_NO_UNROLL
    for (;;) {
      if (dealer.deal(!has_one, its)) {
        has_one = true;
        on = others.waits(its.position());
      }
      if (!simt::any(simt::full_mask, has_one)) break;
      const std::uint32_t before = f.failed;
      const bool waits = in_vain < most_in_vain;  // else they fail that would have to
      const bool ready = has_one && others.is_ready(its.position(), on);
      const bool runs = ready || (has_one && !waits);
      if (runs) {
        known_sources sources{waits, ready && !on.failed, on.reads};
        has_one = !execute<pass::dense>(its.position(), marker, f, trouble, those, &sources);
        others.wait_for(sources.awaited, on);
      }
      leave(f.failed != before, its, those);
      if (simt::any(simt::full_mask, runs && !has_one && f.failed == before)) {
        in_vain = 0;
        if (most_in_vain <= longest * patience) most_in_vain += longer * patience;
        simt::progress();
      } else {
        ++in_vain;
        simt::backoff(20);
      }
    }
  }
  struct joint_result {
    pass_result of_pass;
    std::uint32_t barriers;
  };
  /// All positions in a first pass, one a thread, with rows that all warps load together. Apart, as execute_apart().
  /// `barrier`: that of the loop, which has to be told how often all have met. `begins`: it is the loop's first window,
  /// which nobody has written down yet.
  static GPUTM_NOINLINE joint_result execute_joint(const loop_environment& env, const Body& body, positions* those,
                                                   parts::grid_barrier barrier, bool begins) {
    deferred_update self = in_pass<pass::joint>(env, body, begins);
    pass_result f;
    joint_turn turn{env.joint};
    those->trouble = false;
    if (position(0) < self.w_.size) self.run_joint(f, those, turn);
    barrier.wait();
    std::uint32_t barriers = 1;
    GPUTM_NO_UNROLL
    for (std::uint32_t pieces = env.joint.pieces(), before = 0; pieces != before; barriers += 2) {
      self.load_rows(before, pieces);
      barrier.wait();
      if (turn.asked) self.run_joint(f, those, turn);
      barrier.wait();
      before = pieces;
      pieces = env.joint.pieces();
    }
    those->logs = f.logs != 0;
    those->rows = turn.rows;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < turn.rows; ++k) {
      those->row[k] = turn.row[k];
      if (k >= turn.collected) env.joint.forget_log(turn.row[k]);
    }
    return {f, barriers};
  }
  /// This thread's position, up to the next row for which it asks, or to its end.
  GPUTM_INLINE void run_joint(pass_result& f, positions* those, joint_turn& turn) {
    parts::writer_marker marker(view_.table(), true);
    iteration_trouble trouble;
    turn.begin();
    execute<pass::joint>(position(0), marker, f, trouble, those, nullptr, &turn);
    note_marks(marker, f);
  }
  /// Each warp loads pieces, whosever they are; those from number `from` on.
  GPUTM_INLINE void load_rows(std::uint32_t from, std::uint32_t to) {
    pass_result none;
    parts::writer_marker marker(view_.table(), true);
    iteration_trouble trouble;
    const std::uint32_t width = simt::warp_width(), warps = simt::grid_threads() / width;
    joint_turn turn{env_.joint};
    GPUTM_NO_UNROLL
    for (std::uint32_t k = from + simt::grid_thread_rank() / width; k < to; k += warps) {
      const std::uint32_t number = env_.joint.row_of(k);
      if (number == parts::joint_space::none) continue;
      turn.begin_piece(k);
      simt::sync_warp();  // so that its lanes are together
      execute<pass::joint>(env_.joint.row(number).position, marker, none, trouble, nullptr, nullptr, &turn);
    }
  }
  GPUTM_INLINE void note_marks(parts::writer_marker& marker, pass_result& f) const {
    if (marker.several()) f.found.flags |= parts::loop_findings::several;
    if (w_.peeks() && marker.found_none()) f.found.flags |= parts::loop_findings::peeked;
  }
  /// All positions in a first pass, those that are due in a repair.
  template <pass Kind>
  GPUTM_INLINE pass_result execute_positions(positions* those) {
    constexpr bool repair = is_repair<Kind>;
    pass_result f;
    parts::writer_marker marker(view_.table(), Kind == pass::calm);  // if not, others look for marks meanwhile
    iteration_trouble trouble;
    std::uint32_t turn = repair ? those->due.next(first_turn()) : 0, p = position(turn);
    if constexpr (Kind == pass::calm) {
      those->trouble = false;
      // a set does not tell of the others, which are looked at always
      f.logs = w_.size > parts::position_set::turns * simt::grid_threads() && w_.pending == 0;
    }
    if (Kind == pass::wary) *those = {};
    const auto run_turn = [&] {
      if (!Options::repair && p > env_.state->violated.get()) return false;  // it cannot commit
      const bool goes_on = (repair && !is_due(turn, p)) || execute<Kind>(p, marker, f, trouble, those);
      turn = repair ? those->due.next(turn + 1) : turn + 1;
      p = repair ? position(turn) : p + simt::grid_threads();
      return goes_on;
    };
    if constexpr (Kind == pass::dense) {
      execute_dense(marker, f, trouble, those);
    } else if constexpr (Kind == pass::spread) {
      execute_spread(marker, f, trouble, those);
    } else if constexpr (repair) {
      if (share_repairs()) {
        execute_shared(marker, f, trouble, those);
      } else {  // each lane goes straight to its next position
        GPUTM_NO_UNROLL
        while (p < w_.size) {
          const std::uint32_t its = turn, before = f.failed;
          run_turn();
          those->left.put(its, f.failed != before);
        }
      }
    } else {
      bool has_turn = p < w_.size;
      simt::in_step lanes(has_turn);
      GPUTM_NO_UNROLL
      while (has_turn) has_turn = lanes.next(run_turn() && p < w_.size);
    }
    if (!repair && p < w_.size) f.executed -= static_cast<std::int32_t>(1 + (w_.size - 1 - p) / simt::grid_threads());
    if (marker.several()) {
      f.found.flags |= parts::loop_findings::several;
      if (repair) f.found.flags |= parts::loop_findings::unlisted;  // nobody has listed these two
    }
    if constexpr (Kind == pass::calm)
      if (w_.peeks() && marker.found_none()) f.found.flags |= parts::loop_findings::peeked;
    if constexpr (Kind == pass::calm) those->logs = f.logs != 0;
    return f;
  }
  /// Apart from the calm pass, so that this one's registers and the addresses it knows stay what they are. A thread
  /// makes all it needs anew: to copy it takes more memory than caches have, and calm loops longer as well.
  template <pass Kind>
  static GPUTM_NOINLINE pass_result execute_apart(const loop_environment& env, const Body& body, positions* those) {
    deferred_update self = in_pass<Kind>(env, body);
    return self.template execute_positions<Kind>(those);
  }
  template <pass Kind>
  static GPUTM_INLINE deferred_update in_pass(const loop_environment& env, const Body& body, bool begins = false) {
    deferred_update self =
        begins ? deferred_update(env, body) : deferred_update(env, body, parts::loop_plan::current(*env.state));
    self.table_ = parts::writer_table(env.table, self.w_.tag);
    self.view_ = {env.logs, self.table_};
    if (is_repair<Kind>) self.know_writers();
    return self;
  }
  /// Whether any position is due, in repairs few are.
  GPUTM_INLINE bool any_is_due(const parts::position_set& due) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = due.next(first_turn()), p; (p = position(turn)) < w_.size; turn = due.next(turn + 1))
      if (is_due(turn, p)) return true;
    return false;
  }
  /// Lists what those positions have written that write to elements with several writers: of all others marks tell
  /// enough. Lists are complete behind the next barrier, until a repair writes elsewhere.
  static GPUTM_NOINLINE void list_contested(parts::loop_log_space logs, parts::writer_table table, std::uint32_t size,
                                            std::uint32_t lists) {
    const parts::window_view view(logs, table, lists);
    table.for_each_contested(size, table.contested_below(size), [&view](std::uint32_t p) {
      const parts::loop_log log = view.log(p);
      for (std::uint32_t i = 0, n = log.write_count(); i < n; ++i) view.list(log.write_key(i), p, i);
    });
  }

  /// Runs again what is left in violation. If lanes share that, all of them do, or none.
  GPUTM_INLINE void repair(positions& those, pass_result& f) {
    those.due = those.left;
    those.left = {};
    const bool due = spread_repairs() || any_is_due(those.due);
    if (!(share_repairs() ? simt::any(simt::full_mask, due) : due)) return;
    if (spread_repairs()) {
      if constexpr (Options::forwarding) f = execute_apart<pass::spread>(env_, body_, &those);
    } else if (is_dense()) {
      if constexpr (Options::forwarding) f = execute_apart<pass::dense>(env_, body_, &those);
    } else {
      f = execute_apart<pass::repair>(env_, body_, &those);
    }
    // relaxed: read behind the phase
    if (f.failed != 0)
      simt::atomic(env_.state->dirty).fetch_add(parts::dirty_count{f.failed, 0}.word(), order::relaxed);
  }

  /// What the threads of this warp have found, but for what `those` tells.
  GPUTM_INLINE parts::loop_findings execute_all(positions& those) {
    pass_result f;
    if (!w_.is_first_pass()) {
      if constexpr (Options::repair) {
        if (w_.lists_now())
          list_contested(env_.logs, table_, w_.size, w_.which_lists());
        else
          repair(those, f);
      }
    } else if (this->expects_violations()) {
      if constexpr (!Options::repair) f = execute_apart<pass::wary>(env_, body_, &those);
    } else if (joins()) {
      if constexpr (Options::forwarding && Options::repair) {
        const joint_result done = execute_joint(env_, body_, &those, barrier_, this->begins());
        f = done.of_pass;
        barrier_.pass(done.barriers);
      }
    } else {
      f = execute_positions<pass::calm>(&those);
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
    const parts::loop_findings found = execute_all(those);
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
  }
};

}  // namespace gputm::speculation
