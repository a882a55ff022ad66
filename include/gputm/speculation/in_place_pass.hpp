// Floor 3: a loop that is like those before it, or looks so, run in place: a kernel of its own, before that of windows.
// Each iteration stores to its own elements (owned_rows; or owned_list) at once, and keeps what was there; no grid-wide
// barrier, no commit.
//
//   pass      all iterations: own elements in place; the few other stores, strays, are deferred; they, and reads of
//             elements to which strays are expected, mark the element; but not reads of an iteration's own row
//             (read_rows)
//   settle    the next kernel: has anybody read what a lower stray writes?  If not, strays are written back, for each
//             element its last one. If anything is not as expected, all that was stored is put back, and windows begin
//
// What it goes by, loops before have found out (in_place_learning.hpp), or a scout (scout.hpp). Where neither has, an
// iteration may claim whatever it accesses (claimed_access.hpp): if no two claim the same element, but to read it, then
// nothing is to be settled. If few do, those that come second are postponed (postponed_pass.hpp).
//
// Why the result is the sequential loop's, if the pass counts. An element that an iteration owns: nobody else reads it,
// and nobody else stores to it but higher iterations, whose strays come after all that is in place. So its owner reads
// what was there before the loop, or what it has stored itself, and who stores last prevails. (Of a wide row it may put
// back what it has not stored to: that is still there, since nobody else has stored to it either.) Any other element:
// all stores to it are strays, which are expected there, or the pass comes to nothing. Nobody sees them but who has
// stored them. Who else reads such an element has marked it; or has it in its row of reads, and then no lower one's
// stray goes there. Marks tell of the highest position only, which is enough: if any position above a stray has read
// its element, that one has; and of several strays the highest one prevails.
//
// Of a pass by claims: an element that one iteration stores to, no other one touches, unless one of the two is
// postponed, or the pass comes to nothing. For of two claims of one element, one of them to store, the second one in
// the order of the word that both change finds the first, and whose it is ends before it touches the element. So each
// that is not postponed reads what was there before the loop, or what it has stored itself.
//
// Nothing of that depends on what loops before have told: all threads go by the same rows or lists, ranges and
// expectations, so wrong ones cost time only. But no element may be on two lists, nor on one and not known to be.
#pragma once

#include "gputm/speculation/claimed_access.hpp"
#include "gputm/speculation/in_place_access.hpp"
#include "gputm/speculation/postponed_pass.hpp"

namespace gputm::speculation {

class in_place_pass : in_place_end {
  using order = simt::order;
  /// Whether there is what a pass of this kind goes by: the host may have heard of another one.
  template <in_place_kind Kind>
  static GPUTM_INLINE bool is_known(const loop_environment& env) {
    using past = parts::in_place_past;
    const std::uint32_t by = simt::plain_load(env.in_place.past->owners);
    if constexpr (Kind == in_place_kind::lists)
      return by == past::lists && simt::plain_load(env.table.past->listed) != 0;
    return Kind == in_place_kind::rows ? by == past::rows : by != past::lists;
  }
  /// The tag of the next pass; 0: there is none.
  template <in_place_kind Kind>
  static GPUTM_INLINE std::uint32_t next_tag(const loop_environment& env) {
    const parts::loop_past& past = *env.table.past;
    const std::uint32_t last = simt::plain_load(past.tag), calm = simt::plain_load(past.calm);
    const std::uint32_t ready = simt::plain_load(env.in_place.past->ready);
    const bool may = env.limits.iterations <= ready && is_known<Kind>(env) && calm != 0;
    return may ? in_place_tags::next(env, last) : 0;
  }

 public:
  /// Each iteration once.
  template <in_place_kind Kind, class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    const std::uint32_t tag = next_tag<Kind>(env);
    if (tag == 0) return;
    parts::in_place_words& now = env.state->in_place;
    const in_place_window w = in_place_window::of(env, tag, Kind == in_place_kind::any_rows);
    if (simt::grid_thread_rank() == 0) {
      put(now.tag, tag);
      put(now.mode, w.mode(env));
    }
    if constexpr (Kind == in_place_kind::any_rows)
      if (w.claims) return run_all<claimed_access>(env, body, w, true);
    if ((w.strays & w.any) != 0) in_place_access<Kind>::begin_block(env);
    run_all<in_place_access<Kind>>(env, body, w, Kind == in_place_kind::any_rows && env.in_place.unproven);
  }

