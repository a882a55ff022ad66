// Floor 3: a scout looks at a loop of which its workspace knows nothing yet, before it begins: may it run in place
// (in_place_pass.hpp)?  A kernel of its own, of few threads: each runs one iteration, from all over the loop, of which
// nothing stays but its log. The most common rows in these logs are taken for those of all iterations.
//
// Where there are no rows, iterations may claim elements of their own (claimed_access.hpp), which is in vain if many of
// them depend on each other. To find that out other blocks run, at the same time, iterations that follow each other,
// and others that are far apart: the probes. These mark what they would store to, and look whether others have marked
// that, or what they have read.
//
// It tells nothing for certain: what it has not seen the pass finds out, which is undone then. That pass is unproven:
// where strays go to what nobody owns is known of arrays only, so any element of theirs may be one; and threads that
// find trouble tell others at once, which need not begin then.
#pragma once

#include "gputm/parts/write_buffer.hpp"
#include "gputm/speculation/in_place_learning.hpp"
#include "gputm/speculation/in_place_tags.hpp"
#include "gputm/speculation/iteration.hpp"

namespace gputm::speculation {

/// How such an iteration loads and stores: it reads what memory has, or what it has stored itself, which nobody else
/// sees. Its log has all that it has stored, and what it has read as far as there is room.
class scout_access : public tentative_access {
  parts::write_buffer writes_;
  parts::stored_bounds bounds_;
  std::uint32_t reads_ = 0, loads_ = 0;
  const std::uint32_t most_loads_;
  std::uint32_t last_ = 0, jumps_ = 0;  // index of the last store; and of how many the one before was no neighbour's
  static constexpr std::uint32_t most_jumps = 16;
  bool is_no_row_ = false;

 public:
  /// It ends after so many loads.
  GPUTM_INLINE explicit scout_access(const parts::loop_log& log, std::uint32_t most_loads = ~0u)
      : writes_(log), most_loads_(most_loads) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    if (loads_++ == most_loads_) return false;
    const std::uint64_t key = parts::element_key(number, index);
    if (writes_.read(key, out)) return true;
    out = parts::read_element<T>(r, index);
    if (reads_ != writes_.log().read_capacity()) writes_.log().set_read(reads_++, key, parts::loop_log::none);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region&, std::uint32_t number, std::uint32_t index, const T& value) {
    const std::uint64_t key = parts::element_key(number, index);
    if (writes_.rewrite(key, value)) return true;
    const bool is_next = index - last_ + 1 <= 2;
    if (!is_next) ++jumps_;
    last_ = index;
    // more than 32 elements are no rows of several arrays, and jumps no row of one; and to look for own writes takes
    // longer and longer
    is_no_row_ = jumps_ > most_jumps && writes_.size() >= parts::owned_rows::most;
    if (writes_.full() || is_no_row_) return false;
    writes_.add(key, value);
    bounds_.add(number, index);
    return true;
  }
  GPUTM_INLINE std::uint32_t reads() const { return reads_; }
  GPUTM_INLINE std::uint32_t writes() const { return writes_.size(); }
  /// It has ended before its time, since enough had been seen.
  GPUTM_INLINE bool has_seen_enough() const { return is_no_row_; }
  GPUTM_INLINE bool has_loaded_too_many() const { return loads_ > most_loads_; }
  GPUTM_INLINE const parts::stored_bounds& bounds() const { return bounds_; }
};

/// One thread of a grid of blocks of one full warp each. The logs have room for them
/// (loop_log_space::has_room_among_entries), and the loop an iteration for each. Few threads, which wait for one
/// latency after another, and all others for them: so whatever can be under way together is.
class scout {
  using order = simt::order;

