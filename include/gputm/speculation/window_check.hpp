// Floor 3: the check of a window with deferred writes: which of its positions are in violation, or have to be looked at
// again. What it rests on is at the head of deferred_update.hpp.
#pragma once

#include "gputm/parts/lane_team.hpp"
#include "gputm/parts/position_set.hpp"
#include "gputm/parts/window_view.hpp"
#include "gputm/speculation/joint_turn.hpp"
#include "gputm/speculation/window_thread.hpp"

namespace gputm::speculation {

/// What one thread of such a loop knows of its positions, and its part of the check.
template <class Options, class Body>
class window_check : protected window_thread<Body> {
  using order = simt::order;
  using base = window_thread<Body>;

 protected:
  using base::barrier_, base::env_, base::log, base::w_;

  parts::writer_table table_;
  parts::window_view view_;
  /// Of this thread, in a window that is wary or needs a check. It lies in memory: windows that go smoothly have no
  /// registers for it, and do not initialise it; they touch nothing of it but `trouble` and `logs`, and `rows` if warps
  /// join, and load no more.
  struct positions {
    parts::position_set due;   ///< run again in this repair; where repairs are spread (loop_window::is_spread), those
                               ///< of them whose statuses say so
    parts::position_set left;  ///< in violation as far as is known: run again in the next one, as `due`
    parts::position_set readers;          ///< have logged reads, failed, or ended the loop: a check has to see them
    parts::position_set ended;            ///< have ended the loop: each check has to see them
    bool trouble;                         ///< in this calm pass some have done what a serial section has to see
    bool logs;                            ///< of this calm pass, if it was one: logs tell how many reads there are
    std::uint32_t rows;                   ///< of a first pass in which warps join: rows of its position, in order,
    std::uint32_t row[joint_turn::most];  ///< and their numbers (joint_space)

    /// Nobody knows what a calm pass has done, unless none of this thread's positions has logged a read.
    GPUTM_INLINE void forget() {
      readers = logs ? parts::position_set::all() : parts::position_set{};
      ended = due = left = {};
    }
  };
  /// Whether every position of a window is checked, so that those in violation can be repaired.
  GPUTM_INLINE bool repairs() const { return Options::repair && env_.limits.repairs != 0; }

  /// Whether all warps load long rows together in the first pass of a window, whose positions have threads of their
  /// own.
  GPUTM_INLINE bool joins() const {
    const bool can = Options::forwarding && Options::repair && simt::block_size() % simt::warp_width() == 0;
    return can && w_.is_joint() && w_.pending == 0;
  }
  /// Whether a first pass looks for lower writers. If violations are repaired it does not: it is faster then to find
  /// all of them behind it, and what nobody has taken from others needs no second check.
  GPUTM_INLINE bool expects_violations() const { return !Options::repair && w_.wary != 0; }

  static GPUTM_INLINE std::uint32_t position(std::uint32_t turn) { return parts::position_set::position(turn); }
  static GPUTM_INLINE std::uint32_t turn_of(std::uint32_t p) { return parts::position_set::turn_of(p); }
  /// The first turn with positions that are not right yet.
  GPUTM_INLINE std::uint32_t first_turn() const { return turn_of(w_.from); }

  /// What tells who writes an element, as of the pass before this one.
  GPUTM_INLINE void know_writers() { view_.know(w_.which_lists(), w_.marks_hold()); }
  struct check_result {
    bool dirty;    ///< some are in violation
    bool touched;  ///< the next loop should not peek: some have read an element that has a mark, of whatever window, or
                   ///< too many; or nobody has looked
  };
  /// A repair that has changed nothing but values leaves all others right: only those are looked at that have run
  /// again, or have ended the loop.
  GPUTM_INLINE check_result check_all(positions& those) {
    std::uint32_t first = first_turn();
    parts::position_set known{};  // to be in violation, below those
    bool touched = true;
    if (w_.plain && !expects_violations() && table_.has_own_marks()) {
      const std::uint32_t p = position(0);
      calm_marks seen{w_.size + simt::grid_threads()};
      const bool has_rows = joins() && env_.joint.pieces() != 0;
      if (has_rows) {
        look_at_rows(env_.logs, table_, env_.joint);
        barrier_.wait();
      }
      if (those.logs && p < w_.size) {
        const bool several = w_.size > simt::grid_threads();
        const bool certain = repairs() && w_.marks_hold();
        seen = several                       ? check_calmly(env_.logs, table_, p, w_.size, certain)
               : has_rows && those.rows != 0 ? look_around_rows(env_.logs, table_, p, certain, env_.joint, &those)
                                             : look_calmly(env_.logs, table_, p, certain);
        touched = seen.newest != 0 || seen.reads > (several ? few_reads_of_several : few_reads);
      } else {
        touched = false;
      }
      first = turn_of(seen.from);
      known = seen.violated;
      const bool more = position(first) < w_.size || known.next(0) != parts::position_set::turns;
      if (!simt::any(simt::full_mask, more)) {  // mostly, and then without waiting for what follows
        those.forget();
        return {false, touched};
      }
    } else if (position(first) < w_.from) {
      ++first;
    }
    know_writers();
    if (w_.repair == 0 && !expects_violations()) those.forget();
    const bool only_values = w_.repair != 0 && view_.marks_hold();
    const parts::position_set look = only_values ? those.ended.with(those.due) : those.readers;
    those.left = {};
    tally found;
    violate_all(known, those, found);
    std::uint32_t then = look.next(first);
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
      if (check(mine, found)) those.left.put(turn_of(mine.position), true);
    }
    tell(found);
    return {found.dirty != 0, touched};
  }

