// Floor 2: what the threads of a speculative loop share besides data and marks: the window that is under way, what
// its iterations have found out about it, and the choice of the next one.
//
//   window k:  [base, base + size)   execute | check | commit the first `commits` | plan
//                                    ^       v  at most `repairs` times, for the iterations in violation only; if those
//                                    |       |  are too many, the window gives up its upper half first
//   window k+1 begins at base + commits: failed iterations are executed again together with new ones; it may overlap
//   the commits of window k, if it reads no range that the loop has stored to
#pragma once

#include <cstdint>

#include "gputm/parts/element_ranges.hpp"
#include "gputm/parts/grid_barrier.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/parts/writer_table.hpp"

namespace gputm {

/// Why an iteration could not commit in the window that executed it.
enum class violation : std::uint8_t {
  raw,       ///< it read what a lower iteration writes
  war,       ///< a higher iteration writes what it read (engines that write in place)
  waw,       ///< both write (engines that write in place)
  crowded,   ///< the table of writers had no room for one of its writes
  capacity,  ///< it read or wrote more elements than the logs hold
  body       ///< the body went astray: an index out of range, a runaway, a retry
};
inline constexpr unsigned violation_kinds = 6;

namespace parts {

/// What a loop is allowed to do; constant while it runs.
struct loop_limits {
  std::uint64_t iterations = 0;
  std::uint32_t operations = 0;    ///< loads and stores of one iteration, after which it counts as a runaway
  std::uint32_t window = 0;        ///< positions
  std::uint32_t first_window = 0;  ///< positions of the first one
  std::uint32_t smallest = 0;      ///< positions that an adapted window has at least
  std::uint32_t stretch = 0;       ///< iterations that one thread may run in a row; 0: never
  std::uint32_t repairs = 0;       ///< of a window, at most
  std::uint32_t tags = 0;          ///< after which the table is cleared
  bool adapt = true;               ///< the window follows the violations
  bool overlap = true;             ///< a window may overlap the commits of the one before
  bool timed = false;              ///< one thread runs iterations where it has been faster than windows
};

/// One window. Written in serial sections only.
struct loop_window {
  std::uint64_t base = 0;         ///< the first iteration
  std::uint32_t size = 0;         ///< iterations
  std::uint32_t tag = 0;          ///< in the table of writers
  std::uint32_t logged = 0;       ///< element_ranges of which reads are logged
  std::uint32_t stretch = 0;      ///< not a window: thread 0 runs so many iterations, one after another
  std::uint32_t commits = 0;      ///< positions that commit, once that is known
  std::uint32_t all_commit = 0;   ///< so the marks of last writers are right as they are
  std::uint32_t several = 0;      ///< some element has several writers
  std::uint32_t clear_table = 0;  ///< before it begins
  std::uint32_t wary = 0;         ///< windows for which violations are likely: single loads look for lower writers, and
                                  ///< all writers of an element are listed
  std::uint32_t list = 0;         ///< it has become wary: those that do not run again list their writes
  std::uint32_t over = 0;         ///< there is none
  std::uint32_t closing = 0;      ///< no window follows its commits, once they are known
  std::uint32_t plain = 0;        ///< all positions have run in a first pass without incident, whatever statuses say
  std::uint32_t decided = 0;      ///< nothing needs a check: it is known already which positions commit
  std::uint32_t cut = 0;          ///< it has given up positions
  std::uint32_t repair = 0;       ///< which one is under way; 0: the first pass over all iterations
  std::uint32_t from = 0;         ///< positions below are right, and run no more
  std::uint32_t pending = 0;      ///< positions below are those of the window before, and still to be written back, by
                                  ///< each warp before it begins with this one: the two overlap
  std::uint32_t number = 0;       ///< tells windows apart
};

/// What iterations have found out about their window.
struct loop_findings {
  std::uint32_t stored = 0;         ///< element_ranges that were stored to
  std::uint32_t read_unlogged = 0;  ///< those of which reads are in no log
  std::uint32_t read_logged = 0;    ///< those of which reads are in logs
  std::uint32_t flags = 0;

