// Floor 3: a loop that is like those before it, run in place: a kernel of its own, before that of windows. Each
// iteration stores to its own elements (owned_rows) at once, and keeps what was there; no grid-wide barrier, no commit.
//
//   pass      all iterations: own elements in place; the few other stores, strays, are deferred; they, and reads of
//             elements to which strays are expected, mark the element
//   settle    the next kernel: has anybody read what a lower stray writes?  If not, strays are written back, for each
//             element its last one. If anything is not as expected, all that was stored is put back, and windows begin
//   learn     at the end of a loop: have the iterations of its last window stored to rows of neighbours, one after
//             another's?
//
// Why the result is the sequential loop's, if the pass counts. An element that an iteration owns: nobody else reads it,
// and nobody else stores to it but higher iterations, whose strays come after all that is in place. So its owner reads
// what was there before the loop, or what it has stored itself, and who stores last prevails. Any other element: all
// stores to it are strays, which are expected there, or the pass comes to nothing. Nobody sees them but who has stored
// them, and who else reads such an element has marked it. Marks tell of the highest position only, which is enough: if
// any position above a stray has read its element, that one has; and of several strays the highest one prevails.
//
// A loop of several windows may not stray: positions in marks and strays are those of one window.
//
// Nothing of that depends on what loops before have told: all threads go by the same rows, ranges and expectations, so
// wrong ones cost time only.
#pragma once

#include "gputm/parts/grid_barrier.hpp"
#include "gputm/speculation/in_place_access.hpp"

namespace gputm::speculation {

class in_place_pass {
  using order = simt::order;
  static GPUTM_INLINE void put(std::uint32_t& word, std::uint32_t v) { simt::plain_store(word, v); }
  static GPUTM_INLINE void count(std::uint64_t& counter, std::uint64_t n) {
    // relaxed: read after the launch
    simt::atomic(counter).fetch_add(n, order::relaxed);
  }
  /// The tag of the next pass; 0: there is none.
  static GPUTM_INLINE std::uint32_t next_tag(const loop_environment& env) {
    const parts::loop_past& past = *env.table.past;
    const std::uint32_t last = simt::plain_load(past.tag);
    const std::uint32_t ready = simt::plain_load(env.in_place.past->ready), calm = simt::plain_load(past.calm);
    return env.limits.iterations <= ready && calm != 0 && last + 3 <= env.limits.tags ? last + 2 : 0;
  }

 public:
  /// Each iteration once.
  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    const std::uint32_t tag = next_tag(env);
    if (tag == 0) return;
    parts::in_place_words& now = env.state->in_place;
    if (simt::grid_thread_rank() == 0) put(now.tag, tag);
    const in_place_window w = in_place_window::of(env, tag);
    if (w.strays != 0) in_place_access::begin_block(env);
    const turns mine(env.in_place.twice, w.iterations);
    iteration_trouble trouble;
    std::uint32_t p = mine.first, failed = 0;
    bool has_turn = p < mine.end;
    simt::in_step lanes(has_turn);
    GPUTM_NO_UNROLL
    while (has_turn) {
      in_place_access a(env, w, p);
      a.ask_for_own();
      iteration<in_place_access> it(a, env.regions, env.limits.operations, trouble);
      const attempt_end how = it.run(body, p);
      const bool cancelled = how == attempt_end::cancel && !a.has_strayed();
      a.leave(cancelled);
      failed |= (how != attempt_end::commit && !cancelled) || it.last() || a.exceeds();
      p += mine.step;
      has_turn = lanes.next(p < mine.end);
    }
    // relaxed: the next kernel reads it
    if (failed != 0) simt::atomic(now.trouble).store(1, order::relaxed);
  }

