// Floor 2: what the threads of a speculative loop share besides data and marks: the window that is under way, and what
// its iterations have found out about it.
#pragma once

#include <cstdint>

#include "gputm/parts/element_ranges.hpp"
#include "gputm/parts/grid_barrier.hpp"
#include "gputm/parts/in_place_space.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/parts/writer_table.hpp"

namespace gputm {

/// Why an iteration could not commit in the window that executed it.
enum class violation : std::uint8_t {
  raw,       ///< it read what a lower iteration writes
  war,       ///< a higher iteration writes what it read, or what several have read (engines that write in place)
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
  std::uint32_t most_again = 0;    ///< where iterations depend on others far before them: that run again in a window
                                   ///< of the best size, about; 0: any number
  std::uint32_t patience = 0;      ///< looks of a repair whether another position has run
  std::uint32_t tags = 0;          ///< after which the table is cleared
  std::uint32_t joint = 0;         ///< positions, one a thread, of a window at most in whose first pass warps may load
                                   ///< long rows together; 0: of none
  bool adapt = true;               ///< the window follows the violations
  bool overlap = true;             ///< a window may overlap the commits of the one before
  bool peek = true;                ///< a window's reads may look for marks instead of being checked
  bool repair_whole = false;       ///< a window is repaired before it gives up positions
  bool timed = false;              ///< one thread runs iterations where it has been faster than windows
  bool first_may_be_all = false;   ///< a first window may be all of a loop

  GPUTM_INLINE constexpr void set_iterations(std::uint64_t n) {
    iterations = n;
    if (first_may_be_all && n <= window) first_window = window;
  }
};

/// One window. Written in serial sections, and by loop_plan::foresee before the first barrier.
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
  std::uint32_t wary = 0;         ///< windows for which violations are likely
  std::uint32_t lists = 0;     ///< of those who write to elements with several writers: 0 if there are none yet, else
                               ///< how often they have been made; beside it `listing`, `before`, `doubtful`,
                               ///< `patient`, `spread`, `dense`, `noted`, `gathering`
  std::uint32_t over = 0;      ///< there is none
  std::uint32_t closing = 0;   ///< no window follows its commits, once they are known
  std::uint32_t plain = 0;     ///< all positions have run in a first pass without incident, whatever statuses say
  std::uint32_t decided = 0;   ///< nothing needs a check: it is known already which positions commit
  std::uint32_t again = 0;     ///< nobody looks at what the pass has come to, since another one follows at once
  std::uint32_t cut = 0;       ///< it has given up positions; all_cut: all of them
  std::uint32_t repair = 0;    ///< which one is under way; 0: the first pass over all iterations
  std::uint32_t from = 0;      ///< positions below are right, and run no more
  std::uint32_t pending = 0;   ///< positions below are those of the window before, and still to be written back, by
                               ///< each warp before it begins with this one: the two overlap
  std::uint32_t offset = 0;    ///< of element_ranges; beside it `moved` if the loop before had another one,
                               ///< `peeking`, `joint`
  std::uint32_t mixed = 0;     ///< ranges that loops are known to store to, and of which this one has logged reads
  std::uint32_t foreseen = 0;  ///< as written down before it began (loop_plan::foresee): nobody has decided otherwise
  std::uint32_t number = 0;    ///< tells windows apart

  static constexpr std::uint32_t all_cut = 2;
  GPUTM_INLINE bool is_given_up() const { return cut == all_cut; }

  static constexpr std::uint32_t listing = 1u << 31, before = 1u << 30, doubtful = 1u << 29, patient = 1u << 28;
  static constexpr std::uint32_t dense = 1u << 27, noted = 1u << 26, spread = 1u << 25, gathering = 1u << 24;
  /// Whether the pass makes lists, and does nothing else; whether it does so before the repair that has been decided
  /// on, or else before a check; and which ones there are then.
  GPUTM_INLINE bool lists_now() const { return (lists & listing) != 0; }
  GPUTM_INLINE bool lists_before() const { return (lists & before) != 0; }
  GPUTM_INLINE std::uint32_t which_lists() const { return lists & (gathering - 1); }
  /// Whether some of it has run again, or is about to.
  GPUTM_INLINE bool was_repaired() const { return which_lists() != 0; }
  /// Whether all iterations run in it.
  GPUTM_INLINE bool is_first_pass() const { return repair == 0 && !lists_now(); }
  /// Whether all that have marked an element write it (loop_findings::unmarked).
  GPUTM_INLINE bool marks_hold() const { return (lists & doubtful) == 0; }