 public:
  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    if (simt::block_rank() >= env.in_place.scouts) return probe(env, body);
    const std::uint32_t n = iterations(env);
    const std::uint32_t i = first_of_warp(simt::block_rank(), env.in_place.scouts, n) + simt::lane();
    const parts::loop_log log(env.logs.among_entries(simt::grid_threads()), simt::grid_thread_rank());
    scout_access a(log);
    iteration_trouble trouble;
    iteration<scout_access> it(a, env.regions, env.limits.operations, trouble);
    const attempt_end how = it.run(body, i);
    const parts::stored_bounds stored = how == attempt_end::commit ? a.bounds() : parts::stored_bounds();
    const std::uint64_t word = most_common(stored.rows(i, n).word());
    const parts::owned_rows rows = parts::owned_rows::of(word);
    const stores_seen stores = look_at_stores(log, stored.count(), rows, i, n);
    const std::uint32_t arrays = rows.arrays | simt::reduce_or(simt::full_mask, stores.arrays);
    const reads_seen reads = look_at_reads(log, a.reads(), rows, i, n, arrays);
    const std::uint64_t read = rows_of_reads(reads, i);
    // what one has seen enough of may be a wide row, in another order: that is for loops to learn
    const bool cut = how == attempt_end::failed, is_scattered = a.has_seen_enough() && !a.bounds().may_be_row();
    const bool failed = (cut && !is_scattered) || it.last();
    const std::uint32_t stored_to = how == attempt_end::cancel ? 0 : a.bounds().arrays();
    const claims_seen claims{stored_to, has_updated(log, a.writes(), a.reads()), failed};
    const report r = of_warp<>(word, stores, read, reads, !are_in_row(reads, read, i), cut || failed, claims);
    if (simt::lane() == 0) tell(env, r);
  }

 private:
  static constexpr std::uint32_t at_once = 4;  ///< entries of a log that are loaded together
  /// Of probes, all of which wait for the longest. In a graph's loop over its vertices neighbours of a hub may have
  /// thousands. Loops with longer iterations claim nothing.
  static constexpr std::uint32_t most_loads = 128;
  /// Those of probes, all together, and of the first half of them. The iterations of these follow each other, in the
  /// middle of the loop: dependences of neighbours are the most common ones. Those of the others' warps are far apart.
  static GPUTM_INLINE std::uint32_t probing(const loop_environment& env) {
    return (simt::grid_size() - env.in_place.scouts) * simt::warp_width();
  }
  static GPUTM_INLINE std::uint32_t probing_near(const loop_environment& env) {
    const std::uint32_t warps = probing(env) / simt::warp_width();
    return (env.in_place.postponed.most == 0 ? warps : warps / 2) * simt::warp_width();
  }
  static GPUTM_INLINE std::uint32_t probed(const loop_environment& env, std::uint32_t p) {
    const std::uint32_t n = iterations(env), width = simt::warp_width(), near = probing_near(env);
    if (p < near) return (n - near) / 2 + p;
    return first_of_warp((p - near) / width, (probing(env) - near) / width, n) + simt::lane();
  }
  template <class Body>
  static GPUTM_INLINE void probe(const loop_environment& env, const Body& body) {
    const std::uint32_t p = simt::grid_thread_rank() - env.in_place.scouts * simt::warp_width();
    const parts::loop_log log(env.logs.among_entries(simt::grid_threads()), simt::grid_thread_rank());
    scout_access a(log, most_loads);
    iteration_trouble trouble;
    iteration<scout_access> it(a, env.regions, env.limits.operations, trouble);
    (void)it.run(body, probed(env, p));
    const dependences mine = dependences_of(env, log, a.writes(), a.reads(), p);
    const auto lanes = [](bool has) { return simt::count(simt::ballot(simt::full_mask, has)); };
    const std::uint32_t near = lanes(mine.near), far = lanes(mine.far), on_lower = lanes(mine.on_lower);
    const std::uint32_t cut = lanes(a.has_loaded_too_many());
    simt::sync_warp();  // whoever decides, behind the arrivals, changes the tag, which all lanes have read
    if (simt::lane() != 0) return;
    parts::scout_words& words = env.state->scout;
    add(words.depends, near);
    add(words.depends_far, far);
    add(words.depends_on_lower, on_lower);
    add(words.failed, cut);
    arrive(env);
  }
  /// On other iterations of probes: on neighbours, on one far away; and whether it reads what a lower one stores.
  struct dependences {
    bool near = false, far = false, on_lower = false;
  };
  /// Of the first elements that it has stored to, and read.
  static GPUTM_INLINE dependences dependences_of(const loop_environment& env, const parts::loop_log& log,
                                                 std::uint32_t writes, std::uint32_t reads, std::uint32_t p) {
    dependences d;
    const std::uint32_t tag = in_place_tags::next(env, simt::plain_load(env.table.past->tag));
    if (tag == 0) return d;
    const parts::writer_table table(env.table, tag);
    const std::uint32_t first_far = probing_near(env);
    // those of a warp that is far from all others depend on each other as neighbours do, of which others tell
    const std::uint32_t together = p < first_far ? 1 : simt::warp_width();
    const auto note = [&](std::uint32_t mark) {
      const bool other = table.is_of_another(mark, p, together);
      const bool far = p >= first_far || table.position_of(mark) >= first_far;
      d.near |= other && !far;
      d.far |= other && far;
      return other;
    };
    const bool updates = has_updated(log, writes, reads);
    std::uint64_t key[at_once], entry[at_once];
    log.fetch_write_keys(0, key);
    log.fetch_reads(0, entry);
    GPUTM_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      if (k >= writes) continue;
      const std::uint32_t mark = table.mark_write(key[k], p);
      d.on_lower |= note(mark) && updates && !table.is_above(mark, p);  // which its own one hides from its reads
    }
    GPUTM_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      if (k >= reads) continue;
      const std::uint32_t mark = table.last_write_yet(parts::loop_log::key_of_read(entry[k]));
      d.on_lower |= note(mark) && !table.is_above(mark, p);
    }
    return d;
  }
  /// Nobody waits for an answer.
  static GPUTM_INLINE void add(std::uint32_t& to, std::uint32_t value) {
    // relaxed: the arrival orders it
    if (value != 0) simt::atomic(to).fetch_add(value, order::relaxed);
  }
  static GPUTM_INLINE void arrive(const loop_environment& env) {
    // acq_rel: the arrivals are a release sequence, and the last one pairs with all before it
    if (simt::atomic(env.state->scout.arrived).fetch_add(1, order::acq_rel) + 1 == simt::grid_size()) decide(env);
  }
  static GPUTM_INLINE std::uint32_t iterations(const loop_environment& env) {
    return static_cast<std::uint32_t>(env.limits.iterations);
  }
  /// The lanes of a warp run neighbouring iterations, which mostly find what they access in the same lines. Warps are
  /// not at equal distances: a pattern of the loop might be as long. Nor does the first one begin with the loop, whose
  /// ends may be special.
  static GPUTM_INLINE std::uint32_t first_of_warp(std::uint32_t warp, std::uint32_t warps, std::uint32_t n) {
    const std::uint32_t part = n / warps;
    return warp * part + ((warp + 1) * 0x9E3779B1u >> 8) % (part - simt::warp_width() + 1);
  }
  /// Of the words that the lanes have, the one that most of them have; 0 if no lane has another one.
  static GPUTM_INLINE std::uint64_t most_common(std::uint64_t mine) {
    const std::uint32_t alike = simt::count(simt::match_any(simt::full_mask, mine));
    const std::uint32_t vote = mine == 0 ? 0 : alike << 8 | simt::lane();
    const std::uint32_t best = simt::reduce_max(simt::full_mask, vote);
    const std::uint64_t its = simt::shfl(simt::full_mask, mine, best & 0xffu);
    return best == 0 ? 0 : its;
  }
  /// What an iteration has stored, going by rows.
  struct stores_seen {
    std::uint32_t owned = 0, to_others = 0, to_nobodys = 0, arrays = 0, unfit = 0;
  };
  static GPUTM_INLINE stores_seen look_at_stores(const parts::loop_log& log, std::uint32_t count,
                                                 const parts::owned_rows& rows, std::uint32_t i, std::uint32_t n) {
    stores_seen s;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < count; k += at_once) {
      std::uint64_t key[at_once];
      log.fetch_write_keys(k, key);
      GPUTM_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        if (k + j >= count) continue;
        const std::uint32_t region = parts::region_of(key[j]), index = parts::index_of(key[j]);
        const bool has_owner = rows.has(region, index, n), own = has_owner && rows.is_own(index, i);
        s.owned += own;
        s.to_others += has_owner && !own;
        s.unfit += has_owner && !own && !rows.is_below(index, i);
        s.to_nobodys += !has_owner;
        if (!has_owner) s.arrays |= 1u << region;
      }
    }
    return s;
  }
  /// What matters where iterations claim what they access.
  struct claims_seen {
    std::uint32_t stored_to = 0, updates = 0, failed = 0;
  };
  /// Whether one of the first elements that it has stored to is one of the first that it has read.
  static GPUTM_INLINE bool has_updated(const parts::loop_log& log, std::uint32_t writes, std::uint32_t reads) {
    std::uint64_t key[at_once], entry[2 * at_once];
    log.fetch_write_keys(0, key);
    log.fetch_reads(0, entry);
    bool any = false;
    GPUTM_UNROLL
    for (unsigned j = 0; j < 2 * at_once; ++j) {
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        any |= (j < reads) & (k < writes) & (parts::loop_log::key_of_read(entry[j]) == key[k]);
    }
    return any;
  }
  /// What it has read of some arrays, but for what iterations own.
  struct reads_seen {
    std::uint32_t lowest = ~0u, highest = 0, arrays = 0, unfit = 0;
  };
  static GPUTM_INLINE reads_seen look_at_reads(const parts::loop_log& log, std::uint32_t count,
                                               const parts::owned_rows& rows, std::uint32_t i, std::uint32_t n,
                                               std::uint32_t arrays) {
    reads_seen s;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < count; k += at_once) {
      std::uint64_t entry[at_once];
      log.fetch_reads(k, entry);
      GPUTM_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        if (k + j >= count) continue;
        const std::uint64_t key = parts::loop_log::key_of_read(entry[j]);
        const std::uint32_t region = parts::region_of(key), index = parts::index_of(key);
        if (rows.has(region, index, n)) {
          s.unfit += !rows.is_own(index, i);
        } else if ((arrays >> region & 1) != 0) {
          s.lowest = index < s.lowest ? index : s.lowest;
          s.highest = index > s.highest ? index : s.highest;
          s.arrays |= 1u << region;
        }
      }
    }
    return s;
  }
  /// The rows of most lanes' reads, as a word; they are as far apart as those of two neighbours.
  static GPUTM_INLINE std::uint64_t rows_of_reads(const reads_seen& mine, std::uint32_t i) {
    const std::uint32_t next = simt::shfl(simt::full_mask, mine.lowest, (simt::lane() + 1) % simt::warp_width());
    const std::uint32_t stride = next - mine.lowest;
    const parts::read_rows reads{mine.arrays, mine.lowest - i * stride, stride, mine.highest - mine.lowest + 1};
    const bool any = mine.arrays != 0 && reads.stride <= reads.most && reads.width <= reads.most;
    return most_common(any ? reads.word() : 0);
  }
  static GPUTM_INLINE bool are_in_row(const reads_seen& mine, std::uint64_t word, std::uint32_t i) {
    const parts::read_rows reads = parts::read_rows::of(word, mine.arrays);
    const std::uint32_t row = reads.row(i);
    return mine.arrays == 0 || (mine.lowest - row < reads.width && mine.highest - row < reads.width);
  }
  /// What a warp has found out.
  struct report {
    std::uint64_t rows, reads;
    std::uint32_t read_arrays, odd_reads;
    stores_seen stores;
    claims_seen claims;
  };
  template <class Sum = std::uint32_t>  // as in_place_learning::learn()
  static GPUTM_INLINE report of_warp(std::uint64_t rows, const stores_seen& stores, std::uint64_t read,
                                     const reads_seen& reads, bool odd, bool failed, const claims_seen& claims) {
    const auto sum = [](Sum x) { return simt::reduce_add(simt::full_mask, x); };
    const auto all = [](Sum x) { return simt::reduce_or(simt::full_mask, x); };
    return {rows,
            read,
            all(reads.arrays),
            sum(odd),
            {sum(stores.owned), sum(stores.to_others), sum(stores.to_nobodys), all(stores.arrays),
             sum(stores.unfit + reads.unfit + failed)},
            {all(claims.stored_to), sum(claims.updates), sum(claims.failed)}};
  }
  /// Adds up what all have; the last one decides. One lane calls it.
  static GPUTM_INLINE void tell(const loop_environment& env, const report& r) {
    parts::scout_words& words = env.state->scout;
    // relaxed, all: the arrival orders them. Nobody waits for an answer
    const auto raise = [](std::uint64_t& highest, std::uint64_t& lowest, std::uint64_t word) {
      simt::atomic(highest).fetch_max(word, order::relaxed);
      simt::atomic(lowest).fetch_max(~word, order::relaxed);
    };
    raise(words.highest_rows, words.lowest_rows, r.rows);
    if (r.reads != 0) {
      raise(words.highest_reads, words.lowest_reads, r.reads);
      simt::atomic(words.read_arrays).fetch_or(r.read_arrays, order::relaxed);
    }
    add(words.odd_reads, r.odd_reads);
    add(words.owned, r.stores.owned);
    add(words.to_others, r.stores.to_others);
    add(words.to_nobodys, r.stores.to_nobodys);
    add(words.unfit, r.stores.unfit);
    add(words.updates, r.claims.updates);
    add(words.failed, r.claims.failed);
    if (r.stores.arrays != 0) simt::atomic(words.arrays).fetch_or(r.stores.arrays, order::relaxed);
    if (r.claims.stored_to != 0) simt::atomic(words.stored_to).fetch_or(r.claims.stored_to, order::relaxed);
    arrive(env);
  }
  static GPUTM_INLINE void decide(const loop_environment& env) {
    const parts::scout_words& words = env.state->scout;
    parts::in_place_past& past = *env.in_place.past;
    if (simt::plain_load(past.owners) == past.lists) {  // its logs lie where lists were
      simt::plain_store(past.ready, 0);
      simt::plain_store(env.table.past->listed, 0);
      env.in_place.tell_host();
    }
    // plain, all: nobody changes them any more
    const std::uint64_t highest = simt::plain_load(words.highest_rows), lowest = ~simt::plain_load(words.lowest_rows);
    const std::uint64_t reads = simt::plain_load(words.highest_reads), other = ~simt::plain_load(words.lowest_reads);
    const std::uint32_t read_arrays = simt::plain_load(words.read_arrays), odd = simt::plain_load(words.odd_reads);
    const stores_seen all{simt::plain_load(words.owned), simt::plain_load(words.to_others),
                          simt::plain_load(words.to_nobodys), simt::plain_load(words.arrays),
                          simt::plain_load(words.unfit)};
    const bool has_tag = end_probes(env);
    const std::uint32_t n = iterations(env), samples = env.in_place.scouts * simt::warp_width();
    const std::uint32_t each = (n - 1) / samples + 1;  // iterations that it stands for
    const auto of_all = [each](std::uint32_t x) {
      const std::uint64_t times = std::uint64_t{x} * each;
      return static_cast<std::uint32_t>(times < ~0u ? times : ~0u);
    };
    const std::uint32_t owned = of_all(all.owned), to_others = of_all(all.to_others);
    const std::uint32_t to_nobodys = of_all(all.to_nobodys);
    const std::uint64_t astray = std::uint64_t{to_others} + to_nobodys;
    simt::atomic(env.state->counters.executed)
        .fetch_add(simt::grid_threads(), order::relaxed);  // read after the launch
    if (!has_tag) return;
    if (highest != lowest || all.unfit != 0 || !in_place_learning::suits(env, owned, astray))
      return decide_about_claims(env, samples, highest == lowest && highest != 0);
    const parts::owned_rows rows = parts::owned_rows::of(highest);
    in_place_learning::note_rows(past, rows, owned, to_others, to_nobodys);
    const parts::read_rows known = parts::read_rows::of(reads, read_arrays);
    const bool by_rows = reads != 0 && reads == other && odd == 0 && known.fits(n);
    in_place_learning::note_reads(past, by_rows ? known : parts::read_rows{}, true);
    simt::plain_store(past.share, parts::stray_shares::share(env.in_place.strays, env.in_place.blocks, astray));
    in_place_learning::note_ready(env, rows, all.arrays);
  }
  /// Nobody takes marks of theirs for its own. Whether there is a tag for a pass in place.
  static GPUTM_INLINE bool end_probes(const loop_environment& env) {
    std::uint32_t& last = env.table.past->tag;
    if (const std::uint32_t tag = in_place_tags::next(env, simt::plain_load(last)); tag != 0)
      simt::plain_store(last, tag);
    return in_place_tags::next(env, simt::plain_load(last)) != 0;
  }
  /// There are no rows: perhaps iterations store to elements of their own nevertheless.
  static GPUTM_INLINE void decide_about_claims(const loop_environment& env, std::uint32_t samples, bool alike) {
    const parts::scout_words& words = env.state->scout;
    parts::in_place_past& past = *env.in_place.past;
    // plain, all, as before
    const std::uint32_t stored_to = simt::plain_load(words.stored_to), updates = simt::plain_load(words.updates);
    const bool fits = env.in_place.saved.keys != nullptr && simt::plain_load(past.has_roles) == 0;
    if (!fits || stored_to == 0 || simt::plain_load(words.failed) != 0 || depend_too_many(env, alike)) return;
    simt::plain_store(past.stored_to, stored_to);
    simt::plain_store(past.updates, 2 * updates > samples);
    in_place_learning::note_claims(env);
  }
  /// More than can be postponed, or had better be. `alike`: all store to the same rows. What is postponed takes some 17
  /// microseconds for each access of an iteration, and to look who is in its way one more for 200 thousand accesses of
  /// the loop: windows take less where iterations are long, or stream, or where none reads what a lower one stores,
  /// unless there are several, or the loop is long (numbers of an H200; docs/algorithms/loops_in_place.md).
  static GPUTM_INLINE bool depend_too_many(const loop_environment& env, bool alike) {
    constexpr std::uint32_t one_of = 32;
    constexpr std::uint64_t many = 8'000'000;  // accesses of a loop
    const parts::scout_words& words = env.state->scout;
    const std::uint32_t near = simt::plain_load(words.depends), far = simt::plain_load(words.depends_far);
    if ((near | far) == 0) return false;
    if (env.in_place.postponed.most == 0 || alike || far != 0 || near * one_of > probing_near(env)) return true;
    const parts::loop_log_space& logs = env.logs;
    if (env.limits.iterations > logs.window || env.limits.iterations * (logs.reads + logs.writes) >= many) return false;
    return 4 * simt::plain_load(words.depends_on_lower) < near;
  }
};

}  // namespace gputm::speculation