  /// All threads of the grid call it, in the kernel behind the pass. Unless is_over(), nothing is left of it then.
  /// Not compiled apart, nor is what settles strays: that would load a kernel's parameters from memory, and again
  /// behind a barrier.
  template <class Body, class Sum = std::uint64_t>  // as in_place_learning::learn()
  static GPUTM_INLINE void settle(const loop_environment& env, const Body& body) {
    const parts::in_place_words& now = env.state->in_place;
    const std::uint32_t tag = simt::plain_load(now.tag), trouble = simt::plain_load(now.trouble);
    const std::uint32_t expected = in_place_window::expected_strays(env);
    if (tag == 0) {
      if (simt::grid_thread_rank() == 0) forget_lists(env);
      return;
    }
    const std::uint32_t mode = simt::plain_load(now.mode);
    if (trouble == 0 && simt::plain_load(now.postponed) != 0) return (void)postponed_pass<Body>::end(env, body, tag);
    if ((mode & now.by_claims) != 0) end_claims(env, trouble == 0 && (mode & now.leaves_lists) != 0);
    // mostly there are none, and then little code runs, which multiprocessors have to fetch first
    const bool smooth = trouble == 0 && expected == 0;
    if ((smooth || settle_strays<Sum>(env, tag, expected, trouble != 0)) && simt::grid_thread_rank() == 0)
      note(env, tag);
  }
  /// Whether the pass was all of the loop.
  static GPUTM_INLINE bool is_over(const loop_environment& env) {
    const parts::in_place_words& now = env.state->in_place;
    return simt::plain_load(now.tag) != 0 && (simt::plain_load(now.trouble) | simt::plain_load(now.stale)) == 0;
  }