  static constexpr std::uint32_t unmarked = 1;   ///< some marks are of writes that came to nothing, or an iteration may
                                                 ///< not have written to the elements that it did when it ran before
  static constexpr std::uint32_t several = 2;    ///< some element has several writers
  static constexpr std::uint32_t unlisted = 4;   ///< some writes are not in the lists of their elements' writers
  static constexpr std::uint32_t last_seen = 8;  ///< some body has ended the loop
  static constexpr std::uint32_t alone = 16;     ///< the first position has writes without marks: it commits, and no
                                                 ///< other
  static constexpr std::uint32_t overlap_failed = 32;  ///< it overlaps commits, and does not go smoothly
  GPUTM_INLINE constexpr bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
  GPUTM_INLINE constexpr void add(const loop_findings& f) {
    stored |= f.stored;
    read_unlogged |= f.read_unlogged;
    read_logged |= f.read_logged;
    flags |= f.flags;
  }

  /// As they lie in loop_state: two words, so that adding to them takes two operations at most.
  static constexpr unsigned words = 2;
  GPUTM_INLINE constexpr std::uint64_t word(unsigned k) const {
    return k == 0 ? stored | std::uint64_t{read_unlogged} << 32 : read_logged | std::uint64_t{flags} << 32;
  }
  static GPUTM_INLINE constexpr loop_findings of(std::uint64_t first, std::uint64_t second) {
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
            static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(second >> 32)};
  }
};

struct alignas(128) loop_counters {
  std::uint64_t iterations, rounds, executed, forwarded, serial;
  std::uint64_t violations[violation_kinds];
};

/// The lowest of the positions that threads have named; zero before that.
class lowest_position {
  using order = simt::order;
  std::uint32_t above_;  // it is so far below writer_table::none

 public:
  // relaxed: what matters is read in the serial section behind the phase, and before that it is a hint
  GPUTM_INLINE void name(std::uint32_t p) { simt::atomic(above_).fetch_max(writer_table::none - p, order::relaxed); }
  /// writer_table::none if nobody has named one.
  GPUTM_INLINE std::uint32_t get() { return writer_table::none - simt::atomic(above_).load(order::relaxed); }
  GPUTM_INLINE void forget() { simt::atomic(above_).store(0, order::relaxed); }
};

/// All zero before a loop begins.
struct loop_state {
  grid_barrier_words barrier;
  alignas(128) loop_window now;
  std::uint32_t next_stretch;             ///< iterations of the next stretch
  std::uint32_t stretched;                ///< iterations that thread 0 has run in the last one
  std::uint32_t stretch_over;             ///< in which the loop has come to its end
  std::uint32_t rival_commits;            ///< of the window before it; 0: the stretch need not be faster
  std::uint64_t rival_ns;                 ///< nanoseconds of that window
  std::uint64_t stretch_ns;               ///< of the last stretch, less the longer ago it was; 0: nobody knows
  std::uint64_t began;                    ///< nanoseconds when the window or stretch did; 0: its time tells nothing
  alignas(128) lowest_position violated;  ///< that must not commit
  lowest_position ended;                  ///< whose body ended the loop
  std::uint64_t found[loop_findings::words];
  lowest_position too_long;    ///< whose log was full: it commits as a window's first only
  std::uint32_t dirty;         ///< positions in violation
  std::uint32_t dirty_before;  ///< as of the check before
  std::uint32_t ran;           ///< in this window: runs of bodies
  std::uint32_t troubled;      ///< some positions have been in violation
  std::uint32_t failed;        ///< the first iteration of the window has reported an error
  loop_counters counters;
};

/// What has been found out about the window so far.
GPUTM_INLINE loop_findings found_in(loop_state& s) {
  return loop_findings::of(simt::atomic(s.found[0]).load(simt::order::relaxed),
                           simt::atomic(s.found[1]).load(simt::order::relaxed));
}
GPUTM_INLINE void add_findings(loop_state& s, const loop_findings& f) {
  const loop_findings known = found_in(s);  // words that all threads change are slow
  GPUTM_UNROLL
  for (unsigned k = 0; k < loop_findings::words; ++k) {
    if ((f.word(k) & ~known.word(k)) == 0) continue;
    // relaxed: read in the serial section behind the phase, or behind that
    simt::atomic(s.found[k]).fetch_or(f.word(k), simt::order::relaxed);
  }
}

/// The functions of serial sections: one thread at a time, between two rounds of the barrier.
class loop_plan {
  using order = simt::order;
  loop_state& s_;
  const loop_limits& limits_;
  loop_past& past_;
  const element_ranges& ranges_;