 public:
  using base::base;

 private:
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
    r.status = w_.plain ? parts::position_status{w_.tag} : mine.status(w_.tag).without_value();
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
  /// An iteration that reads so much takes longer than another one's value takes from its log to who waits for it.
  static constexpr std::uint32_t many_reads = 32;
  /// One that reads so much had better have a warp that nobody else keeps busy. Less on a host, for tests.
  static constexpr std::uint32_t very_many_reads = GPUTM_ON_DEVICE ? 256 : 48;
  /// What a thread's part of a check has come to. The lanes of a warp tell it together: words that all threads change
  /// are slow.
  struct tally {
    std::uint32_t dirty = 0, fresh = 0;  // positions in violation; those of them that were not known to be
    std::uint32_t below = 0;             // of all those: below the window's middle
    std::uint32_t lowest = parts::writer_table::none;
    std::uint32_t reads = 0;  // of one of them, at most

    GPUTM_INLINE void add(std::uint32_t p, std::uint32_t size, bool is_fresh, std::uint32_t its_reads) {
      ++dirty;
      below += p < size / 2;
      fresh += is_fresh;
      reads = reads < its_reads ? its_reads : reads;
      lowest = p < lowest ? p : lowest;
    }
  };
  /// All lanes of a warp call it.
  GPUTM_INLINE void tell(const tally& mine) const {
    const std::uint32_t dirty = simt::reduce_add(simt::full_mask, mine.dirty);
    if (dirty == 0) return;
    const std::uint32_t below = simt::reduce_add(simt::full_mask, mine.below);
    const std::uint32_t fresh = simt::reduce_add(simt::full_mask, mine.fresh);
    const std::uint32_t lowest = simt::reduce_unordered(simt::full_mask, mine.lowest,
                                                        [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; });
    const bool many = simt::any(simt::full_mask, mine.reads >= many_reads);
    const bool very_many = simt::any(simt::full_mask, mine.reads >= very_many_reads);
    if (simt::lane() != 0) return;
    parts::loop_state& s = *env_.state;
    // relaxed: read behind the phase
    if (many) simt::atomic(s.lengthy).fetch_max(very_many ? 2 : 1, order::relaxed);
    simt::atomic(s.dirty).fetch_add(parts::dirty_count{dirty, below}.word(), order::relaxed);
    simt::atomic(s.counters.violations[static_cast<unsigned>(violation::raw)]).fetch_add(fresh, order::relaxed);
    s.violated.name(lowest);
  }
  /// Whether the position is to run again.
  GPUTM_INLINE bool check(const marks_of& m, tally& found) {
    const std::uint32_t p = m.position;
    parts::position_status s = m.status;
    const bool fresh = !s.dirty && !reads_hold(m);
    if (fresh) {
      s.dirty = true;
      log(p).set_status(s);
    }
    if (s.dirty) {
      found.add(p, w_.size, fresh, m.count);
      if (!repairs()) this->violate_again(p);  // nobody need look at those above
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
  static GPUTM_NOINLINE calm_marks look_calmly(parts::loop_log_space logs, parts::writer_table table, std::uint32_t p,
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
    const bool is_shared =
        (GPUTM_ON_DEVICE || count >= many_reads) && look_together(logs, table, p, count, marks, newest, below);
    GPUTM_NO_UNROLL
    while (count != 0 && !is_shared) {
      bool asked[wide];
      GPUTM_UNROLL
      for (unsigned k = 0; k < wide; ++k) asked[k] = i + k < count;
      std::uint32_t word[wide];
      table.fetch_own(key, asked, marks, word);
      GPUTM_UNROLL
      for (unsigned k = 0; k < wide; ++k) newest = newest < word[k] ? word[k] : newest;
      below = table.is_below(newest, p);
      // then from the last ones on: in ascending order, what this window's positions write mostly is at the end
      i = (i == 0 ? (count + wide - 1) / wide * wide : i) - wide;
      if (below || i == 0) break;
      log.fetch_calm_reads(i, key);
    }
    calm_marks seen{below && !marks_hold ? p : p + simt::grid_threads(), {}, newest, count};
    seen.violated.put(0, below && marks_hold);
    return seen;
  }
  /// The same for the longest logs of those that come to it together, by all of these lanes. Whether this one's is one
  /// of them; then `newest` is of marks that it has looked at, or their bits.
  static GPUTM_INLINE bool look_together(const parts::loop_log_space& logs, const parts::writer_table& table,
                                         std::uint32_t p, std::uint32_t count, parts::writer_table::latest_marks& marks,
                                         std::uint32_t& newest, bool& below) {
    constexpr std::uint32_t each = 8;
    const parts::lane_team team(simt::together());
    const simt::mask_t busiest = team.busiest(count);
    GPUTM_NO_UNROLL
    for (simt::mask_t busy = busiest; busy != 0; busy &= busy - 1) {
      const std::uint32_t owner = simt::lowest(busy), its = simt::shfl(team.mask(), p, owner);
      const parts::loop_log log(logs, its);
      const std::uint32_t width = each * team.width();
      std::uint32_t end = simt::shfl(team.mask(), count, owner), seen = 0;  // from there down
      std::uint64_t key[each];
      bool asked[each], is_below;
      GPUTM_UNROLL
      for (bool& one : asked) one = true;
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
        table.fetch_own(key, asked, marks, word);
        end = end > width ? end - width : 0;
        fetch(end);
        std::uint32_t latest = 0;
        GPUTM_UNROLL
        for (unsigned k = 0; k < each; ++k) latest = latest < word[k] ? word[k] : latest;
        seen |= latest;
        is_below = simt::any(team.mask(), table.is_below(latest, its));
      } while (!is_below && end != 0);
      seen = simt::reduce_or(team.mask(), seen);
      if (simt::lane() != owner) continue;
      newest = seen;
      below = is_below;
    }
    return (busiest >> simt::lane() & 1) != 0;
  }
  /// The marks of what rows in logs are of (joint_space), each warp for other pieces. All threads call it.
  static GPUTM_NOINLINE void look_at_rows(parts::loop_log_space logs, parts::writer_table table,
                                          parts::joint_space space) {
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
      newest = simt::reduce_unordered(simt::full_mask, newest,
                                      [](std::uint32_t a, std::uint32_t b) { return a < b ? b : a; });
      if (simt::lane() == 0) space.name_mark(number, newest);
    }
  }
  /// The same as look_calmly() for a position with rows: what is in its log besides. The first one is right whatever it
  /// has read.
  static GPUTM_NOINLINE calm_marks look_around_rows(parts::loop_log_space logs, parts::writer_table table,
                                                    std::uint32_t p, bool marks_hold, parts::joint_space space,
                                                    const positions* those) {
    const parts::loop_log log(logs, p);
    const std::uint32_t count = log.read_count();
    std::uint32_t newest = 0, from = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < those->rows && p != 0; ++k) {
      const std::uint32_t number = those->row[k];
      if (!space.is_logged(number)) continue;
      const parts::joint_row row = space.row(number);
      const std::uint32_t its = space.newest_mark(number), besides = newest_of(log, table, from, row.reads);
      newest = newest < its ? its : newest;
      newest = newest < besides ? besides : newest;
      from = row.reads + row.count;
    }
    const std::uint32_t rest = p != 0 ? newest_of(log, table, from, count) : 0;
    newest = newest < rest ? rest : newest;
    const bool below = table.is_below(newest, p);
    calm_marks seen{below && !marks_hold ? p : p + simt::grid_threads(), {}, newest, count};
    seen.violated.put(0, below && marks_hold);
    return seen;
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
      bool asked[each];
      std::uint32_t word[each];
      GPUTM_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        asked[k] = from + k * step < to;
        key[k] = log.calm_read(asked[k] ? from + k * step : from);
      }
      table.fetch_own(key, asked, marks, word);
      GPUTM_UNROLL
      for (unsigned k = 0; k < each; ++k) newest = newest < word[k] ? word[k] : newest;
    }
    return newest;
  }
  /// The same as look_calmly() for a window of `size` positions of which threads have several: it looks at one read of
  /// each of some, then at the next one, so that few latencies follow one another. From `p`, its first one, on. If
  /// marks hold, a lower writer of what has been read from memory is a violation for certain.
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
  /// What later checks have to know of a position that has run again, or ended the loop.
  GPUTM_INLINE void keep(positions& those, const marks_of& mine) const {
    const std::uint32_t turn = turn_of(mine.position);
    those.readers.put(turn, true);
    those.ended.put(turn, mine.status.last);
  }
  /// The positions of these turns, which have run in a calm pass, are in violation.
  GPUTM_INLINE void violate_all(const parts::position_set& turns, positions& those, tally& found) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = turns.next(0); turn < parts::position_set::turns; turn = turns.next(turn + 1)) {
      const std::uint32_t p = position(turn);
      log(p).set_status({w_.tag, 0, true});
      found.add(p, w_.size, true, log(p).read_count());
      those.left.put(turn, true);
    }
  }
};

}  // namespace gputm::speculation