 private:
  /// All that this thread runs. `unproven`: it may well come to nothing, and then little of it should run.
  template <class Access, class Body>
  static GPUTM_INLINE void run_all(const loop_environment& env, const Body& body, const in_place_window& w,
                                   bool unproven) {
    parts::in_place_words& now = env.state->in_place;
    const turns mine(env.in_place.twice, w.iterations);
    iteration_trouble trouble;
    std::uint32_t p = mine.first;
    bool has_turn = p < mine.end;
    simt::in_step lanes(has_turn);
    GPUTM_NO_UNROLL
    while (has_turn) {
      // relaxed: a hint
      if (unproven && simt::atomic(now.trouble).load(order::relaxed) != 0) {
        leave_out(env, w.tag, p, mine.step, mine.end);
        p = mine.end;
      } else if (!run_iteration<Access>(env, body, w, p, trouble)) {
        // relaxed: the next kernel reads it
        simt::atomic(now.trouble).store(1, order::relaxed);
      }
      p += mine.step;
      has_turn = lanes.next(p < mine.end);
    }
  }
  /// One iteration. Whether all is well with it.
  template <class Access, class Body>
  static GPUTM_INLINE bool run_iteration(const loop_environment& env, const Body& body, const in_place_window& w,
                                         std::uint32_t p, iteration_trouble& trouble) {
    Access a(env, w, p);
    if constexpr (Access::has_rows) a.ask_for_own();
    iteration<Access> it(a, env.regions, env.limits.operations, trouble);
    const attempt_end how = it.run(body, p);
    const bool cancelled = how == attempt_end::cancel && !a.has_strayed();
    const bool postponed = how == attempt_end::failed && a.may_be_postponed();
    a.leave(cancelled || postponed);
    if (postponed) return a.postpone();
    return (how == attempt_end::commit || cancelled) && !it.last() && !a.exceeds();
  }
  /// A thread does not run its iterations from `p` on.
  static GPUTM_NOINLINE void leave_out(const loop_environment& env, std::uint32_t tag, std::uint32_t p,
                                       std::uint32_t step, std::uint32_t end) {
    GPUTM_NO_UNROLL
    for (; p < end; p += step) parts::saved_values(env.in_place.saved, p).leave_out(tag);
  }
  /// The iterations of a thread of the pass: `first`, and each `step`-th one behind it, below `end`. The first blocks,
  /// `twice` of them, run two neighbouring pieces of a loop, which takes less time than twice as many blocks would; if
  /// all did, multiprocessors would wait longer for the last ones. There are more pieces than those, so these are
  /// whole.
  struct turns {
    std::uint32_t first, step, end;
    GPUTM_INLINE turns(std::uint32_t twice, std::uint32_t n) {
      const std::uint32_t block = simt::block_rank(), threads = simt::block_size();
      const bool is_first = block < twice;
      first = simt::grid_thread_rank() + (is_first ? block : twice) * threads;
      step = is_first ? threads : simt::grid_threads();
      end = is_first ? 2 * (block + 1) * threads : n;
    }
  };
  /// Whether the pass counts.
  template <class Sum>
  static GPUTM_INLINE bool settle_strays(const loop_environment& env, std::uint32_t tag, std::uint32_t expected,
                                         bool failed) {
    parts::grid_barrier barrier(env.state->in_place_barrier);  // that of windows has not begun yet
    parts::in_place_words& now = env.state->in_place;
    const std::uint32_t more = simt::plain_load(now.more), mode = simt::plain_load(now.mode);
    const std::uint32_t marked = simt::plain_load(now.marked);
    const parts::stray_shares shares = env.in_place.shares(simt::plain_load(env.in_place.past->share));
    const std::uint32_t n = expected == 0 ? 0 : shares.of_blocks + (more < shares.more ? more : shares.more);
    // neighbours are in different blocks: mostly there are fewer entries than threads, and few blocks would have them
    // all
    const std::uint32_t rank = simt::thread_rank() * simt::grid_size() + simt::block_rank();
    const std::uint32_t threads = simt::grid_threads();
    const bool by_rows = (mode & now.by_rows) != 0;  // then strays have not gone where rows above have read
    const bool may_be_stale = (expected & in_place_window::to_nobodys) != 0 && (!by_rows || marked != 0);
    const bool finds_where = is_finding_where(mode, marked);
    settled_stray mine(env, tag, rank, n, may_be_stale);  // mostly a thread's only one
    if (!failed && may_be_stale) {
      bool stale = mine.is_stale();
      GPUTM_NO_UNROLL
      for (std::uint32_t k = rank + threads; k < n; k += threads)
        stale |= settled_stray(env, tag, k, n, true).is_stale();
      // relaxed: read behind the barrier
      failed = barrier.poll(0, stale, false, [&now] { simt::atomic(now.stale).store(1, order::relaxed); });
    }
    parts::latest_region array(env.regions);
    GPUTM_NO_UNROLL
    for (std::uint32_t k = rank; k < n;) {
      mine.end(env, array, !failed);
      if (finds_where && !failed) mine.expect(env);
      k += threads;
      mine = settled_stray(env, tag, k, n, false);
    }
    if (finds_where && simt::grid_thread_rank() == 0) put(env.in_place.past->has_roles, 1);
    if (failed) {
      if ((mode & now.by_claims) != 0)
        undo<Sum, saved_by_claims>(env, tag);
      else if (simt::plain_load(env.in_place.past->owners) == parts::in_place_past::lists)
        undo<Sum, saved_by_list>(env, tag);
      else
        undo<Sum, saved_by_rows>(env, tag);
      if (may_claim(*env.in_place.past)) keep_roles(env, 0);
      barrier.wait([&env, tag] { give_up(env, in_place_tags::last_of(env, tag)); });
    }
    return !failed;
  }
  /// All that matters of one stray, loaded at once; or none.
  class settled_stray {
    std::uint64_t key_word_ = 0, value_ = 0;
    std::uint32_t k_;
    bool is_stale_ = false, is_last_ = false;

