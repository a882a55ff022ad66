// Floor 3: the check of a window with deferred writes: which of its positions are in violation, or have to be looked at
// again. What it rests on is at the head of deferred_update.hpp.
#pragma once

#include "gputm/parts/window_view.hpp"
#include "gputm/speculation/calm_check.hpp"
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
    parts::position_set readers;  ///< have logged reads, failed, or ended the loop: a check has to see them
    parts::position_set ended;    ///< have ended the loop: each check has to see them
    bool trouble;                 ///< in this calm pass some have done what a serial section has to see
    bool logs;                    ///< of this calm pass, if it was one: logs tell how many reads there are
    asked_rows rows;              ///< of a first pass in which warps join: those of its position

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
    std::uint32_t last_row = parts::joint_space::none;
    if (w_.plain && !expects_violations() && table_.has_own_marks()) {
      const std::uint32_t p = position(0);
      calm_check seen{w_.size + simt::grid_threads()};
      const bool has_rows = joins() && env_.joint.pieces() != 0;
      if (has_rows) {
        calm_check::look_at_rows(env_.logs, table_, env_.joint, barrier_);
        barrier_.pass(1);
        if (those.rows.count != 0) last_row = those.rows.number[those.rows.count - 1];
      }
      if (those.logs && p < w_.size) {
        const bool several = w_.size > simt::grid_threads();
        const bool certain = repairs() && w_.marks_hold();
        seen = several ? calm_check::of_several(env_.logs, table_, p, w_.size, certain)
               : has_rows && those.rows.count != 0
                   ? calm_check::around_rows(env_.logs, table_, p, certain, env_.joint, those.rows)
                   : calm_check::of_one(env_.logs, table_, p, certain);
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
    violate_all(known, those, found, last_row);
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
  /// An iteration that reads so much had better have a warp that nobody else keeps busy. Less on a host, for tests.
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
    const std::uint32_t lowest = simt::reduce_min(simt::full_mask, mine.lowest);
    const std::uint32_t reads = simt::reduce_max(simt::full_mask, mine.reads);
    if (simt::lane() != 0) return;
    parts::loop_state& s = *env_.state;
    // relaxed: read behind the phase
    if (reads >= calm_check::many_reads)
      simt::atomic(s.lengthy).fetch_max(reads >= very_many_reads ? 2 : 1, order::relaxed);
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
  /// Where all iterations read at most so many elements, the next loop peeks (loop_window): a look for a mark at each
  /// read takes less time than a check with its barrier then. Of windows with one position a thread, and of others.
  static constexpr std::uint32_t few_reads = 16, few_reads_of_several = 1;
  /// What later checks have to know of a position that has run again, or ended the loop.
  GPUTM_INLINE void keep(positions& those, const marks_of& mine) const {
    const std::uint32_t turn = turn_of(mine.position);
    those.readers.put(turn, true);
    those.ended.put(turn, mine.status.last);
  }
  /// The positions of these turns, which have run in a calm pass, are in violation. `last_row`: where warps have joined
  /// for one, the last one of this thread's position.
  GPUTM_INLINE void violate_all(const parts::position_set& turns, positions& those, tally& found,
                                std::uint32_t last_row) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = turns.next(0); turn < parts::position_set::turns; turn = turns.next(turn + 1)) {
      const std::uint32_t p = position(turn);
      log(p).set_status({w_.tag, 0, true, false, false, last_row + 1});
      found.add(p, w_.size, true, log(p).read_count());
      those.left.put(turn, true);
    }
  }
};

}  // namespace gputm::speculation