  static constexpr std::uint32_t few = 8, some = 32, many = 64, plenty = 1024;  // commits of a round
  static constexpr std::uint32_t few_again = 32;                                // one iteration in so many
  static constexpr std::uint32_t long_memory = 4;  // windows that are wary after one with a violation
  static constexpr std::uint32_t unknown = ~0u;    // so all reads are logged

  /// The ranges of which reads must be logged after a window in which those of `before` were, and `f` was found: what
  /// the loop has stored to, and all of an array where it has both stored to a range and read it. Of what earlier loops
  /// have left, the first window keeps arrays that this one stores to as well.
  GPUTM_INLINE std::uint32_t to_log(std::uint64_t base, std::uint32_t before, const loop_findings& f) const {
    const std::uint32_t known = before == unknown ? 0 : ranges_.of_arrays_within(before);
    const std::uint32_t kept = base != 0 ? before : known & ranges_.of_arrays_with(f.stored);
    return kept | f.stored | ranges_.of_arrays_with(f.stored & f.read_logged);
  }
  static GPUTM_INLINE std::uint32_t at_most(std::uint64_t a, std::uint32_t b) {
    return a < b ? static_cast<std::uint32_t>(a) : b;
  }
  static GPUTM_INLINE std::uint32_t get(std::uint32_t& word) { return simt::atomic(word).load(order::relaxed); }
  static GPUTM_INLINE void set(std::uint32_t& word, std::uint32_t v) { simt::atomic(word).store(v, order::relaxed); }
  static GPUTM_INLINE void put(std::uint32_t& word, std::uint64_t v) {
    simt::plain_store(word, static_cast<std::uint32_t>(v));
  }
  GPUTM_INLINE void count(std::uint64_t& counter, std::uint64_t n) {
    simt::atomic(counter).fetch_add(n, order::relaxed);
  }
  /// The words that iterations change.
  GPUTM_INLINE void reset() {
    s_.violated.forget();
    s_.ended.forget();
    for (std::uint64_t& word : s_.found) simt::atomic(word).store(0, order::relaxed);
    s_.too_long.forget();
    set(s_.dirty, 0);
  }
  /// The size of the window after `w`, of which `commits` positions committed.
  GPUTM_INLINE std::uint32_t next_size(const loop_window& w, std::uint32_t commits) const {
    if (!limits_.adapt) return limits_.window;
    const bool troubled = simt::plain_load(s_.troubled) != 0;
    // means nothing if positions have been given up, and then is not asked for
    const std::uint64_t again = simt::plain_load(s_.ran) - std::uint64_t{w.size};
    const bool hardly = again * few_again < w.size;
    const unsigned growth = commits != w.size ? 4 : !troubled ? 16 : w.cut ? 1 : hardly ? 4 : 2;
    const std::uint32_t size = at_most(std::uint64_t{commits} * growth, limits_.window);
    return size < limits_.smallest ? limits_.smallest : size;
  }
  /// Whether one thread would have been faster than a window that has not gone smoothly. While nobody knows, it is
  /// taken to be, so that it is tried; and its time counts less with every such window, so that it is tried again.
  GPUTM_INLINE bool loses_to_one_thread(const loop_window& w, std::uint32_t commits) {
    const std::uint64_t began = simt::plain_load(s_.began);
    const bool smooth = commits == w.size && simt::plain_load(s_.troubled) == 0;
    if (began == 0 || smooth || commits >= plenty) return false;  // of so many one thread is not worth trying
    const std::uint64_t took = simt::nanoseconds() - began;
    const std::uint64_t ns = simt::plain_load(s_.stretch_ns), stretched = simt::plain_load(s_.stretched);
    simt::plain_store(s_.stretch_ns, ns - ns / 16);
    simt::plain_store(s_.rival_ns, took);
    put(s_.rival_commits, commits);
    return ns == 0 || took * stretched >= ns * commits;
  }
  /// How many iterations one thread should run first, since a window commits hardly more, runs far more than that, or
  /// takes longer.
  GPUTM_INLINE std::uint32_t next_stretch(const loop_window& w, std::uint32_t commits) {
    if (!limits_.adapt || limits_.stretch == 0) return commits == 0;  // the window's first iteration must get through
    const bool untimed = simt::plain_load(s_.began) == 0;  // else the clock tells more than the number of runs
    const bool in_vain = untimed && commits < many && simt::plain_load(s_.ran) > 3 * commits;
    const bool failed = in_vain || (commits < few && commits != w.size);
    put(s_.rival_commits, 0);
    if (!failed && !loses_to_one_thread(w, commits)) {
      if (commits >= (limits_.timed ? few : some)) put(s_.next_stretch, some);
      return 0;
    }
    const std::uint32_t now = simt::plain_load(s_.next_stretch);
    put(s_.next_stretch, at_most(std::uint64_t{now} * 2, limits_.stretch));
    return at_most(now, limits_.stretch);
  }
  /// A window of which base, size, stretch and what is expected of it are known, ready to begin.
  GPUTM_INLINE loop_window prepare(loop_window w) const {
    const std::uint64_t left = limits_.iterations - w.base;
    w.size = at_most(left, w.size);
    w.stretch = at_most(left, w.stretch);
    w.clear_table = w.tag + 3 > limits_.tags;
    w.tag = w.clear_table ? 1 : w.tag + 2;
    w.commits = w.all_commit = w.several = w.repair = w.closing = w.plain = w.decided = w.cut = w.list = w.from = 0;
    w.over = w.over || left == 0;
    ++w.number;
    return w;
  }
  /// Begins a window, but for the words that iterations change.
  GPUTM_INLINE void enter(const loop_window& w) {
    if (!w.over) put(past_.tag, w.tag);  // else nobody clears the table, nor uses the tag
    put(s_.dirty_before, w.size);
    put(s_.ran, w.size);
    put(s_.troubled, 0);
    // windows that expect no violations run other code, and mostly commit whole; clearing takes time that is not theirs
    simt::plain_store(s_.began, limits_.timed && w.wary != 0 && !w.clear_table ? simt::nanoseconds() : 0);
    store(w);
    simt::progress();
  }
  GPUTM_INLINE void begin(const loop_window& w) {
    enter(prepare(w));
    reset();
  }
  GPUTM_INLINE void store(const loop_window& w) {
    simt::plain_store(s_.now.base, w.base);
    put(s_.now.size, w.size);
    put(s_.now.tag, w.tag);
    put(s_.now.logged, w.logged);
    put(s_.now.stretch, w.stretch);
    put(s_.now.commits, w.commits);
    put(s_.now.all_commit, w.all_commit);
    put(s_.now.several, w.several);
    put(s_.now.clear_table, w.clear_table);
    put(s_.now.wary, w.wary);
    put(s_.now.list, w.list);
    put(s_.now.over, w.over);
    put(s_.now.closing, w.closing);
    put(s_.now.plain, w.plain);
    put(s_.now.decided, w.decided);
    put(s_.now.cut, w.cut);
    put(s_.now.repair, w.repair);
    put(s_.now.from, w.from);
    put(s_.now.pending, w.pending);
    put(s_.now.number, w.number);
  }