   public:
    /// That of entry `k`, if it is one of the first `n` and in use. `may_be_stale`: that is asked for.
    GPUTM_INLINE settled_stray(const loop_environment& env, std::uint32_t tag, std::uint32_t k, std::uint32_t n,
                               bool may_be_stale)
        : k_(k) {
      if (k >= n) return;
      const parts::stray_entry entry(env.in_place.strays, k);
      key_word_ = entry.key_word();
      value_ = entry.first_word();
      const std::uint32_t position = entry.position();
      if (!entry.is_used(key_word_)) return;
      const parts::writer_table table(env.table, tag);
      const std::uint64_t key = entry.key_of(key_word_);
      const std::uint32_t written = table.last_write(key), read = may_be_stale ? table.last_read(key) : 0;
      is_stale_ = table.is_above(read, position);
      is_last_ = !table.is_above(written, position);
    }
    /// Somebody has read the element who should have seen the stray.
    GPUTM_INLINE bool is_stale() const { return is_stale_; }
    /// `counts`: it takes effect, if it is the element's last one.
    GPUTM_INLINE void end(const loop_environment& env, parts::latest_region& array, bool counts) const {
      const parts::stray_entry entry(env.in_place.strays, k_);
      if (!entry.is_used(key_word_)) return;
      entry.end();
      if (counts && is_last_) entry.write_back(array, entry.key_of(key_word_), value_);
    }
    /// Later loops expect it there, if nobody owns the element.
    GPUTM_INLINE void expect(const loop_environment& env) const {
      if (!parts::stray_entry::is_used(key_word_)) return;
      const std::uint64_t key = parts::stray_entry::key_of(key_word_);
      const std::uint32_t region = parts::region_of(key), index = parts::index_of(key);
      if (!env.in_place.rows().has(region, index, static_cast<std::uint32_t>(env.limits.iterations)))
        env.in_place.expect(env.table.number(region, index));
    }
  };
  /// Whether later loops go by where strays to nobody's elements went in this one: reads are not those of rows, so each
  /// reader of an element to which strays are expected has to mark it.
  static GPUTM_INLINE bool is_finding_where(std::uint32_t mode, std::uint32_t marked) {
    using words = parts::in_place_words;
    return (mode & words::anywhere) != 0 && ((mode & words::by_rows) == 0 || marked != 0);
  }
  /// Nobody has claimed anything any more; or, if the pass leaves lists, what is on them has an owner.
  static GPUTM_INLINE void end_claims(const loop_environment& env, bool leaves_lists) {
    keep_roles(env, leaves_lists ? env.in_place.owned : 0);
  }
  /// There has been no pass, and windows are about to use the logs: this loop may learn anew. That does not count as an
  /// attempt if all that was missing were tags; unless there are so few that it would be so again and again. (Lists
  /// that claims have left were none.)
  static GPUTM_NOINLINE void forget_lists(const loop_environment& env) {
    constexpr std::uint32_t enough_tags = 16;
    parts::in_place_past& past = *env.in_place.past;
    const parts::loop_past& last = *env.table.past;
    const std::uint32_t ready = simt::plain_load(past.ready);
    if (ready != 0 && simt::plain_load(past.owners) != past.lists) return;
    std::uint32_t attempts = simt::plain_load(past.attempts);
    const bool good = simt::plain_load(last.listed) != 0 && simt::plain_load(last.calm) != 0;
    const bool ended = in_place_tags::next(env, simt::plain_load(last.tag)) == 0 && env.limits.tags >= enough_tags;
    const bool was_one = attempts != 0 && ready != 0 && env.limits.iterations <= ready;
    if (was_one && good && ended) put(past.attempts, --attempts);
    put(past.ready, 0);
    // else it may well tell the same again at its end, and loops are enqueued meanwhile
    if (ready == 0 || attempts == past.most_attempts || !env.in_place.learns) env.in_place.tell_host();
  }
  /// What iterations have claimed is on their lists.
  static GPUTM_INLINE void note_lists(const loop_environment& env) {
    parts::in_place_past& past = *env.in_place.past;
    put(past.owners, past.lists);
    put(past.lists_of_claims, past.current);
    put(past.has_roles, 1);
    put(env.table.past->listed, 1);
  }
  static GPUTM_INLINE void note(const loop_environment& env, std::uint32_t tag) {
    put(env.table.past->tag, in_place_tags::last_of(env, tag));
    const parts::in_place_words& now = env.state->in_place;
    if ((simt::plain_load(now.mode) & now.leaves_lists) != 0) note_lists(env);
    if (env.in_place.unproven) env.in_place.tell_host();
    if (is_finding_where(simt::plain_load(now.mode), simt::plain_load(now.marked))) {
      put(env.in_place.past->anywhere, 0);
      put(env.in_place.past->read_arrays, 0);
    }
    note_counts(env);
  }
};

}  // namespace gputm::speculation
