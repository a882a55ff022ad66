// Floor 2: what happens to the windows of a speculative loop between the phases of its iterations: whether one is
// checked, repaired or run again, how much of it commits, and the choice of the next one.
//
//   window k:  [base, base + size)   execute | check | commit the first `commits` | plan
//                                    ^       v  at most `repairs` times, for the iterations in violation only; if those
//                                    |       |  are too many, the window gives up its upper half first, or all of it;
//                                    |       |  and before a check what is not below an iteration whose log was full
//   window k+1 begins at base + commits: failed iterations are executed again together with new ones; it may overlap
//   the commits of window k, if it reads no range that the loop has stored to
#pragma once

#include <cstdint>

#include "gputm/parts/stretch_plan.hpp"
#include "gputm/parts/window_size.hpp"

namespace gputm::parts {

/// The functions of serial sections: one thread at a time, between two rounds of the barrier, unless they say
/// otherwise.
class loop_plan {
  using order = simt::order;
  loop_state& s_;
  const loop_limits& limits_;
  loop_past& past_;
  const element_ranges& ranges_;

  static constexpr std::uint32_t long_memory = 4;  // windows that are wary after one with a violation
  static constexpr std::uint32_t unknown = ~0u;    // so all reads are logged

  /// The ranges of which reads must be logged after window `w`, in which those of w.logged were, and `f` was found:
  /// what the loop has stored to, and all of an array where it has both stored to a range and read it. After a window
  /// that was all of the loop, nobody need expect what has not been seen: then a few such ranges stand for themselves.
  /// Of what earlier loops have left, the first window keeps arrays that this one stores to as well, unless ranges have
  /// moved, which is meant to change that.
  GPUTM_INLINE std::uint32_t to_log(const loop_window& w, const loop_findings& f) const {
    const std::uint32_t known = w.logged == unknown || w.has_moved() ? 0 : ranges_.of_arrays_within(w.logged);
    const std::uint32_t kept = w.base != 0 ? w.logged : known & ranges_.of_arrays_with(f.stored);
    const bool all = w.base == 0 && w.size == limits_.iterations;
    const std::uint32_t touched = all ? f.stored | f.read_logged | f.read_unlogged : 0;
    return kept | f.stored | ranges_.of_arrays_with(f.stored & f.read_logged, touched);
  }
  GPUTM_INLINE void count(std::uint64_t& counter, std::uint64_t n) {
    simt::atomic(counter).fetch_add(n, order::relaxed);
  }
  GPUTM_INLINE loop_report look() const { return loop_report::of(s_, past_); }
  /// The same at the end of a first pass. Of a loop's first window, `begins`, nobody has written more down yet than
  /// what it might come to, which does not count.
  GPUTM_INLINE loop_report look(bool begins) {
    loop_report r = look();
    if (begins) begin_first(r);
    return r;
  }
  GPUTM_INLINE void begin_first(loop_report& r) {
    r.w = first(r.past);
    note_move(r.w);
    if (r.w.has_moved()) r.past.no_overlap = 0;
    r.next_stretch = stretches().restart();
    enter(r.w);
    r.ran = r.w.size;
    r.dirty_before = twice_allowed(r.w);
  }
  GPUTM_INLINE void forget_dirty() { simt::atomic(s_.dirty).store(0, order::relaxed); }
  /// The words that iterations change.
  GPUTM_INLINE void reset() {
    s_.violated.forget();
    s_.ended.forget();
    for (std::uint64_t& word : s_.found) simt::atomic(word).store(0, order::relaxed);
    s_.too_long.forget();
    forget_dirty();
    if (limits_.joint != 0) simt::atomic(s_.joint).store(0, order::relaxed);
  }
  /// A window of which base, size, stretch and what is expected of it are known, ready to begin.
  GPUTM_INLINE loop_window prepare(loop_window w) const {
    const std::uint64_t left = limits_.iterations - w.base;
    w.size = at_most(left, w.size);
    w.stretch = at_most(left, w.stretch);
    w.clear_table = w.tag + 3 > limits_.tags;
    w.tag = w.clear_table ? 1 : w.tag + 2;
    w.commits = w.all_commit = w.several = w.repair = w.closing = w.plain = w.decided = w.again = w.cut = w.lists =
        w.from = w.foreseen = 0;
    w.over = w.over || left == 0;
    w.offset &= ~loop_window::peeking;  // it says something of first windows only
    if (w.size > limits_.joint) join(w, false);
    ++w.number;
    return w;
  }
  /// Twice as many positions in violation as its first pass may leave. If windows are repaired whole, those are all:
  /// what a repair of them comes to, it has to show.
  GPUTM_INLINE std::uint32_t twice_allowed(const loop_window& w) const {
    return limits_.repair_whole ? 2 * w.size : w.size;
  }
  static GPUTM_INLINE void join(loop_window& w, bool joint) {
    w.offset = joint ? w.offset | loop_window::joint : w.offset & ~loop_window::joint;
  }
  /// Begins a window, but for the words that iterations change, and its own.
  GPUTM_INLINE void enter(const loop_window& w) {
    if (!w.over) put_word(past_.tag, w.tag);  // else nobody clears the table, nor uses the tag
    put_word(past_.listed, 0);
    put_word(s_.dirty_before, twice_allowed(w));
    put_word(s_.ran, w.size);
    simt::plain_store(s_.troubled, 0);
    put_word(s_.lengthy, 0);
    // windows in which violations are not likely mostly commit whole; clearing takes time that is not theirs
    simt::plain_store(s_.began, limits_.timed && w.wary != 0 && !w.clear_table ? simt::nanoseconds() : 0);
    simt::progress();
  }
  /// Window `w` follows that of `r`.
  GPUTM_INLINE void begin(loop_report& r, const loop_window& w) {
    r.w = prepare(w);
    enter(r.w);
    reset();
  }
  /// The first window. If nobody knows yet which ranges the loop stores to, all reads are logged; it is taken to store
  /// to those of a calm loop before it.
  GPUTM_INLINE loop_window first(const loop_past& past) const {
    loop_window w;
    w.size = past.calm != 0 ? limits_.window : limits_.first_window;
    w.tag = past.tag;
    w.logged = past.calm != 0 ? past.calm & element_ranges::all : unknown;
    w.offset = past.offset;
    if (past.end != 0) move(w, past);
    join(w, true);
    w = prepare(w);
    if (limits_.peek && past.peeks != 0 && is_whole(w)) w.offset |= loop_window::peeking;
    return w;
  }
  /// A range ends where those that loops have stored to begin, among the elements of the mixed one, or where they end.
  GPUTM_INLINE void move(loop_window& w, const loop_past& past) const {
    const std::uint32_t lowest = ~past.lowest;
    w.offset = ranges_.offset_for(lowest > past.begin ? lowest : past.end) | loop_window::moved;
    if (w.logged != unknown) w.logged = element_ranges::around(w.logged);
  }
  /// A window that was all of its loop has been checked. If it has peeked, that was in vain; which does not count where
  /// marks have just been cleared, and so none are left of loops before.
  GPUTM_INLINE void note_check(const loop_window& w, bool touched) {
    std::uint32_t in_vain = simt::plain_load(past_.in_vain);
    if (w.peeks() && !w.clear_table) put_word(past_.in_vain, ++in_vain);
    put_word(past_.peeks, !touched && in_vain < loop_past::most_in_vain);
  }
  GPUTM_INLINE void note_move(const loop_window& w) {
    if (!w.has_moved()) return;
    put_word(past_.offset, w.range_offset());
    put_word(past_.moves, simt::plain_load(past_.moves) + 1);
    put_word(past_.no_overlap, 0);
    set_word(past_.begin, 0);
    set_word(past_.lowest, 0);
    set_word(past_.end, 0);
  }
  /// It is known which iterations are in violation: how many of them commit. They count as done.
  GPUTM_INLINE void decide(loop_report& r) {
    const std::uint32_t violated = r.violated, size = r.w.size, ended = r.ended;
    std::uint32_t commits = violated < size ? violated : size;
    if (r.found.has(loop_findings::alone) && commits > 1) commits = 1;
    if (ended < commits) commits = ended + 1;
    r.w.commits = commits;
    // positions that it has given up have marked what they write
    r.w.all_commit = commits == size && r.w.cut == 0 && !r.found.has(loop_findings::unmarked);
    r.w.several = r.found.has(loop_findings::several);
    const bool over = ended < commits || r.failed != 0;
    const bool calm = commits == size && r.w.cut == 0 && !over && r.troubled.all == 0 && r.w.wary == 0;
    if (r.w.logged != unknown) r.w.mixed |= r.found.read_logged;
    r.w.logged = to_log(r.w, r.found);  // from the next window on
    put_word(past_.calm, calm ? loop_past::known | r.w.logged : 0);
    r.w.over = over;
    r.w.closing = over || r.w.base + commits == limits_.iterations;
    count(s_.counters.rounds, 1);
    count(s_.counters.iterations, commits);
  }
  /// Whether the window must run again: because a range has been written that was read without a log, or after the
  /// commits that it overlapped.
  static GPUTM_INLINE bool must_repeat(const loop_report& r) {
    const loop_findings& f = r.found;
    return (f.stored & f.read_unlogged) != 0 || f.has(loop_findings::overlap_failed);
  }
  GPUTM_INLINE void repeat(loop_report& r) {
    loop_window w = r.w;
    const loop_findings& f = r.found;
    w.logged |= f.stored | ranges_.of_arrays_with(f.stored & f.read_unlogged);
    if (f.has(loop_findings::overlap_failed)) put_word(past_.no_overlap, 1);
    w.pending = 0;
    count(s_.counters.rounds, 1);
    begin(r, w);
  }
  /// Whether the next window can overlap the commits of this one, which is decided: all of it commits, in any order.
  /// Whether it should: this one has logged no reads, so that the next one may not want to either.
  GPUTM_INLINE bool may_overlap(const loop_report& r) const {
    const bool can =
        r.w.closing == 0 && !r.found.has(loop_findings::several) && r.w.commits == r.w.size && limits_.overlap;
    return can && r.w.cut == 0 && r.past.no_overlap == 0 && r.found.read_logged == 0;
  }
  /// The lowest position with an incident is one whose log was full: it commits as a window's first only. So the window
  /// ends below it, where all went without incident.
  GPUTM_INLINE void give_up_from(loop_report& r, std::uint32_t p) {
    if (p == 0 || limits_.repairs == 0 || r.found.has(loop_findings::last_seen | loop_findings::alone)) return;
    r.w.size = p;
    r.w.cut = 1;
    r.violated = writer_table::none;
    s_.violated.forget();
  }
  /// Notes whether marks of last writers still hold.
  static GPUTM_INLINE void know_marks(loop_report& r) {
    if (r.found.has(loop_findings::unmarked)) r.w.lists |= loop_window::doubtful;
  }
  /// Behind a first pass without a check: decide(), and perhaps go_on().
  GPUTM_INLINE void prepare_check(loop_report& r, bool commits_are_local, bool may_repair) {
    know_marks(r);
    if (may_repair && r.violated == r.too_long && r.violated != writer_table::none) give_up_from(r, r.violated);
    if (r.violated == writer_table::none && !r.found.has(loop_findings::last_seen)) {
      r.w.plain = 1;
      if ((r.found.stored & r.found.read_logged) == 0) {
        r.w.decided = 1;
        decide(r);
        if (commits_are_local && may_overlap(r)) go_on(r, r.w.commits);
        return;
      }
    }
    count(s_.counters.checked, 1);
  }
  /// Behind a repair: repair_or_decide(), or a check, for which what earlier ones have found does not count.
  GPUTM_INLINE void look_at_repair(loop_report& r, bool may_repair) {
    r.w.plain = 0;
    if (is_sure(r)) {
      repair_or_decide(r, may_repair, true);
      (r.w.repair != 0 ? r.w.again : r.w.decided) = 1;
      return;
    }
    know_marks(r);
    s_.violated.forget();
    forget_dirty();
    if (!r.found.has(loop_findings::unlisted)) return;
    list(r, true);
    r.found.flags &= ~loop_findings::unlisted;
    simt::atomic(s_.found[1]).store(r.found.word(1), order::relaxed);  // nobody adds to it in a serial section
  }
  /// Whether nobody need look at what a repair has come to. Of those that have run again each has read what the last
  /// lower writers leave, or has come too early for that, and has to run once more: those that it has read from did
  /// not run again, or have done so before, and are right as well. Nobody else had read from those that have run: not
  /// in the first pass, which takes nothing from others, nor in repairs, where who needs the value of one that is to
  /// run again waits for it, or comes too early.
  static GPUTM_INLINE bool is_sure(const loop_report& r) {
    return !r.found.has(loop_findings::unmarked | loop_findings::unlisted | loop_findings::last_seen |
                        loop_findings::alone);
  }
  /// There are new lists of who writes what several do, which the next pass makes, if there is anybody to list.
  GPUTM_INLINE void list(loop_report& r, bool any) {
    ++r.w.lists;
    if (!any) return;
    r.w.lists |= loop_window::listing;
    r.w.again = 1;
  }
  /// The window's commits are done, or they are pending: then nothing happens if the next one cannot overlap them.
  GPUTM_INLINE void go_on(loop_report& r, std::uint32_t pending) {
    loop_window w = r.w;
    w.pending = pending;
    const bool trouble = w.commits != w.size || w.cut != 0 || (r.troubled.all != 0 && !window_size::hardly_again(r));
    w.wary = trouble ? long_memory : w.wary == 0 ? 0 : w.wary - 1;
    join(w, limits_.joint != 0 && r.found.has(loop_findings::long_rows));
    const bool is_next = r.too_long == r.w.commits && r.w.commits != 0 && w.is_joint();  // all warps load its rows
    w.base += w.commits;
    w.stretch = r.w.is_given_up() || is_next ? 0 : stretches().next(r);
    w.size = window_size(limits_).next(r);
    // where each position has a thread, and no commits are pending, all warps load them
    const bool shares = w.is_joint() && r.found.has(loop_findings::very_long_rows);
    if (shares && limits_.adapt && w.size > limits_.joint && limits_.smallest <= limits_.joint) w.size = limits_.joint;
    // It looks around itself, or uses logs, before that. So this is called again; a stretch was not decided, since such
    // a window has gone smoothly.
    if (pending != 0 && (w.wary != 0 || w.stretch != 0 || (shares && w.size <= limits_.joint))) return;
    begin(r, w);
  }
  /// Begins a repair of those of the first `left` positions that are in violation; the others are given up. `sure`:
  /// they were in the repair before as well, which nobody has looked at since.
  GPUTM_INLINE void repair(loop_report& r, std::uint32_t left, bool sure) {
    const std::uint32_t again = r.dirty.all < left ? r.dirty.all : left;
    if (left != r.w.size) r.w.cut = 1;
    r.w.size = left;
    if (!r.w.was_repaired()) {
      list(r, r.found.has(loop_findings::several));
      if (r.w.lists_now()) r.w.lists |= loop_window::before;
    }
    if (r.lengthy != 0) r.w.lists |= loop_window::patient;
    if (r.lengthy > 1) r.w.lists |= loop_window::spread;
    if (r.found.has(loop_findings::gathers)) r.w.lists |= loop_window::gathering;
    // nobody has been found to be in violation since the repair before, nor writes elsewhere than it did then
    const bool as_before = sure && r.w.is_dense() && r.w.marks_hold();
    r.w.lists = as_before ? r.w.lists | loop_window::noted : r.w.lists & ~loop_window::noted;
    if (window_size::is_dense(r, again, left)) r.w.lists |= loop_window::dense;
    r.w.from = r.violated;
    put_word(s_.dirty_before, again);
    s_.violated.forget();
    forget_dirty();
    put_word(s_.ran, std::uint64_t{r.ran} + again);
    ++r.w.repair;
    s_.ended.forget();
  }