  /// All threads of the grid call it, in the kernel behind the pass. Unless is_over(), nothing is left of it then.
  /// Not compiled apart, nor is what settles strays: that would load a kernel's parameters from memory, and again
  /// behind a barrier.
  static GPUTM_INLINE void settle(const loop_environment& env) {
    const parts::in_place_words& now = env.state->in_place;
    const std::uint32_t tag = simt::plain_load(now.tag), trouble = simt::plain_load(now.trouble);
    const std::uint32_t expected = in_place_window::expected_strays(env);
    if (tag == 0) return;
    // mostly there are none, and then little code runs, which multiprocessors have to fetch first
    const bool smooth = trouble == 0 && expected == 0;
    if ((smooth || settle_strays(env, tag, expected, trouble != 0)) && simt::grid_thread_rank() == 0) note(env, tag);
  }
  /// Whether the pass was all of the loop.
  static GPUTM_INLINE bool is_over(const loop_environment& env) {
    const parts::in_place_words& now = env.state->in_place;
    return simt::plain_load(now.tag) != 0 && (simt::plain_load(now.trouble) | simt::plain_load(now.stale)) == 0;
  }
  /// All threads of the grid call it, at the end of a loop whose last window, of `size` iterations from `base` on, has
  /// gone smoothly; nobody uses its logs any more.
  /// Templates, so that kernels of transactions compile for GPUs that cannot add up a warp's words.
  template <class Sum = std::uint64_t>
  static GPUTM_NOINLINE void learn(const loop_environment& env, parts::grid_barrier barrier, std::uint64_t base,
                                   std::uint32_t size) {
    parts::in_place_past& past = *env.in_place.past;
    const std::uint32_t attempts = simt::plain_load(past.attempts);
    // the host need not know yet
    if (env.limits.iterations <= simt::plain_load(past.ready) || attempts == past.most_attempts) return;
    if (size != env.limits.iterations && !is_telling(env, size)) return;
    const std::uint32_t sample = size / (attempts + 2), first = static_cast<std::uint32_t>(base);
    if (simt::grid_thread_rank() == sample % simt::grid_threads()) propose(env, first, sample);
    barrier.wait([&past] { put(past.ready, 0); });  // what is known goes with other rows
    compare<Sum>(env, env.in_place.rows(), first, size);
    barrier.wait([&env, size] { decide(env, size); });
  }

 private:
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
  /// Whether the last of several windows tells something: a loop that needs one only had better have that, and of few
  /// iterations nearly any addresses look like rows.
  static GPUTM_INLINE bool is_telling(const loop_environment& env, std::uint32_t size) {
    return env.limits.iterations > env.logs.window && size >= env.logs.window / 4;
  }
  /// Whether the pass counts.
  static GPUTM_INLINE bool settle_strays(const loop_environment& env, std::uint32_t tag, std::uint32_t expected,
                                         bool failed) {
    parts::grid_barrier barrier(env.state->in_place_barrier);  // that of windows has not begun yet
    parts::in_place_words& now = env.state->in_place;
    const std::uint32_t more = simt::plain_load(now.more);
    const parts::stray_shares shares = env.in_place.shares(simt::plain_load(env.in_place.past->share));
    const std::uint32_t n = expected == 0 ? 0 : shares.of_blocks + (more < shares.more ? more : shares.more);
    // neighbours are in different blocks: mostly there are fewer entries than threads, and few blocks would have them
    // all
    const std::uint32_t rank = simt::thread_rank() * simt::grid_size() + simt::block_rank();
    const std::uint32_t threads = simt::grid_threads();
    const bool may_be_stale = (expected & in_place_window::to_nobodys) != 0;
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
      k += threads;
      mine = settled_stray(env, tag, k, n, false);
    }
    if (failed) {
      undo(env, tag);
      barrier.wait([&env, tag] { give_up(env, tag); });
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
  };
  static GPUTM_INLINE void undo(const loop_environment& env, std::uint32_t tag) {
    GPUTM_NO_UNROLL
    for (std::uint32_t p = simt::grid_thread_rank(); p < env.limits.iterations; p += simt::grid_threads())
      in_place_access::put_back(env, p, in_place_access::saved_by(env, tag, p));
  }
  static GPUTM_INLINE void give_up(const loop_environment& env, std::uint32_t tag) {
    parts::in_place_past& past = *env.in_place.past;
    put(past.ready, 0);
    put(env.table.past->tag, tag);
    const bool again = simt::plain_load(past.attempts) != past.most_attempts;
    env.in_place.tell_host(again ? parts::in_place_hope::unknown : parts::in_place_hope::none);
    count(env.state->counters.rounds, 1);
    count(env.state->counters.executed, env.limits.iterations);
  }
  static GPUTM_INLINE void note(const loop_environment& env, std::uint32_t tag) {
    const std::uint64_t n = env.limits.iterations;
    put(env.table.past->tag, tag);
    count(env.state->counters.rounds, 1);
    count(env.state->counters.iterations, n);
    count(env.state->counters.executed, n);
    count(env.state->counters.in_place, n);
    simt::progress();
  }

