// Floor 3: what loops find out at their end for those after them: may they run in place (in_place_pass.hpp)?  Have the
// iterations of the last window stored to rows of neighbours, one after another's, and how many stores go elsewhere?
// The logs of that window tell. If that is not so, and the window is all of the loop, then lists (owned_list) tell what
// iterations own: each of them what it alone has stored to, unless others have read it.
#pragma once

#include "gputm/parts/grid_barrier.hpp"
#include "gputm/speculation/loop_environment.hpp"

namespace gputm::speculation {

class in_place_learning {
  using order = simt::order;
  static GPUTM_INLINE void put(std::uint32_t& word, std::uint32_t v) { simt::plain_store(word, v); }

 public:
  /// All threads of the grid call it, at the end of a loop whose last window, of `size` iterations from `base` on, has
  /// gone smoothly; nobody uses its logs any more. `reads`: those of this thread's positions tell how many reads they
  /// have; else there are none.
  /// Templates, so that kernels of transactions compile for GPUs that cannot add up a warp's words.
  template <class Sum = std::uint64_t>
  static GPUTM_NOINLINE void learn(const loop_environment& env, parts::grid_barrier barrier, std::uint64_t base,
                                   std::uint32_t size, bool reads) {
    parts::in_place_past& past = *env.in_place.past;
    const std::uint32_t attempts = simt::plain_load(past.attempts);
    // the host need not know yet
    if (env.limits.iterations <= simt::plain_load(past.ready) || attempts == past.most_attempts) return;
    if (size != env.limits.iterations && !is_telling(env, size)) return;
    const std::uint32_t sample = size / (attempts + 2), first = static_cast<std::uint32_t>(base);
    if (simt::grid_thread_rank() == sample % simt::grid_threads()) propose(env, first, sample);
    barrier.wait([&past] {
      put(past.ready, 0);  // what is known goes with other rows
      put(past.has_roles, 1);
    });
    compare<Sum>(env, env.in_place.rows(), first, size);
    barrier.wait([&env, size] { decide(env, size); });
    if (simt::plain_load(past.ready) != 0 || !may_be_listed(env, size)) return;
    env.in_place.keep_roles(env.table.first[max_regions], 0);
    barrier.wait([&past] { note_rows(past, {}, 0, 0, 0); });
    const parts::writer_table table(env.table, simt::plain_load(env.table.past->tag));
    expect_strays(env, table, size, reads);
    barrier.wait();
    make_lists<Sum>(env, size);
    barrier.wait([&env] { decide_about_lists(env); });
  }

  /// Whether a loop like one of which so many stores go to its iterations' own elements, and so many elsewhere, may run
  /// in place.
  static GPUTM_INLINE bool suits(const loop_environment& env, std::uint64_t owned, std::uint64_t astray) {
    return owned != 0 && 8 * astray <= owned && 2 * astray <= env.in_place.strays.entries;
  }
  /// The rows that loops have from now on, and their strays.
  static GPUTM_INLINE void note_rows(parts::in_place_past& past, const parts::owned_rows& rows, std::uint32_t owned,
                                     std::uint32_t to_others, std::uint32_t to_nobodys) {
    put(past.owners, rows.is_wide() ? past.wide_rows : past.rows);
    put(past.arrays, rows.arrays);
    put(past.begin, rows.begin);
    put(past.width, rows.width);
    put(past.owned, owned);
    put(past.to_others, to_others);
    put(past.to_nobodys, to_nobodys);
    note_reads(past, {}, false);
  }
  /// And what iterations read; `anywhere`: in_place_past's.
  static GPUTM_INLINE void note_reads(parts::in_place_past& past, const parts::read_rows& reads, bool anywhere) {
    put(past.read_arrays, reads.arrays);
    put(past.read_begin, reads.begin);
    put(past.read_stride, reads.stride);
    put(past.read_width, reads.width);
    put(past.anywhere, anywhere);
  }
  /// Elements are claimed from now on, of the arrays that are known to be stored to.
  static GPUTM_INLINE void note_claims(const loop_environment& env) {
    parts::in_place_past& past = *env.in_place.past;
    note_rows(past, {}, 0, 0, 0);
    put(past.owners, past.claims);
    note_ready(env, {}, simt::plain_load(past.stored_to));
  }
  /// The loop may run in place, and store to these rows, and to all of some arrays.
  static GPUTM_INLINE void note_ready(const loop_environment& env, const parts::owned_rows& rows, std::uint32_t whole) {
    put(env.in_place.past->ready, static_cast<std::uint32_t>(env.limits.iterations));
    const std::uint32_t offset = simt::plain_load(env.table.past->offset);
    put(env.table.past->calm, parts::loop_past::known | ranges_of(env, rows, whole, offset));
  }
  /// A loop whose windows have not gone smoothly cannot learn. If it was to because a pass by claims had to postpone
  /// some, then that is better. One thread calls it, at the end.
  static GPUTM_NOINLINE void claim_again(const loop_environment& env) {
    parts::in_place_past& past = *env.in_place.past;
    if (simt::plain_load(past.lists_of_claims) != past.to_learn) return;
    if ((simt::plain_load(past.ready) | simt::plain_load(past.has_roles)) != 0) return;
    put(past.lists_of_claims, past.lost);
    note_claims(env);
    env.in_place.tell_host();
  }