  GPUTM_INLINE void give_up(loop_report& r) {
    r.w.commits = r.w.all_commit = r.w.repair = 0;
    r.w.cut = loop_window::all_cut;
    put_word(past_.calm, 0);
    count(s_.counters.rounds, 1);
  }

  /// All positions in violation are known: decide(), or begin a repair. `sure`: behind a repair that needed no check.
  GPUTM_INLINE void repair_or_decide(loop_report& r, bool may_repair, bool sure = false) {
    const bool none = r.dirty.all == 0 && r.violated >= r.w.size;
    if (!none && try_repair(r, may_repair, sure)) return;
    r.w.repair = 0;
    decide(r);
  }
  /// Whether the window is repaired, or given up. A repair halves the work that is left, or leaves little: if it did
  /// not, the window gives up its upper half, where violations are more frequent. If it came to hardly anything, that
  /// is three quarters.
  GPUTM_INLINE bool try_repair(loop_report& r, bool may_repair, bool sure) {
    const std::uint32_t size = r.w.size, dirty = r.dirty.all, lowest = r.violated;
    if (dirty != 0 && r.troubled.all == 0) {
      r.troubled = r.dirty;
      simt::plain_store(s_.troubled, r.troubled.word());
      if (may_repair && window_size(limits_).is_much_too_long(r)) {
        give_up(r);
        return true;
      }
    }
    const bool whole = limits_.repair_whole;
    const bool in_vain = whole && dirty >= r.dirty_before - r.dirty_before / 8;
    const bool much = !whole || window_size::are_many(dirty, size);
    const bool cut = in_vain || (much && dirty > r.dirty_before / 2);
    std::uint32_t left = !cut ? size : in_vain ? size / 4 : size / 2;
    if (r.too_long < left) left = r.too_long;
    const bool may_cut = limits_.adapt && left >= limits_.smallest;
    const bool useful =
        lowest < left && (!cut || may_cut) && !r.found.has(loop_findings::alone) && r.failed == 0 && r.ended > lowest;
    if (!may_repair || !useful || r.w.repair == limits_.repairs) return false;
    repair(r, left, sure);
    return true;
  }

