// Floor 3: loops whose iterations run speculatively with deferred writes: the phases that GPU-TLS and its baseline
// with in-order commit share. One persistent kernel; the phases of a window are separated by grid-wide barriers.
//
//   execute   run the iterations of the window; log what they read and from whom, defer and mark what they write
//   check     an iteration is in violation unless all it read is what the last lower writer writes, or is memory's
//             where no lower one writes; nothing to do if no iteration has read what the loop writes
//   repair    run those in violation again, which now see the others' deferred writes; check again
//   commit    the iterations below the lowest violation write back
//
// Why the result is the sequential loop's: take the iterations below the lowest violation, in order. Each one read
// from memory what no lower one of the window writes, and everything else from the last lower writer's log, which
// has not changed since and is right by induction. All of them commit, and the last writer of each element prevails.
// The lowest iteration of a window is never in violation, so each window commits one at least.
#pragma once

#include "gputm/speculation/deferred_access.hpp"
#include "gputm/speculation/window_thread.hpp"

namespace gputm::speculation {

/// One thread of such a loop. Options: see deferred_access.
template <class Options, class Body>
class deferred_update : window_thread<Body> {
  using order = simt::order;
  using access = deferred_access<Options>;
  using base = window_thread<Body>;
  using base::barrier_, base::body_, base::env_, base::hint, base::log, base::plan_, base::w_;

  parts::writer_table table_;
  parts::window_view view_;
  std::uint32_t stored_ = 0, read_logged_ = 0, read_unlogged_ = 0;  // in this pass, by this thread
  std::uint32_t several_ = 0;                                       // the same: whether an element had a mark already

  /// Whether every position of a window is executed and checked, so that those in violation can be repaired.
  GPUTM_INLINE bool repairs() const { return Options::repair && env_.limits.repairs != 0; }

  /// Runs the iteration at position `p`.
  GPUTM_INLINE void execute(std::uint32_t p) {
    access a(view_, p, w_);
    iteration<access> it(a, env_.regions, env_.limits.operations);
    const attempt_end how = it.settle(body_(it, static_cast<int>(w_.base + p)));
    ++this->executed_;
    this->forwarded_ += a.forwarded();
    stored_ |= a.stored();
    read_logged_ |= a.read_logged();
    read_unlogged_ |= a.read_unlogged();
    several_ |= a.several();
    log(p).set_sizes(a.reads(), how == attempt_end::commit ? a.writes() : 0);
    a.keep_lists();
    finish(p, {w_.number, w_.repair, how == attempt_end::failed, it.last()});
    // relaxed: all these words are read in the serial section behind the phase, or behind that
    if (a.strayed()) simt::atomic(env_.state->unlisted).store(1, order::relaxed);
    if (it.last()) simt::atomic(env_.state->last_seen).store(1, order::relaxed);
    if (how == attempt_end::failed) {
      if (a.why() == violation::capacity) simt::atomic(env_.state->too_long).fetch_min(p, order::relaxed);
      return this->fail(p, p == 0, it.fault(), a.why());
    }
    if (how == attempt_end::cancel && a.writes() != 0) simt::atomic(env_.state->unmarked).store(1, order::relaxed);
    if (p == 0 && a.crowded()) simt::atomic(env_.state->alone).store(1, order::relaxed);  // read behind the check
  }
  GPUTM_INLINE void finish(std::uint32_t p, const parts::position_status& s) const {
    if (Options::forwarding && (w_.wary || w_.repair != 0))  // else nobody looks before the barrier
      log(p).publish(s);
    else
      log(p).set_status(s);
  }
  GPUTM_INLINE bool is_due(std::uint32_t p) const { return w_.repair == 0 || log(p).status().dirty; }

  /// This thread's first position that is not right yet, or one below.
  GPUTM_INLINE std::uint32_t first_position() const {
    return w_.from - w_.from % simt::grid_threads() + simt::grid_thread_rank();
  }
  GPUTM_INLINE void list_writes(std::uint32_t p) const {
    const parts::loop_log mine = log(p);
    const std::uint32_t n = mine.write_count();
    for (std::uint32_t i = 0; i < n; ++i) view_.list(mine.write_key(i), p, i);
    view_.set_listed(p, n);
  }

  GPUTM_INLINE void execute_all() {
    stored_ = read_logged_ = read_unlogged_ = several_ = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t p = first_position(); p < w_.size; p += simt::grid_threads()) {
      if (!repairs() && p > hint(env_.state->violated)) break;  // it cannot commit
      if (is_due(p))
        execute(p);
      else if (w_.list)
        list_writes(p);
    }
    // relaxed: read in the serial section behind the phase
    this->unite_of_all(env_.state->stored, stored_);
    this->unite_of_all(env_.state->read_logged, read_logged_);
    this->unite_of_all(env_.state->read_unlogged, read_unlogged_);
    this->unite_of_all(env_.state->several, several_);
  }