  /// Whether many of its positions run again, so that many of those need each other's values, and no long iterations.
  GPUTM_INLINE bool is_dense() const { return (lists & (dense | patient)) == dense; }
  /// Whether those that run again in a dense window know from the repair before whose values they are to take.
  GPUTM_INLINE bool has_notes() const { return (lists & noted) != 0; }
  /// Whether some of those that run again in it are so long that they are dealt out to all warps, from now on until it
  /// ends: what threads know of their positions is no longer exact, but statuses are.
  GPUTM_INLINE bool is_spread() const { return (lists & spread) != 0; }
  /// Whether those lanes that run these go together, and load for each other what bodies gather (reduce_each).
  GPUTM_INLINE bool gathers() const { return (lists & gathering) != 0; }
  /// Looks of one that runs again whether another one has: more in a window with long iterations that do. Who gives up
  /// would run once more, in another repair, and that takes as long as the longest of them.
  GPUTM_INLINE std::uint32_t patience(std::uint32_t looks) const {
    constexpr std::uint32_t longer = 1024;
    if ((lists & patient) == 0) return looks;
    return looks <= ~0u / longer ? looks * longer : ~0u;
  }

  static constexpr std::uint32_t moved = 1u << 31, peeking = 1u << 30, joint = 1u << 29;
  GPUTM_INLINE std::uint32_t range_offset() const { return offset & ~(moved | peeking | joint); }
  /// Whether all warps load long rows together in its first pass (joint_space), since there are likely to be some.
  GPUTM_INLINE bool is_joint() const { return (offset & joint) != 0; }
  /// Whether logged reads look for marks: there is nothing to check if none of their elements has one, of whatever
  /// kind, and all elements that the window stores to had one before. Of a loop's first window, if that is all of it.
  GPUTM_INLINE bool peeks() const { return (offset & peeking) != 0; }
  GPUTM_INLINE bool has_one_mixed() const { return mixed != 0 && (mixed & (mixed - 1)) == 0; }
  GPUTM_INLINE bool has_moved() const { return (offset & moved) != 0; }
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
  static constexpr std::uint32_t unlisted = 4;   ///< some writes should be in lists of their elements' writers, and are
                                                 ///< not
  static constexpr std::uint32_t last_seen = 8;  ///< some body has ended the loop
  static constexpr std::uint32_t alone = 16;     ///< the first position has writes without marks: it commits, and no
                                                 ///< other
  static constexpr std::uint32_t overlap_failed = 32;  ///< it overlaps commits, and does not go smoothly
  static constexpr std::uint32_t peeked = 64;    ///< of a window that peeks: an element of a logged read has a mark, or
                                                 ///< one that was stored to had none
  static constexpr std::uint32_t gathers = 128;  ///< lanes have loaded for each other (shared_loads)
  static constexpr std::uint32_t long_rows = 256;       ///< of rows so long that all warps might have (joint_space)
  static constexpr std::uint32_t very_long_rows = 512;  ///< of some that several warps share then
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
  std::uint64_t iterations, rounds, checked, executed, forwarded, serial, in_place;
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

/// How many positions of a window are in violation; in a word, which all threads add to.
struct dirty_count {
  std::uint32_t all, below;  ///< below: of those, below the window's middle
  static GPUTM_INLINE dirty_count of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  GPUTM_INLINE std::uint64_t word() const { return std::uint64_t{below} << 32 | all; }
  /// Whether iterations depend on others far before them: then more of those above the middle are in violation.
  GPUTM_INLINE bool reach_far() const { return std::uint64_t{below} * 32 < std::uint64_t{all} * 15; }
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
  std::uint64_t dirty;               ///< a dirty_count; behind a repair it has none below
  std::uint64_t troubled;            ///< the one of the first check that has found any
  lowest_position too_long;          ///< whose log was full: it commits as a window's first only
  std::uint32_t lengthy;             ///< 1: some of those in violation have read many elements; 2: very many
  std::uint32_t dirty_before;        ///< as of the check before
  std::uint32_t ran;                 ///< in this window: runs of bodies
  std::uint32_t failed;              ///< the first iteration of the window has reported an error
  alignas(128) std::uint64_t joint;  ///< joint_space
  alignas(128) in_place_words in_place;
  scout_words scout;
  grid_barrier_words in_place_barrier;
  loop_counters counters;
};

/// What has been found out about the window so far.
GPUTM_INLINE loop_findings found_in(loop_state& s) {
  return loop_findings::of(simt::atomic(s.found[0]).load(simt::order::relaxed),
                           simt::atomic(s.found[1]).load(simt::order::relaxed));
}
/// The same behind the phase in which it was found. All threads may ask at once: these loads mostly go no further than
/// the cache of their multiprocessor, while those of atomics come to one place from all of them.
GPUTM_INLINE loop_findings known_in(const loop_state& s) {
  return loop_findings::of(simt::plain_load(s.found[0]), simt::plain_load(s.found[1]));
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

}  // namespace parts
}  // namespace gputm