 public:
  GPUTM_INLINE loop_plan(loop_state& s, const loop_limits& limits, loop_past& past, const element_ranges& ranges)
      : s_(s), limits_(limits), past_(past), ranges_(ranges) {}

  /// The first window, which all threads find out for themselves; the first serial section writes it down. The table
  /// holds what loops before this one have left.
  GPUTM_INLINE loop_window first() const { return first(known_past(past_)); }
  /// Whether the window is all of the loop, and the loops before have told which reads to log. Then, unless there is
  /// trouble, there is nothing to decide: it ends without a serial section.
  GPUTM_INLINE bool is_whole(const loop_window& w) const {
    return w.number == 1 && w.repair == 0 && w.size == limits_.iterations && w.logged != unknown;
  }
  /// Whether threads have found something in such a window that has to be decided about, beside what single iterations
  /// come to: a new range. That elements have several writers concerns the commit alone.
  static GPUTM_INLINE bool is_trouble(const loop_window& w, const loop_findings& mine) {
    return (mine.stored & ~w.logged) != 0;
  }
  /// Writes down what becomes of such a window unless there is trouble: all of it commits. One thread calls it.
  GPUTM_INLINE void foresee(loop_window w) {
    w.commits = w.size;
    w.plain = w.decided = w.all_commit = w.closing = w.foreseen = 1;
    store_window(s_, w);
  }
  /// It has come to that: writes down what the next loop and the counters need, once all have executed it. One thread
  /// calls it; commits may be under way. `checked`: it has had a check; `touched`: after which the next loop should not
  /// peek.
  GPUTM_INLINE void end_whole(const loop_window& w, bool checked, bool touched) {
    note_move(w);
    if (checked) {
      count(s_.counters.checked, 1);
      note_check(w, touched);
    }
    put_word(past_.tag, w.tag);
    put_word(past_.listed, 0);
    put_word(past_.calm, loop_past::known | to_log(w, found_in(s_)));
    count(s_.counters.rounds, 1);
    count(s_.counters.iterations, w.size);
    count(s_.counters.executed, w.size);
    simt::progress();
  }
  /// All iterations of a first pass have been executed. The window begins anew, or is checked, or needs no check: then
  /// it is decided, and the next one may begin already. `begins`: it was the loop's first window.
  GPUTM_INLINE void end_pass(bool begins, bool commits_are_local, bool may_repair) {
    loop_report r = look(begins);
    count(s_.counters.executed, r.w.size);  // a thread that has run fewer says so
    if (must_repeat(r))
      repeat(r);
    else
      prepare_check(r, commits_are_local, may_repair);
    store_window(s_, r.w);
  }
  /// The same behind a pass that has repaired, or made lists.
  GPUTM_INLINE void end_repair(bool may_repair) {
    loop_report r = look();
    r.w.again = r.w.lists_before();
    if (r.w.lists_now())
      r.w.lists &= ~(loop_window::listing | loop_window::before);
    else if (must_repeat(r))
      repeat(r);
    else
      look_at_repair(r, may_repair);
    store_window(s_, r.w);
  }
  /// The same where nothing is ever checked.
  GPUTM_INLINE void end_pass_unchecked(bool begins) {
    loop_report r = look(begins);
    decide(r);
    store_window(s_, r.w);
  }
  /// All iterations have been checked: repair_or_decide().
  GPUTM_INLINE void decide_or_repair(bool may_repair) {
    loop_report r = look();
    if (r.w.foreseen) {  // it has not come to that, and nobody has written down yet that its pass has ended
      begin_first(r);
      r.w.plain = 1;
      count(s_.counters.executed, r.w.size);
      count(s_.counters.checked, 1);
    }
    repair_or_decide(r, may_repair);
    store_window(s_, r.w);
  }
  /// The window's commits are done.
  GPUTM_INLINE void next() {
    loop_report r = look();
    go_on(r, 0);
    store_window(s_, r.w);
  }
  GPUTM_INLINE stretch_plan stretches() const { return {s_, limits_}; }
  /// The stretch before the window is done.
  GPUTM_INLINE void next_after_stretch() {
    loop_report r = look();
    loop_window w = r.w;
    const std::uint32_t done = r.stretched;
    // with its barrier, as a window's time is
    if (limits_.timed) simt::plain_store(s_.stretch_ns, simt::nanoseconds() - r.began);
    count(s_.counters.iterations, done);
    count(s_.counters.serial, done);
    w.logged |= r.found.stored;
    w.base += done;
    w.over = simt::plain_load(s_.stretch_over);
    if (done < w.stretch) stretches().restart();
    w.stretch = 0;
    // if timed, windows grow across stretches, until they are as fast as they can be
    if (!limits_.timed) w.size = limits_.adapt ? limits_.smallest : limits_.window;
    begin(r, w);
    store_window(s_, r.w);
  }
};

}  // namespace gputm::parts