 private:
  static GPUTM_INLINE std::uint32_t ranges_of(const loop_environment& env, const parts::owned_rows& rows,
                                              std::uint32_t whole, std::uint32_t offset) {
    std::uint32_t ranges = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t arrays = rows.arrays | whole; arrays != 0; arrays &= arrays - 1) {
      const std::uint32_t r = simt::lowest(arrays);
      const auto n = static_cast<std::uint32_t>(env.limits.iterations);
      const parts::owned_rows::interval mine = rows.all(n, env.regions.regions[r].length);
      if ((whole >> r & 1) != 0)
        ranges |= env.ranges.of_array(r);
      else if (mine.begin < mine.end)
        ranges |= env.ranges.of_all(r, static_cast<std::uint32_t>(mine.begin), static_cast<std::uint32_t>(mine.end - 1),
                                    offset);
    }
    return ranges;
  }
  /// Whether the last of several windows tells something: a loop that needs one only had better have that, and of few
  /// iterations nearly any addresses look like rows.
  static GPUTM_INLINE bool is_telling(const loop_environment& env, std::uint32_t size) {
    return env.limits.iterations > env.logs.window && size >= env.logs.window / 4;
  }
  /// Takes what position `p` of the window from iteration `base` on has stored to for a row.
  static GPUTM_INLINE void propose(const loop_environment& env, std::uint32_t base, std::uint32_t p) {
    const parts::loop_log log(env.logs, p);
    const std::uint32_t stores = log.write_count();
    parts::stored_bounds bounds;
    for (std::uint32_t k = 0; k < stores; ++k) {
      const std::uint64_t key = parts::loop_log::element(log.write_key(k));
      bounds.add(parts::region_of(key), parts::index_of(key));
    }
    put(env.in_place.past->sampled, stores);
    note_rows(*env.in_place.past, bounds.rows(base + p, env.limits.iterations), 0, 0, 0);
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
        if (!has_owner) env.in_place.expect(env.table.number(region, index));
      }
    }
    add_of_all(env.in_place.past->owned, owned);
    add_of_all(env.in_place.past->to_others, others);
    add_of_all(env.in_place.past->to_nobodys, nobodys);
  }
  /// All lanes of a warp call it.
  template <class Sum>
  static GPUTM_INLINE void add_of_all(std::uint32_t& word, Sum mine) {
    const Sum sum = simt::reduce_add(simt::full_mask, mine);
    // relaxed: read behind the barrier
    if (simt::lane() == 0 && sum != 0) simt::atomic(word).fetch_add(static_cast<std::uint32_t>(sum), order::relaxed);
  }
  /// Elements that several iterations have stored to, or one that another one has read: nobody owns them. Marks of the
  /// window tell who has stored.
  static GPUTM_INLINE void expect_strays(const loop_environment& env, const parts::writer_table& table,
                                         std::uint32_t size, bool reads) {
    const auto expect = [&env](std::uint64_t key) { env.in_place.expect(env.table.number(key)); };
    GPUTM_NO_UNROLL
    for (std::uint32_t p = simt::grid_thread_rank(); p < size; p += simt::grid_threads()) {
      const parts::loop_log log(env.logs, p);
      const std::uint32_t writes = log.write_count(), count = reads ? log.read_count() : 0;
      GPUTM_NO_UNROLL
      for (std::uint32_t k = 0; k < writes; ++k) {
        const std::uint64_t key = parts::loop_log::element(log.write_key(k));
        const parts::writer_table::writers marked = table.writers_of(key);
        if (marked.first != p || marked.last != p) expect(key);
      }
      GPUTM_NO_UNROLL
      for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint64_t key = log.read_entry(k);
        const std::uint32_t writer = table.first_writer(key);
        if (writer != table.none && writer != p) expect(key);
      }
    }
  }
  /// What is left of those stored to is its one iteration's.
  template <class Sum>
  static GPUTM_INLINE void make_lists(const loop_environment& env, std::uint32_t size) {
    Sum owned = 0, nobodys = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t p = simt::grid_thread_rank(); p < size; p += simt::grid_threads()) {
      const parts::loop_log log(env.logs, p);
      const parts::owned_list list(env.logs, p);
      const std::uint32_t writes = log.write_count();
      GPUTM_NO_UNROLL
      for (std::uint32_t k = 0; k < writes; ++k) {
        const std::uint64_t key = parts::loop_log::element(log.write_key(k));
        const std::uint64_t element = env.table.number(key);
        const bool own = k < list.most && !env.in_place.is_expected_by_now(element);
        env.in_place.add_role(element, own ? env.in_place.owned : env.in_place.expected);
        if (own)
          log.set_write_key(k, key);
        else
          log.drop_write(k, key);
        owned += own;
        nobodys += !own;
      }
      list.end_at(writes);
    }
    add_of_all(env.in_place.past->owned, owned);
    add_of_all(env.in_place.past->to_nobodys, nobodys);
  }
  /// Whether lists may do, of a loop whose last window had `size` iterations: nobody owns what an iteration stores
  /// beyond the end of its list.
  static GPUTM_INLINE bool may_be_listed(const loop_environment& env, std::uint32_t size) {
    constexpr std::uint32_t most = parts::owned_list::most;
    const std::uint32_t stores = simt::plain_load(env.in_place.past->sampled);
    return size == env.limits.iterations && suits(env, most, stores < most ? 0 : stores - most);
  }
  static GPUTM_INLINE void decide_about_lists(const loop_environment& env) {
    parts::in_place_past& past = *env.in_place.past;
    const std::uint64_t owned = simt::plain_load(past.owned), astray = simt::plain_load(past.to_nobodys);
    if (!suits(env, owned, astray)) return env.in_place.tell_host();
    put(past.owners, past.lists);
    if (simt::plain_load(past.lists_of_claims) == past.current) put(past.lists_of_claims, 0);
    put(past.ready, static_cast<std::uint32_t>(env.limits.iterations));
    put(past.share, parts::stray_shares::share(env.in_place.strays, env.in_place.blocks, astray));
    put(env.table.past->listed, 1);
    env.in_place.tell_host();
  }
  /// `size`: iterations of the last window.
  static GPUTM_INLINE void decide(const loop_environment& env, std::uint32_t size) {
    parts::in_place_past& past = *env.in_place.past;
    const std::uint64_t each = (env.limits.iterations - 1) / size + 1;  // iterations that one of them stands for
    const std::uint64_t to_others = simt::plain_load(past.to_others), to_nobodys = simt::plain_load(past.to_nobodys);
    const std::uint64_t owned = each * simt::plain_load(past.owned), astray = each * (to_others + to_nobodys);
    // of other windows' strays to what nobody owns it is not known where they have gone
    const bool ready = (each == 1 || to_nobodys == 0) && suits(env, owned, astray);
    put(past.attempts, simt::plain_load(past.attempts) + 1);
    put(past.ready, ready ? static_cast<std::uint32_t>(env.limits.iterations) : 0);
    put(past.share, parts::stray_shares::share(env.in_place.strays, env.in_place.blocks, astray));
    // else lists may do, if the window was all of the loop
    if (ready || !may_be_listed(env, size)) env.in_place.tell_host();
  }
};

}  // namespace gputm::speculation
