// Floor 3: the check of what a calm pass has done: whoever has run once, as all of his window, and has read memory
// only, is right if no position below him is going to write any of that. One comparison of marks for each read, and
// latencies bound it; so it is made for several reads at a time, by several lanes, or for several positions, as logs
// are.
#pragma once

#include "gputm/parts/grid_barrier.hpp"
#include "gputm/parts/lane_team.hpp"
#include "gputm/parts/position_set.hpp"
#include "gputm/parts/writer_table.hpp"
#include "gputm/speculation/joint_turn.hpp"

namespace gputm::speculation {

/// What it has seen of a thread's positions. Elements have marks of their own, and nobody is marking. Each way is
/// apart: beside the check that follows it would have fewer registers.
struct calm_check {
  std::uint32_t from = 0;             ///< the first position of this thread that may be in violation, or one too high
  parts::position_set violated = {};  ///< those of the first turns below it that are
  std::uint32_t newest = 0;           ///< of the marks that it has looked at, or their bits; 0: no element has one
  std::uint32_t reads = 0;            ///< in the longest log

  /// A log of so many reads is long: an iteration that reads so much takes longer than another one's value takes from
  /// its log to who waits for it, and lanes look at it together.
  static constexpr std::uint32_t many_reads = 32;

  /// Of position `p` alone. `marks_hold`: a lower writer of what has been read from memory is a violation for certain.
  static GPUTM_NOINLINE calm_check of_one(parts::loop_log_space logs, parts::writer_table table, std::uint32_t p,
                                          bool marks_hold) {
    constexpr std::uint32_t wide = 8;
    const parts::loop_log log(logs, p);
    std::uint64_t key[wide];
    log.fetch_calm_reads(0, key);
    const std::uint32_t count = log.read_count();
    parts::writer_table::latest_marks marks(table);
    std::uint32_t newest = 0, i = 0;
    bool below = false;
    // on a host device those alone that have much to look at: to be together takes others steps there
    const parts::lane_team team(GPUTM_ON_DEVICE || count >= many_reads ? simt::together() : 1u << simt::lane());
    const simt::mask_t busiest = team.busiest(count);
    const bool is_shared = (busiest >> simt::lane() & 1) != 0;
    if (busiest != 0) {
      const looked together = look_together(logs, table, p, count, team, busiest);
      newest = together.newest;
      below = together.below;
    }
    GPUTM_NO_UNROLL
    while (count != 0 && !is_shared) {
      bool asked[wide];
      GPUTM_UNROLL
      for (unsigned k = 0; k < wide; ++k) asked[k] = i + k < count;
      std::uint32_t word[wide];
      table.fetch_own(key, asked, marks, word);
      newest = later(newest, table.latest(word));
      below = table.is_below(newest, p);
      // then from the last ones on: in ascending order, what this window's positions write mostly is at the end
      i = (i == 0 ? (count + wide - 1) / wide * wide : i) - wide;
      if (below || i == 0) break;
      log.fetch_calm_reads(i, key);
    }
    calm_check seen{below && !marks_hold ? p : p + simt::grid_threads(), parts::position_set{}, newest, count};
    seen.violated.put(0, below && marks_hold);
    return seen;
  }
  /// Of `p`, and all further positions of this thread below `size`: one read of each of some, then the next one, so
  /// that few latencies follow one another.
  static GPUTM_NOINLINE calm_check of_several(parts::loop_log_space logs, parts::writer_table table, std::uint32_t p,
                                              std::uint32_t size, bool marks_hold) {
    calm_check seen;
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
          newest[k] = later(newest[k], word[k]);
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
  /// The marks of what rows in logs are of (joint_space), each warp for other pieces; behind a barrier they are known.
  /// All threads call it.
  static GPUTM_NOINLINE void look_at_rows(parts::loop_log_space logs, parts::writer_table table,
                                          parts::joint_space space, parts::grid_barrier barrier) {
    const std::uint32_t width = simt::warp_width(), warps = simt::grid_threads() / width, pieces = space.pieces();
    GPUTM_NO_UNROLL
    for (std::uint32_t piece = simt::grid_thread_rank() / width; piece < pieces; piece += warps) {
      const std::uint32_t number = space.row_of(piece);
      if (number == parts::joint_space::none) continue;
      if (!space.is_logged(number)) continue;
      const parts::joint_row row = space.row(number);
      const std::uint32_t first = row.reads + row.begin_of(piece);
      const parts::loop_log log(logs, row.position);
      std::uint32_t newest = newest_of(log, table, first + simt::lane(), first + row.count_of(piece), width);
      newest = simt::reduce_max(simt::full_mask, newest);
      if (simt::lane() != 0) continue;
      space.name_mark(number, newest);
      if (table.is_below(newest, row.position)) space.name_marked(number, piece - row.first);
    }
    barrier.wait();
  }
  /// Of a position with rows: what is in its log besides. The first one is right whatever it has read.
  static GPUTM_NOINLINE calm_check around_rows(parts::loop_log_space logs, parts::writer_table table, std::uint32_t p,
                                               bool marks_hold, parts::joint_space space, const asked_rows& rows) {
    const parts::loop_log log(logs, p);
    const std::uint32_t count = log.read_count();
    std::uint32_t newest = 0, from = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < rows.count && p != 0; ++k) {
      const std::uint32_t number = rows.number[k];
      if (!space.is_logged(number)) continue;
      const parts::joint_row row = space.row(number);
      newest = later(newest, later(space.newest_mark(number), newest_of(log, table, from, row.reads)));
      from = row.reads + row.count;
    }
    if (p != 0) newest = later(newest, newest_of(log, table, from, count));
    const bool below = table.is_below(newest, p);
    calm_check seen{below && !marks_hold ? p : p + simt::grid_threads(), parts::position_set{}, newest, count};
    seen.violated.put(0, below && marks_hold);
    return seen;
  }

