// Floor 3: loops whose iterations run speculatively with deferred writes: the phases that GPU-TLS and its baseline
// with in-order commit share. One persistent kernel; the phases of a window are separated by grid-wide barriers.
//
//   execute   run the iterations of the window; log what they read and from whom, defer and mark what they write
//   check     an iteration is in violation unless all it read is what the last lower writer writes, or is memory's
//             where no lower one writes; nothing to do if no logged read is of a range (element_ranges) that was
//             stored to, or if reads have looked for marks and need no more (needs_check). Reads without a log are of
//             ranges that nobody has stored to: else the window begins anew
//   repair    run those in violation again, which now see the others' deferred writes; check again, unless that can
//             find nothing (loop_plan::is_sure)
//   commit    the iterations below the lowest violation write back
//
// Why the result is the sequential loop's: take the iterations below the lowest violation, in order. Each one read
// from memory what no lower one of the window writes, and everything else from the last lower writer's log, which
// has not changed since and is right by induction. All of them commit, and the last writer of each element prevails.
// The lowest iteration of a window is never in violation, so each window commits one at least,
// unless that one ends the loop by an error, or the window begins anew (loop_plan::must_repeat).
//
// A repair looks at few positions only: those in violation run again, and as long as each writes to the elements that
// it wrote to before, only they and those that have read from others can be wrong afterwards; nor do marks of last
// writers change. Else (unmarked: one has written elsewhere, or failed after a write, or the window has given up
// positions) all reads of the window are checked each time, and last writers are counted again. One that came too early
// for what it reads counts as a writer of what it wrote before, until it has run again.
//
// Marks tell who writes an element last below a position, where it has one writer, or all are below. Else lists tell,
// of those positions that share elements: a pass makes them before a window's first repair, or before its first check
// if it expected violations; and anew if a repair writes what it did not before, and shares that.
//
// After a window that needed no check, all of which commits, and no element of which has several writers, the next one
// overlaps these commits: each warp writes back what it has executed, and goes on without a barrier. Meanwhile memory
// may lack any of what the loop has stored so far, all of which lies in ranges whose reads are logged. In such a window
// no iteration reads one of those, nor goes wrong in another way: else it begins anew, behind the barrier that ends its
// execution, and so behind those commits. If none does, nothing has been logged, and again there is nothing to check.
#pragma once

#include "gputm/parts/position_set.hpp"
#include "gputm/speculation/deferred_access.hpp"
#include "gputm/speculation/in_place_learning.hpp"
#include "gputm/speculation/window_thread.hpp"

namespace gputm::speculation {

/// One thread of such a loop. Options: see deferred_access. Commit: operator()(environment, window, table, writers,
/// barrier) writes back what commits; is_local, and then write_back(), see parallel_commit.
template <class Options, class Commit, class Body>
class deferred_update : window_thread<Body> {
  using order = simt::order;
  using base = window_thread<Body>;
  using base::barrier_, base::body_, base::env_, base::log, base::plan_, base::w_;

  parts::writer_table table_;
  parts::window_view view_;
  /// Of this thread, in a window that is wary or needs a check. It lies in memory: windows that go smoothly have no
  /// registers for it, and do not initialise it; they touch nothing of it but `trouble` and `logs`, and load no more.
  struct positions {
    parts::position_set due;      ///< run again in this repair
    parts::position_set left;     ///< in violation as far as is known: run again in the next one
    parts::position_set readers;  ///< have logged reads, failed, or ended the loop: a check has to see them
    parts::position_set watched;  ///< have read from others, or ended the loop: each check has to see them
    parts::position_set writers;  ///< have something to write back
    bool trouble;                 ///< in this calm pass some have done what a serial section has to see
    bool logs;                    ///< of this calm pass, if it was one: logs tell how many reads there are