  /// Takes what position `p` of the window from iteration `base` on has stored to for its own: neighbours, as many and
  /// at the same indices in each array.
  static GPUTM_INLINE void propose(const loop_environment& env, std::uint32_t base, std::uint32_t p) {
    const parts::loop_log log(env.logs, p);
    const std::uint32_t n = log.write_count();
    std::uint32_t arrays = 0, lowest = ~0u, highest = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      const std::uint64_t key = parts::loop_log::element(log.write_key(k));
      const std::uint32_t index = parts::index_of(key);
      arrays |= 1u << parts::region_of(key);
      lowest = index < lowest ? index : lowest;
      highest = index > highest ? index : highest;
    }
    parts::owned_rows rows{arrays, 0, highest - lowest + 1};
    rows.begin = lowest - (base + p) * rows.width;
    const std::uint64_t all = std::uint64_t{rows.width} * simt::count(arrays);
    const bool fits = env.limits.iterations * rows.width <= rows.most_indices;
    if (n == 0 || all != n || n > rows.most || !fits) rows = {};
    parts::in_place_past& past = *env.in_place.past;
    put(past.arrays, rows.arrays);
    put(past.begin, rows.begin);
    put(past.width, rows.width);
    put(past.owned, 0);
    put(past.to_others, 0);
    put(past.to_nobodys, 0);
  }
  /// Counts what this thread's iterations have stored to their own elements, and elsewhere; strays to what nobody owns
  /// are expected there from then on.
  template <class Sum>
  static GPUTM_INLINE void compare(const loop_environment& env, const parts::owned_rows& rows, std::uint32_t base,
                                   std::uint32_t size) {
    if (rows.arrays == 0) return;
    const auto n = static_cast<std::uint32_t>(env.limits.iterations);
    Sum owned = 0, others = 0, nobodys = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t p = simt::grid_thread_rank(); p < size; p += simt::grid_threads()) {
      const parts::loop_log log(env.logs, p);
      const std::uint32_t writes = log.write_count();
      for (std::uint32_t k = 0; k < writes; ++k) {
        const std::uint64_t key = parts::loop_log::element(log.write_key(k));
        const std::uint32_t region = parts::region_of(key), index = parts::index_of(key);
        const bool has_owner = rows.has(region, index, n);
        const bool own = has_owner && rows.owner(index) == base + p;
        owned += own;
        others += has_owner && !own;
        nobodys += !has_owner;
        if (!has_owner) env.in_place.expect(env.table.first[region] + index);
      }
    }
    // relaxed: read behind the barrier
    owned = simt::reduce_add(simt::full_mask, owned);
    others = simt::reduce_add(simt::full_mask, others);
    nobodys = simt::reduce_add(simt::full_mask, nobodys);
    if (simt::lane() != 0) return;
    const auto add = [](std::uint32_t& word, std::uint64_t value) {
      if (value != 0) simt::atomic(word).fetch_add(static_cast<std::uint32_t>(value), order::relaxed);
    };
    add(env.in_place.past->owned, owned);
    add(env.in_place.past->to_others, others);
    add(env.in_place.past->to_nobodys, nobodys);
  }
  /// Few enough strays are no reason against it, unless the loop has more than the `size` iterations of its last
  /// window: their positions would not fit into marks.
  static GPUTM_INLINE void decide(const loop_environment& env, std::uint32_t size) {
    parts::in_place_past& past = *env.in_place.past;
    const std::uint64_t owned = simt::plain_load(past.owned);
    const std::uint64_t astray = std::uint64_t{simt::plain_load(past.to_others)} + simt::plain_load(past.to_nobodys);
    const bool may_stray = env.limits.iterations == size;
    const bool few = may_stray ? 8 * astray <= owned && 2 * astray <= env.in_place.strays.entries : astray == 0;
    const bool ready = owned != 0 && few;
    const std::uint32_t attempts = simt::plain_load(past.attempts) + 1;
    put(past.attempts, attempts);
    const auto known = ready ? static_cast<std::uint32_t>(env.limits.iterations) : 0;
    put(past.ready, known);
    put(past.share, parts::stray_shares::share(env.in_place.strays, env.in_place.blocks, astray));
    env.in_place.tell_host(!ready && attempts == past.most_attempts ? parts::in_place_hope::none : known);
  }
};

}  // namespace gputm::speculation