 public:
  GPUTM_INLINE loop_plan(loop_state& s, const loop_limits& limits, loop_past& past, const element_ranges& ranges)
      : s_(s), limits_(limits), past_(past), ranges_(ranges) {}

  /// The window as the last serial section left it.
  static GPUTM_INLINE loop_window current(loop_state& s) {
    return {simt::plain_load(s.now.base),       simt::plain_load(s.now.size),    simt::plain_load(s.now.tag),
            simt::plain_load(s.now.logged),     simt::plain_load(s.now.stretch), simt::plain_load(s.now.commits),
            simt::plain_load(s.now.all_commit), simt::plain_load(s.now.several), simt::plain_load(s.now.clear_table),
            simt::plain_load(s.now.wary),       simt::plain_load(s.now.list),    simt::plain_load(s.now.over),
            simt::plain_load(s.now.closing),    simt::plain_load(s.now.plain),   simt::plain_load(s.now.decided),
            simt::plain_load(s.now.cut),        simt::plain_load(s.now.repair),  simt::plain_load(s.now.from),
            simt::plain_load(s.now.pending),    simt::plain_load(s.now.number)};
  }

  /// The first window, which all threads find out for themselves. If nobody knows yet which ranges the loop stores to,
  /// all reads are logged; it is taken to store to those of a calm loop before it. The table holds what loops before
  /// this one have left.
  GPUTM_INLINE loop_window first() const {
    loop_window w;
    const std::uint32_t calm = simt::plain_load(past_.calm);
    w.size = calm != 0 ? limits_.window : limits_.first_window;
    w.tag = simt::plain_load(past_.tag);
    w.logged = calm != 0 ? calm & element_ranges::all : unknown;
    return prepare(w);
  }
  /// Writes it down, in the first serial section of the loop. The words that iterations change are as they should be.
  GPUTM_INLINE void start() {
    put(s_.next_stretch, some);
    enter(first());
  }
  /// All iterations have been executed. Before a check: what earlier ones have found does not count. Without one:
  /// decide(), and perhaps next().
  GPUTM_INLINE void prepare_check(bool commits_are_local) {
    const std::uint32_t repair = simt::plain_load(s_.now.repair), violated = s_.violated.get();
    const loop_findings f = found_in(s_);
    if (repair != 0) {
      put(s_.now.plain, 0);
      s_.violated.forget();
      set(s_.dirty, 0);
    } else if (violated == writer_table::none && !f.has(loop_findings::last_seen)) {
      put(s_.now.plain, 1);
      if ((f.stored & f.read_logged) == 0) {
        put(s_.now.decided, 1);
        decide();
        if (commits_are_local && may_overlap(f)) next(simt::plain_load(s_.now.commits));
      }
    }
  }
  /// It is known which iterations are in violation: how many of them commit. They count as done.
  GPUTM_INLINE void decide() {
    const std::uint32_t size = simt::plain_load(s_.now.size), violated = s_.violated.get(), ended = s_.ended.get();
    const std::uint32_t failed = get(s_.failed), troubled = simt::plain_load(s_.troubled);
    const std::uint32_t wary = simt::plain_load(s_.now.wary), logged = simt::plain_load(s_.now.logged);
    const std::uint64_t base = simt::plain_load(s_.now.base);
    const loop_findings f = found_in(s_);
    std::uint32_t commits = violated < size ? violated : size;
    if (f.has(loop_findings::alone) && commits > 1) commits = 1;
    if (ended < commits) commits = ended + 1;
    put(s_.now.commits, commits);
    put(s_.now.all_commit, commits == size && !f.has(loop_findings::unmarked));
    put(s_.now.several, f.has(loop_findings::several));
    const bool over = ended < commits || failed != 0;
    const bool calm = commits == size && !over && troubled == 0 && wary == 0;
    const std::uint32_t log = to_log(base, logged, f);
    put(s_.now.logged, log);  // from the next window on
    put(past_.calm, calm ? loop_past::known | log : 0);
    put(s_.now.over, over);
    put(s_.now.closing, over || base + commits == limits_.iterations);
    count(s_.counters.rounds, 1);
    count(s_.counters.iterations, commits);
  }
  /// All iterations have been checked, so each one in violation is known: decide(), or begin a repair. A repair halves
  /// the work that is left: if it did not, the window gives up its upper half, where violations are more frequent.
  GPUTM_INLINE void decide_or_repair(bool may_repair) {
    const std::uint32_t repair = simt::plain_load(s_.now.repair), size = simt::plain_load(s_.now.size);
    const std::uint32_t before = simt::plain_load(s_.dirty_before), dirty = get(s_.dirty), lowest = s_.violated.get();
    const std::uint32_t too_long = s_.too_long.get(), failed = get(s_.failed), ended = s_.ended.get();
    const loop_findings f = found_in(s_);
    if (dirty != 0) put(s_.troubled, 1);
    const bool cut = dirty > before / 2;
    std::uint32_t left = cut ? size / 2 : size;
    if (too_long < left) left = too_long;
    const bool may_cut = limits_.adapt && left >= limits_.smallest;
    const bool useful =
        lowest < left && (!cut || may_cut) && !f.has(loop_findings::alone) && failed == 0 && ended > lowest;
    if (!may_repair || !useful || repair == limits_.repairs) {
      put(s_.now.repair, 0);
      return decide();
    }
    if (left != size) {
      put(s_.now.cut, 1);
      add_findings(s_, {.flags = loop_findings::unmarked});  // those that it gives up have marked what they write
    }
    put(s_.now.size, left);
    const std::uint32_t again = dirty < left ? dirty : left;
    const bool list = simt::plain_load(s_.now.wary) == 0;
    put(s_.now.list, list);
    put(s_.now.from, list ? 0 : lowest);
    if (list) put(s_.now.wary, long_memory);
    put(s_.dirty_before, list ? 2 * again : again);  // without lists a repair may come to nothing
    put(s_.ran, std::uint64_t{simt::plain_load(s_.ran)} + again);
    put(s_.now.repair, repair + 1);
    s_.ended.forget();
  }
  /// Whether the window must run again: because a range has been written that was read without a log, or after the
  /// commits that it overlapped.
  GPUTM_INLINE bool must_repeat() {
    const loop_findings f = found_in(s_);
    return (f.stored & f.read_unlogged) != 0 || f.has(loop_findings::overlap_failed);
  }
  GPUTM_INLINE void repeat() {
    loop_window w = current(s_);
    const loop_findings f = found_in(s_);
    w.logged |= f.stored | ranges_.of_arrays_with(f.stored & f.read_unlogged);
    if (f.has(loop_findings::overlap_failed)) put(past_.no_overlap, 1);
    w.pending = 0;
    count(s_.counters.rounds, 1);
    begin(w);
  }
  /// Whether the next window can overlap the commits of this one, which is decided: all of it commits, in any order.
  /// Whether it should: this one has logged no reads, so that the next one may not want to either.
  GPUTM_INLINE bool may_overlap(const loop_findings& f) const {
    const bool can = simt::plain_load(s_.now.closing) == 0 && !f.has(loop_findings::several) &&
                     simt::plain_load(s_.now.commits) == simt::plain_load(s_.now.size);
    return can && limits_.overlap && simt::plain_load(past_.no_overlap) == 0 && f.read_logged == 0;
  }
  /// The window's commits are done. Or they are pending; then nothing happens if the next one cannot overlap them.
  GPUTM_INLINE void next(std::uint32_t pending = 0) {
    loop_window w = current(s_);
    w.pending = pending;
    const bool trouble = simt::plain_load(s_.troubled) != 0 || w.commits != w.size;
    w.wary = trouble ? long_memory : w.wary == 0 ? 0 : w.wary - 1;
    w.base += w.commits;
    w.stretch = next_stretch(w, w.commits);
    w.size = next_size(w, w.commits);
    // It looks around itself, or uses logs, before that. So this is called again; a stretch was not decided, since such
    // a window has gone smoothly.
    if (pending != 0 && (w.wary != 0 || w.stretch != 0)) return;
    begin(w);
  }
  // Thread 0 calls these three, before the barrier: others still read the window.
  GPUTM_INLINE void begin_stretch() {
    if (limits_.timed) simt::plain_store(s_.began, simt::nanoseconds());
  }
  /// Whether the stretch should end after `done` iterations, since windows are faster. It may begin slowly.
  GPUTM_INLINE bool is_beaten(std::uint64_t done) const {
    if (!limits_.timed || done == 0 || ((done & (done - 1)) != 0 && done % some != 0)) return false;
    const std::uint64_t commits = simt::plain_load(s_.rival_commits);
    const std::uint64_t ns = simt::nanoseconds() - simt::plain_load(s_.began);
    return ns * commits > (done + commits / 4) * simt::plain_load(s_.rival_ns);
  }
  GPUTM_INLINE void note_stretch(std::uint32_t done, bool over) {
    put(s_.stretched, done);
    put(s_.stretch_over, over);
  }
  GPUTM_INLINE void next_after_stretch() {
    loop_window w = current(s_);
    const std::uint32_t done = simt::plain_load(s_.stretched);
    // with its barrier, as a window's time is
    if (limits_.timed) simt::plain_store(s_.stretch_ns, simt::nanoseconds() - simt::plain_load(s_.began));
    count(s_.counters.iterations, done);
    count(s_.counters.serial, done);
    w.logged |= found_in(s_).stored;
    w.base += done;
    w.over = simt::plain_load(s_.stretch_over);
    if (done < w.stretch) put(s_.next_stretch, some);
    w.stretch = 0;
    // if timed, windows grow across stretches, until they are as fast as they can be
    if (!limits_.timed) w.size = limits_.adapt ? limits_.smallest : limits_.window;
    begin(w);
  }
};

}  // namespace parts
}  // namespace gputm