    /// Nobody knows what a calm pass has done, unless none of this thread's positions has logged a read.
    GPUTM_INLINE void forget() {
      writers = parts::position_set::all();
      readers = logs ? writers : parts::position_set{};
      watched = due = left = {};
    }
  };
  /// What the iterations of a pass have done, those of this thread.
  struct pass_result {
    parts::loop_findings found;
    std::int32_t executed = 0;  ///< runs of bodies; in a first pass, beyond those of all positions
    std::uint32_t failed = 0;   ///< of a repair
    std::uint64_t forwarded = 0;
    std::uint32_t logs = 0;  ///< as positions::logs; a word: it lives in a register
  };

  /// Whether every position of a window is checked, so that those in violation can be repaired.
  GPUTM_INLINE bool repairs() const { return Options::repair && env_.limits.repairs != 0; }

  static GPUTM_INLINE std::uint32_t position(std::uint32_t turn) { return parts::position_set::position(turn); }
  static GPUTM_INLINE std::uint32_t turn_of(std::uint32_t p) { return parts::position_set::turn_of(p); }
  /// The first turn with positions that are not right yet.
  GPUTM_INLINE std::uint32_t first_turn() const { return turn_of(w_.from); }

  /// Runs the iteration at position `p`. False if the others of this thread need not run.
  template <pass Kind>
  GPUTM_INLINE bool execute(std::uint32_t p, parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                            positions* those) {
    using access = deferred_access<Options, Kind>;
    constexpr bool calm = Kind == pass::calm, wary = Kind == pass::wary, repair = Kind == pass::repair;
    access a(view_, env_.ranges, marker, p, w_);
    iteration<access> it(a, env_.regions, env_.limits.operations, trouble);
    const attempt_end how = it.run(body_, w_.base + p);
    if constexpr (repair) ++f.executed;
    f.forwarded += a.forwarded();
    f.found.add(a.found());
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
    log(p).set_sizes(a.reads(), a.writes_left(committed), !calm || f.logs != 0);
    if (calm && usual) return true;  // one test, since most come to this
    if constexpr (wary) {
      if (usual && a.reads() == 0 && a.writes() == 0) return true;  // its sizes say that there is nothing to see
      const std::uint32_t turn = turn_of(p);
      those->readers.put(turn, a.reads() != 0 || !usual);
      those->watched.put(turn, a.forwarded() != 0);
      those->writers.put(turn, committed && a.writes() != 0);
    }
    if (repair ? unmarked : !committed && a.writes() != 0) this->find(parts::loop_findings::unmarked);
    if (overlaps) return end_of_overlapping(p, how == attempt_end::failed || a.crowded(), it.last());
    finish<calm>(p, {w_.tag, w_.repair, how == attempt_end::failed, it.last()});
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
  template <bool Calm>
  GPUTM_INLINE void finish(std::uint32_t p, const parts::position_status& s) const {
    if (!Calm && Options::forwarding)  // others look before the barrier
      log(p).publish(s);
    else if (!Calm || s.dirty || s.last)
      log(p).set_status(s);
  }
  GPUTM_INLINE bool is_dirty(std::uint32_t p) const { return log(p).status(w_.tag).dirty; }
  /// Whether `p`, whose turn is in the set of those that are due, is: the set is exact for the first turns; for later
  /// ones its status tells.
  GPUTM_INLINE bool is_due(std::uint32_t turn, std::uint32_t p) const {
    return turn < parts::position_set::turns || is_dirty(p);
  }

  /// Whether the lanes of a warp share what is due in a repair: if some may have more of it than others, and sets are
  /// exact.
  GPUTM_INLINE bool share_repairs() const {
    const std::uint32_t threads = simt::grid_threads();
    return simt::is_full_warp() && w_.size > threads && w_.size <= parts::position_set::turns * threads;
  }
  /// The positions due of a warp, one for each lane at a time, whoever has them: if each lane ran its own, all would
  /// wait for the warps with a lane that has several.
  GPUTM_INLINE void execute_shared(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                   positions* those) {
    const std::uint32_t lane = simt::lane(), lanes = simt::warp_width(), first = simt::grid_thread_rank() - lane;
    std::uint32_t turn = those->due.next(first_turn());  // the next one of this lane's
    GPUTM_NO_UNROLL
    for (;;) {
      std::uint32_t owner = 0, its_turn = 0, dealt = 0;
      GPUTM_NO_UNROLL
      while (dealt < lanes) {
        simt::mask_t having = simt::ballot(simt::full_mask, position(turn) < w_.size);
        if (having == 0) break;
        GPUTM_NO_UNROLL
        for (; having != 0 && dealt < lanes; having &= having - 1, ++dealt) {
          const std::uint32_t who = simt::lowest(having), its = simt::shfl(simt::full_mask, turn, who);
          if (lane == dealt) {
            owner = who;
            its_turn = its;
          }
          if (lane == who) turn = those->due.next(turn + 1);
        }
      }
      if (dealt == 0) return;
      const std::uint32_t before = f.failed;
      if (lane < dealt)
        execute<pass::repair>(first + owner + its_turn * simt::grid_threads(), marker, f, trouble, those);
      GPUTM_NO_UNROLL
      for (simt::mask_t m = simt::ballot(simt::full_mask, f.failed != before); m != 0; m &= m - 1) {
        const std::uint32_t which = simt::lowest(m), who = simt::shfl(simt::full_mask, owner, which);
        const std::uint32_t its = simt::shfl(simt::full_mask, its_turn, which);
        if (lane == who) those->left.put(its, true);
      }
    }
  }
  /// All positions in a first pass, those that are due in a repair.
  template <pass Kind>
  GPUTM_INLINE pass_result execute_positions(positions* those) {
    constexpr bool repair = Kind == pass::repair;
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
    if constexpr (repair) {
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
  /// Apart from the calm pass, and on a copy, so that this one's registers and the addresses it knows stay what they
  /// are.
  template <pass Kind>
  static GPUTM_NOINLINE pass_result execute_apart(deferred_update self, positions* those) {
    return self.template execute_positions<Kind>(those);
  }
  /// Whether any position is due, in repairs few are: the copy costs more than to look.
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

  /// What tells who writes an element, as of the pass before this one.
  GPUTM_INLINE void know_writers() { view_.know(w_.which_lists(), w_.marks_hold()); }
  GPUTM_INLINE void repair(positions& those, pass_result& f) {
    those.due = those.left;
    those.left = {};
    const bool due = any_is_due(those.due);
    if (!(share_repairs() ? simt::any(simt::full_mask, due) : due)) return;
    know_writers();
    f = execute_apart<pass::repair>(*this, &those);
    // relaxed: read behind the phase
    if (f.failed != 0) simt::atomic(env_.state->dirty).fetch_add(f.failed, order::relaxed);
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
    } else if (w_.wary != 0) {
      f = execute_apart<pass::wary>(*this, &those);
    } else {
      f = execute_positions<pass::calm>(&those);
    }
    this->executed_ += static_cast<std::uint64_t>(std::int64_t{f.executed});
    this->forwarded_ += f.forwarded;
    return this->find_of_all(f.found);
  }

  static constexpr std::uint32_t at_once = 4;  // reads of a position that a check fetches together

  /// Latencies bound the check, so it is a pipeline: while one position is judged, the marks of what the next one has
  /// read are under way, and the log of the one after it.
  struct reads_of {
    std::uint32_t position = 0, count = 0;
    parts::position_status status;
    std::uint64_t entry[at_once] = {};
  };
  struct marks_of {
    std::uint32_t position = 0, count = 0;
    parts::position_status status;
    std::uint32_t word[at_once] = {};
    bool memory = true;  // nothing has been forwarded to it
  };
  GPUTM_INLINE reads_of fetch_reads(std::uint32_t p) const {
    reads_of r;
    r.position = p;
    if (p >= w_.size || (!repairs() && p >= env_.state->violated.get())) return r;  // it may not have run
    const parts::loop_log mine = log(p);
    r.status = w_.plain ? parts::position_status{w_.tag} : mine.status(w_.tag);
    r.count = mine.read_count();
    mine.fetch_reads(0, r.entry);
    return r;
  }
  GPUTM_INLINE marks_of fetch_marks(const reads_of& r) const {
    marks_of m;
    m.position = r.position;
    m.count = r.count;
    m.status = r.status;
    std::uint64_t key[at_once];
    GPUTM_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      key[k] = parts::loop_log::key_of_read(r.entry[k]);
      m.memory =
          m.memory && (k >= r.count || parts::loop_log::source_of_read(r.entry[k]) == parts::window_view::memory);
    }
    table_.fetch_first(key, r.count, m.word);
    return m;
  }
  /// Whether a position has read what the iterations below it leave.
  GPUTM_INLINE bool reads_hold(const marks_of& m) const {
    bool unwritten = m.memory;
    GPUTM_UNROLL
    for (unsigned k = 0; k < at_once; ++k)
      unwritten = unwritten && (k >= m.count || table_.first_of(m.word[k]) >= m.position);
    if (!unwritten && m.memory && view_.marks_hold()) return false;
    const std::uint32_t from = unwritten ? at_once : 0;
    return from >= m.count || reads_hold(m.position, from, m.count, m.status);
  }
  /// The same for its reads from `i` on, loads overlapping.
  GPUTM_INLINE bool reads_hold(std::uint32_t p, std::uint32_t i, std::uint32_t count,
                               const parts::position_status& status) const {
    std::uint64_t entry[at_once];
    log(p).fetch_reads(i, entry);
    GPUTM_NO_UNROLL
    for (; i < count; i += at_once) {
      std::uint64_t key[at_once];
      std::uint32_t source[at_once], word[at_once];
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        key[k] = parts::loop_log::key_of_read(entry[k]);
        source[k] = parts::loop_log::source_of_read(entry[k]);
      }
      const std::uint32_t n = count - i;
      if (n > at_once) log(p).fetch_reads(i + at_once, entry);
      table_.fetch_first(key, n, word);
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (k >= n || (table_.first_of(word[k]) >= p && source[k] == parts::window_view::memory)) continue;
        if (!read_holds(view_, key[k], source[k], p, status.version)) return false;
      }
    }
    return true;
  }
  /// Apart, and nothing by reference: what a call takes the address of lies in memory for all of the loop around it.
  static GPUTM_NOINLINE bool read_holds(parts::window_view view, std::uint64_t key, std::uint32_t source,
                                        std::uint32_t p, std::uint32_t version) {
    parts::position_status s;
    if (source != parts::window_view::memory) s = view.log(source).status(view.table().tag());  // asked for beforehand
    if (view.writer_below(key, p) != source) return false;
    return s.version <= version;  // it has not run again since `p` has read its log
  }
  GPUTM_INLINE bool check(const marks_of& m) {
    const std::uint32_t p = m.position;
    parts::position_status s = m.status;
    if (!s.dirty && !reads_hold(m)) {
      s.dirty = true;
      log(p).set_status(s);
      this->violate(p, violation::raw);
    } else if (s.dirty) {
      this->violate_again(p);
    } else if (s.last) {
      this->end_at(p);
    }
    return s.dirty;
  }
  /// What a calm check has seen.
  struct calm_marks {
    std::uint32_t from = 0;             ///< the first position of this thread that may be in violation, or one too high
    parts::position_set violated = {};  ///< those of the first turns below it that are
    std::uint32_t newest = 0;           ///< of the marks that it has looked at, or their bits; 0: no element has one
    std::uint32_t reads = 0;            ///< in the longest log
  };
  /// The check of a position that has run once, as all of its window, and has read memory only: a comparison of marks
  /// for each read. Apart: beside it the other check would have fewer registers.
  static GPUTM_NOINLINE calm_marks look_calmly(parts::loop_log_space logs, parts::writer_table table, std::uint32_t p) {
    constexpr std::uint32_t wide = 8;
    const parts::loop_log log(logs, p);
    std::uint64_t key[wide];
    log.fetch_calm_reads(0, key);
    const std::uint32_t count = log.read_count();
    parts::writer_table::latest_marks marks(table);
    std::uint32_t newest = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t i = 0; i < count; i += wide) {
      if (i != 0) log.fetch_calm_reads(i, key);
      bool asked[wide];
      GPUTM_UNROLL
      for (unsigned k = 0; k < wide; ++k) asked[k] = i + k < count;
      std::uint32_t word[wide];
      table.fetch_own(key, asked, marks, word);
      GPUTM_UNROLL
      for (unsigned k = 0; k < wide; ++k) newest = newest < word[k] ? word[k] : newest;
    }
    return {table.is_below(newest, p) ? p : p + simt::grid_threads(), {}, newest, count};
  }
  /// The same for a window of `size` positions of which threads have several: it looks at one read of each of some,
  /// then at the next one, so that few latencies follow one another. From `p`, its first one, on. If marks hold, a
  /// lower writer of what has been read from memory is a violation for certain.
  static constexpr std::uint32_t turns_at_once = 8;
  static GPUTM_NOINLINE calm_marks check_calmly(parts::loop_log_space logs, parts::writer_table table, std::uint32_t p,
                                                std::uint32_t size, bool marks_hold) {
    calm_marks seen;
    std::uint32_t turn = 0;
    const std::uint32_t threads = simt::grid_threads();
    parts::writer_table::latest_marks marks(table);
    GPUTM_NO_UNROLL
    for (; p < size; p += turns_at_once * threads) {
      std::uint64_t key[turns_at_once] = {};
      std::uint32_t count[turns_at_once] = {}, newest[turns_at_once] = {}, most = 0;
      const std::uint64_t* row = logs.reads_row(0) + p;
      GPUTM_UNROLL
      for (unsigned k = 0; k < turns_at_once; ++k) {
        if (p + k * threads >= size) continue;
        key[k] = simt::streaming_load(row[k * threads]);
        count[k] =
            logs.reads == 1 ? parts::loop_log::counts(key[k]) : parts::loop_log(logs, p + k * threads).read_count();
      }
      GPUTM_UNROLL
      for (unsigned k = 0; k < turns_at_once; ++k) most = most < count[k] ? count[k] : most;
      GPUTM_NO_UNROLL
      for (std::uint32_t i = 0; i < most; ++i) {
        row += logs.window;
        std::uint64_t next[turns_at_once];
        GPUTM_UNROLL
        for (unsigned k = 0; k < turns_at_once; ++k)
          next[k] = i + 1 < count[k] ? simt::streaming_load(row[k * threads]) : 0;
        bool asked[turns_at_once];
        GPUTM_UNROLL
        for (unsigned k = 0; k < turns_at_once; ++k) asked[k] = i < count[k];
        std::uint32_t word[turns_at_once];
        table.fetch_own(key, asked, marks, word);
        GPUTM_UNROLL
        for (unsigned k = 0; k < turns_at_once; ++k) {
          newest[k] = newest[k] < word[k] ? word[k] : newest[k];
          key[k] = next[k];
        }
      }
      GPUTM_UNROLL
      for (unsigned k = 0; k < turns_at_once; ++k) {
        seen.newest |= newest[k];
        if (!table.is_below(newest[k], p + k * threads)) continue;
        if (!marks_hold || turn + k >= parts::position_set::turns) {
          seen.from = p + k * threads;
          return seen;
        }
        seen.violated.put(turn + k, true);
      }
      seen.reads = seen.reads < most ? most : seen.reads;
      turn += turns_at_once;
    }
    seen.from = p;
    return seen;
  }
  /// Where all iterations read at most so many elements, the next loop peeks (loop_window): a look for a mark at each
  /// read takes less time than a check with its barrier then. Of windows with one position a thread, and of others.
  static constexpr std::uint32_t few_reads = 16, few_reads_of_several = 1;
  /// What later checks and the commit have to know of a position that has run again, or ended the loop. Where it has
  /// read more than a check fetches at once, it is looked at each time.
  GPUTM_INLINE void keep(positions& those, const marks_of& mine) const {
    const std::uint32_t turn = turn_of(mine.position);
    those.readers.put(turn, true);
    those.watched.put(turn, !mine.memory || mine.count > at_once || mine.status.last);
    those.writers.put(turn, log(mine.position).write_count() != 0);
  }
  GPUTM_INLINE std::uint32_t violate_all(const parts::position_set& turns, positions& those) {
    std::uint32_t n = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = turns.next(0); turn < parts::position_set::turns; turn = turns.next(turn + 1), ++n) {
      const std::uint32_t p = position(turn);
      log(p).set_status({w_.tag, 0, true});
      this->violate(p, violation::raw);
      those.left.put(turn, true);
    }
    return n;
  }
  struct check_result {
    bool dirty;    ///< some are in violation
    bool touched;  ///< the next loop should not peek: some have read an element that has a mark, of whatever window, or
                   ///< too many; or nobody has looked
  };
  /// A repair that has changed nothing but values leaves most positions right: only those are looked at that have run
  /// again, or have read from others.
  GPUTM_INLINE check_result check_all(positions& those) {
    std::uint32_t first = first_turn();
    parts::position_set known{};  // to be in violation, below those
    bool touched = true;
    if (w_.plain && !w_.wary && table_.has_own_marks()) {
      const std::uint32_t p = position(0);
      calm_marks seen{w_.size + simt::grid_threads()};
      if (those.logs && p < w_.size) {
        const bool several = w_.size > simt::grid_threads();
        seen = several ? check_calmly(env_.logs, table_, p, w_.size, repairs() && w_.marks_hold())
                       : look_calmly(env_.logs, table_, p);
        touched = seen.newest != 0 || seen.reads > (several ? few_reads_of_several : few_reads);
      } else {
        touched = false;
      }
      first = turn_of(seen.from);
      known = seen.violated;
      // mostly, and then without waiting for what follows
      if (position(first) >= w_.size && known.next(0) == parts::position_set::turns) {
        those.forget();
        return {false, touched};
      }
    } else if (position(first) < w_.from) {
      ++first;
    }
    know_writers();
    if (w_.wary == 0) those.forget();
    const bool only_values = w_.repair != 0 && view_.marks_hold();
    const parts::position_set look = only_values ? those.watched.with(those.due) : those.readers;
    those.left = {};
    std::uint32_t dirty = violate_all(known, those), then = look.next(first);
    marks_of now = fetch_marks(fetch_reads(position(then)));
    then = look.next(then + 1);
    reads_of next = fetch_reads(position(then));
    GPUTM_NO_UNROLL
    while (now.position < w_.size) {
      if (!repairs() && now.position >= env_.state->violated.get()) break;
      const marks_of mine = now;
      now = fetch_marks(next);
      then = look.next(then + 1);
      next = fetch_reads(position(then));
      if (w_.repair != 0 ? mine.status.version == w_.repair : mine.status.last) keep(those, mine);
      if (!check(mine)) continue;
      ++dirty;
      those.left.put(turn_of(mine.position), true);
    }
    if (dirty != 0) simt::atomic(env_.state->dirty).fetch_add(dirty, order::relaxed);  // read behind the phase
    return {dirty != 0, touched};
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
    const check_result checked = check_all(those);
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
      Commit()(env_, w_, table_, w_.decided ? nullptr : &those.writers, barrier_);
      if (w_.closing) break;  // nobody waits for these commits
      barrier_.wait([this] { plan_.next(); });
      this->look_at_window();
    }
    if (w_.foreseen && simt::grid_thread_rank() == 0)
      plan_.end_whole(w_, barrier_.has_noted(after_pass), barrier_.has_noted(after_check));
    if (w_.has_one_mixed() && !w_.has_moved()) find_boundary(env_, table_, w_.mixed, w_.range_offset());
    this->flush();
    const bool whole = w_.commits == w_.size && w_.base + w_.commits == env_.limits.iterations;
    const bool smooth = w_.wary == 0 && whole && w_.over == 0;
    if (env_.in_place.learns && smooth && w_.closing)
      in_place_learning::learn(env_, barrier_, w_.base, w_.size, those.logs);
  }
};

}  // namespace gputm::speculation