 private:
  static constexpr std::uint32_t turns_at_once = 8;

  static GPUTM_INLINE std::uint32_t later(std::uint32_t a, std::uint32_t b) { return parts::writer_table::later(a, b); }
  struct looked {
    std::uint32_t newest;  ///< of the marks, or their bits
    bool below;            ///< one is of a lower writer
  };
  /// The logs of those lanes of the team that are `busy`, one after another by all of them; what has been seen of this
  /// one's, if it is busy. Apart: hardly any loop comes to it.
  static GPUTM_NOINLINE looked look_together(parts::loop_log_space logs, parts::writer_table table, std::uint32_t p,
                                             std::uint32_t count, parts::lane_team team, simt::mask_t busy) {
    constexpr std::uint32_t each = 8;
    parts::writer_table::latest_marks marks(table);
    looked mine{0, false};
    GPUTM_NO_UNROLL
    for (; busy != 0; busy &= busy - 1) {
      const std::uint32_t owner = simt::lowest(busy), its = simt::shfl(team.mask(), p, owner);
      const parts::loop_log log(logs, its);
      const std::uint32_t width = each * team.width();
      std::uint32_t end = simt::shfl(team.mask(), count, owner), seen = 0;  // from there down
      std::uint64_t key[each];
      bool is_below;
      const auto fetch = [&log, &team, &key](std::uint32_t upto) {  // the first one instead of none: the loads overlap
        GPUTM_UNROLL
        for (unsigned k = 0; k < each; ++k) {
          const std::uint32_t i = 1 + k * team.width() + team.rank();
          key[k] = log.calm_read(upto > i ? upto - i : 0);
        }
      };
      fetch(end);
      GPUTM_NO_UNROLL
      do {
        std::uint32_t word[each];
        table.fetch_own(key, marks, word);
        end = end > width ? end - width : 0;
        fetch(end);
        const std::uint32_t latest = table.latest(word);
        seen |= latest;
        is_below = simt::any(team.mask(), table.is_below(latest, its));
      } while (!is_below && end != 0);
      seen = simt::reduce_or(team.mask(), seen);
      if (simt::lane() == owner) mine = {seen, is_below};
    }
    return mine;
  }
  /// The newest mark of what reads are of, from number `from` on, below `to`, each `step`-th one.
  static GPUTM_NOINLINE std::uint32_t newest_of(parts::loop_log log, parts::writer_table table, std::uint32_t from,
                                                std::uint32_t to, std::uint32_t step = 1) {
    constexpr std::uint32_t each = 4;
    parts::writer_table::latest_marks marks(table);
    std::uint32_t newest = 0;
    GPUTM_NO_UNROLL
    for (; from < to; from += each * step) {
      std::uint64_t key[each];
      GPUTM_UNROLL
      for (unsigned k = 0; k < each; ++k) {  // the first one again instead of none: the loads overlap
        const std::uint32_t i = from + k * step;
        key[k] = log.calm_read(i < to ? i : from);
      }
      std::uint32_t word[each];
      table.fetch_own(key, marks, word);
      newest = later(newest, table.latest(word));
    }
    return newest;
  }
};

}  // namespace gputm::speculation