  /// What the check of a position starts from, fetched while the one before it is checked: latencies bound this phase.
  struct beginning {
    static constexpr std::uint32_t entries = 4;
    parts::position_status status;
    std::uint32_t reads = 0;
    std::uint64_t entry[entries] = {};
  };
  GPUTM_INLINE beginning begin_of(std::uint32_t p) const {
    beginning b;
    if (p >= w_.size) return b;
    const parts::loop_log mine = log(p);
    b.status = mine.status();
    b.reads = mine.read_count();
    mine.fetch_reads(0, b.entry);
    return b;
  }
  /// Whether position `p` has read what the iterations below it leave.
  GPUTM_INLINE bool reads_hold(std::uint32_t p, beginning& b) const {
    constexpr std::uint32_t at_once = beginning::entries;
    GPUTM_NO_UNROLL
    for (std::uint32_t i = 0; i < b.reads; i += at_once) {
      std::uint64_t key[at_once];
      std::uint32_t source[at_once];
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        key[k] = parts::loop_log::key_of_read(b.entry[k]);
        source[k] = parts::loop_log::source_of_read(b.entry[k]);
      }
      const std::uint32_t n = b.reads - i;
      if (n > at_once) log(p).fetch_reads(i + at_once, b.entry);
      const std::uint32_t unwritten = view_.unwritten_below(key, n, p);
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (k >= n || ((unwritten >> k & 1u) && source[k] == parts::window_view::memory)) continue;
        if (!read_holds(key[k], source[k], p, b.status.version)) return false;
      }
    }
    return true;
  }
  GPUTM_NOINLINE bool read_holds(std::uint64_t key, std::uint32_t source, std::uint32_t p,
                                 std::uint32_t version) const {
    const std::uint32_t writer = view_.writer_below(key, p);
    if (writer != source) return false;
    // it has not run again since `p` has read its log
    return writer == parts::window_view::memory || log(writer).status().version <= version;
  }
  GPUTM_INLINE void check(std::uint32_t p, beginning& b, std::uint32_t& dirty) {
    parts::position_status s = b.status;
    if (!s.dirty && !reads_hold(p, b)) {
      s.dirty = true;
      log(p).set_status(s);
      this->violate(p, violation::raw);
    } else if (s.dirty) {
      this->violate_again(p);
    } else if (s.last) {
      this->end_at(p);
    }
    dirty += s.dirty;
  }
  GPUTM_INLINE void check_all() {
    std::uint32_t dirty = 0;
    view_.set_lists(Options::repair && w_.wary && hint(env_.state->unlisted) == 0);
    std::uint32_t p = first_position();
    beginning next = begin_of(p);
    GPUTM_NO_UNROLL
    for (; p < w_.size; p += simt::grid_threads()) {
      if (!repairs() && p >= hint(env_.state->violated)) break;
      beginning mine = next;
      next = begin_of(p + simt::grid_threads());
      if (p >= w_.from) check(p, mine, dirty);
    }
    if (dirty != 0) simt::atomic(env_.state->dirty).fetch_add(dirty, order::relaxed);  // read behind the phase
  }
  /// One pass over the window, or a repair of it; false if the window begins anew.
  GPUTM_INLINE bool pass() {
    execute_all();
    barrier_.wait([this] {
      if (plan_.must_repeat())
        plan_.repeat();
      else
        plan_.prepare_check();
    });
    const std::uint32_t number = w_.number;
    w_ = parts::loop_plan::current(*env_.state);
    if (w_.number != number) return false;
    if (w_.decided) return true;
    check_all();
    barrier_.wait([this] { plan_.decide_or_repair(Options::repair); });
    w_ = parts::loop_plan::current(*env_.state);
    return true;
  }

 public:
  using base::base;

  /// Every thread of the grid calls it. Commit(environment, window, table, barrier) writes back.
  template <class Commit>
  GPUTM_INLINE void run(const Commit& commit) {
    // windows are numbered anew: what an earlier loop has left must not look finished
    for (std::uint32_t p = simt::grid_thread_rank(); p < env_.logs.window; p += simt::grid_threads())
      log(p).set_status({});
    barrier_.wait([this] { plan_.start(); });
    GPUTM_NO_UNROLL
    while (this->next_window(table_)) {
      view_ = {env_.logs, table_};
      bool same;
      do same = pass();
      while (same && w_.repair != 0);
      if (!same) continue;
      commit(env_, w_, table_, barrier_);
      if (w_.closing) break;  // nobody waits for these commits
      barrier_.wait([this] { plan_.next(); });
    }
    this->flush();
  }
};

}  // namespace gputm::speculation
