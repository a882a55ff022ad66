// Floor 3: the commit of a window whose writes were deferred: all positions at once and in no order, for each element
// its last writer only.
//
// Source: GPU-TLS (gpu_tls.hpp names the text), algorithm 4; without its lock, and exact: an entry of the table belongs
// to one element, so the last writer that commits is known before anybody writes, and it alone writes.
#pragma once

#include "gputm/parts/grid_barrier.hpp"
#include "gputm/parts/position_set.hpp"
#include "gputm/speculation/loop_environment.hpp"

namespace gputm::speculation {

class parallel_commit {
  static constexpr std::uint32_t at_once = 4, rows_at_once = 6, wide = 8;  // entries whose latencies overlap

  /// What the write-back of a position starts from, fetched while the one before it is written: latencies bound this.
  /// Its count is fetched one earlier still: where most positions have written little, entries that they do not have
  /// would be most of the bytes.
  struct writes_of {
    std::uint32_t count = 0;
    std::uint64_t key[at_once] = {}, value[at_once] = {};
  };
  static GPUTM_INLINE writes_of fetch(const parts::loop_log_space& logs, std::uint32_t p, std::uint32_t count) {
    writes_of f;
    f.count = count;
    parts::loop_log(logs, p).fetch_writes(0, count, f.key, f.value);
    return f;
  }
  static GPUTM_INLINE std::uint32_t count_of(const parts::loop_log_space& logs, std::uint32_t p, std::uint32_t end) {
    return p < end ? parts::loop_log(logs, p).write_count() : 0;
  }

  /// Few enough writes of a position for their warp to go through them while its caches hold the lines of all.
  static constexpr std::uint32_t most_together = 16;
  /// What tells whether positions have written rows of neighbours.
  struct row_of {
    std::uint32_t count = 0;
    std::uint64_t key[2] = {};
  };
  static GPUTM_INLINE row_of fetch_row(const parts::loop_log_space& logs, std::uint32_t p, std::uint32_t end) {
    row_of f;
    if (p >= end) return f;
    const parts::loop_log log(logs, p);
    f.count = log.write_count();
    log.fetch_write_keys(0, f.key);
    return f;
  }
  /// What a warp's positions have written together.
  struct warp_rows {
    std::uint32_t count = 0;   ///< elements each, or 0: it does not look as if these were rows
    simt::mask_t written = 0;  ///< lanes whose positions have; the others wrote nothing, or do not exist
  };
  /// Whether it looks as if the positions of this warp that have written anything have written equally many elements,
  /// and half of them a row of neighbours; the same answer on all lanes. If others have not, or keys lie in another
  /// order behind the first two, that costs time only.
  static GPUTM_INLINE warp_rows in_rows(const row_of& mine) {
    const simt::mask_t written = simt::ballot(simt::full_mask, mine.count != 0);
    if (written == 0) return {1, written};  // nothing to write is soon written
    const std::uint32_t count = simt::shfl(simt::full_mask, mine.count, simt::lowest(written));
    const bool row = parts::loop_log::element(mine.key[1]) == parts::loop_log::element(mine.key[0]) + 1;
    const std::uint32_t rows = simt::count(simt::ballot(simt::full_mask, row && mine.count == count));
    const bool equal = simt::all(simt::full_mask, mine.count == count || mine.count == 0);
    if (!equal || count < 2 || count > most_together || 2 * rows < simt::count(written)) return {};
    return {count, written};
  }
  /// The warp writes the entries of each of its positions back, which begin at `first`. The lanes take one position's
  /// entries after another's, so that what they write together lies side by side; if each one wrote its own position's,
  /// they would be `count` elements apart.
  static GPUTM_INLINE void write_rows(const parts::loop_log_space& logs, parts::latest_region& array,
                                      std::uint32_t first, const warp_rows& rows) {
    const std::uint32_t lanes = simt::warp_width(), count = rows.count;
    std::uint32_t of = simt::lane() / count, i = simt::lane() % count;
    GPUTM_NO_UNROLL
    while (of < lanes) {
      std::uint32_t position[rows_at_once], entry[rows_at_once];
      std::uint64_t key[rows_at_once], value[rows_at_once] = {};
      GPUTM_UNROLL
      for (unsigned k = 0; k < rows_at_once; ++k) {
        position[k] = first + of;
        entry[k] = i;
        key[k] = parts::loop_log::absent;
        if (of < lanes && (rows.written >> of & 1) != 0) {
          const parts::loop_log log(logs, position[k]);
          key[k] = log.write_key(i);
          value[k] = log.first_word(i);
        }
        of += lanes / count;
        i += lanes % count;
        if (i >= count) {
          i -= count;
          ++of;
        }
      }
      GPUTM_UNROLL
      for (unsigned k = 0; k < rows_at_once; ++k)
        if (parts::loop_log::counts(key[k]))
          parts::loop_log(logs, position[k]).write_back(array, entry[k], key[k], value[k]);
    }
  }
  /// Goes from one of its positions to the next as long as the warp has rows; where it stops. Apart, as the others:
  /// each has registers enough for itself.
  static GPUTM_NOINLINE std::uint32_t write_all_rows(parts::loop_log_space logs, parts::latest_region array,
                                                     std::uint32_t first, std::uint32_t end) {
    const std::uint32_t threads = simt::grid_threads();
    row_of next = fetch_row(logs, first + simt::lane(), end);
    GPUTM_NO_UNROLL
    for (; first < end; first += threads) {
      const row_of mine = next;
      next = fetch_row(logs, first + threads + simt::lane(), end);
      const warp_rows rows = in_rows(mine);
      if (rows.count == 0) break;
      write_rows(logs, array, first, rows);
    }
    return first;
  }

  /// Writes back where logs have room for one write a position: latencies of several positions overlap. Apart: beside
  /// the rest, bodies would have fewer registers.
  static GPUTM_NOINLINE void write_single_entries(parts::loop_log_space logs, parts::latest_region array,
                                                  std::uint32_t end) {
    const std::uint32_t threads = simt::grid_threads();
    GPUTM_NO_UNROLL
    for (std::uint32_t p = simt::grid_thread_rank(); p < end; p += at_once * threads) {
      std::uint64_t key[at_once], value[at_once] = {};
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        key[k] = parts::loop_log::absent;
        if (p + k * threads >= end) continue;
        const parts::loop_log log(logs, p + k * threads);
        key[k] = log.write_key(0);
        value[k] = log.first_word(0);
      }
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        if (parts::loop_log::counts(key[k]))
          parts::loop_log(logs, p + k * threads).write_back(array, 0, key[k], value[k]);
    }
  }

  /// Writes the entries of a position back.
  static GPUTM_INLINE void write_position(const parts::loop_log_space& logs, parts::latest_region& array,
                                          std::uint32_t p, writes_of mine) {
    const parts::loop_log log(logs, p);
    GPUTM_NO_UNROLL
    for (std::uint32_t i = 0; i < mine.count; i += at_once) {
      if (i != 0) log.fetch_writes(i, mine.count, mine.key, mine.value);
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        if (i + k < mine.count && parts::loop_log::counts(mine.key[k]))
          log.write_back(array, i + k, mine.key[k], mine.value[k]);
    }
  }
  /// As write_single_entries, from `p` on, where there is room for several.
  static GPUTM_NOINLINE void write_positions(parts::loop_log_space logs, parts::latest_region array, std::uint32_t p,
                                             std::uint32_t end) {
    const std::uint32_t threads = simt::grid_threads();
    writes_of next = fetch(logs, p, p < end ? logs.writes : 0);  // does not wait for the count
    next.count = count_of(logs, p, end);
    std::uint32_t count = count_of(logs, p + threads, end);
    GPUTM_NO_UNROLL
    for (; p < end; p += threads) {
      const writes_of mine = next;
      next = fetch(logs, p + threads, count);
      count = count_of(logs, p + 2 * threads, end);
      write_position(logs, array, p, mine);
    }
  }

 public:
  /// Who executes a position in a first pass writes it back, or another lane of its warp does: deferred_update runs
  /// position p on the thread of rank p modulo the number of threads.
  static constexpr bool is_local = true;

  /// Writes back, of the positions below `end`, those that this warp has executed; no element has several writers whose
  /// entries count. The lanes of a warp call it together.
  static GPUTM_INLINE void write_back(const loop_environment& env, std::uint32_t end) {
    const parts::latest_region array(env.regions);
    if (env.logs.writes == 1) return write_single_entries(env.logs, array, end);
    std::uint32_t first = simt::grid_thread_rank() - simt::lane();  // lanes stay together, until there is no row
    if (simt::is_full_warp()) first = write_all_rows(env.logs, array, first, end);
    write_positions(env.logs, array, first + simt::lane(), end);
  }
  /// Writes back what commits of a window. All threads of the grid call it.
  GPUTM_INLINE void operator()(const loop_environment& env, const parts::loop_window& w,
                               const parts::writer_table& table, parts::grid_barrier& barrier) const {
    if (w.several && w.commits != 1) leave_to_last_writers(env, w, table, barrier);
    write_back(env, w.commits);
  }

 private:
  /// Drops the entries of elements that higher positions write as well.
  static GPUTM_INLINE void leave_to_last_writers(const loop_environment& env, const parts::loop_window& w,
                                                 const parts::writer_table& table, parts::grid_barrier& barrier) {
    const bool again = !w.all_commit;
    const parts::position_set those = table.contested_below(w.commits);
    if (again) {  // the last writer may be among those that do not commit
      table.for_each_contested(w.commits, those, [&](std::uint32_t p) {
        const parts::loop_log log(env.logs, p);
        for (std::uint32_t i = 0, n = log.write_count(); i < n; ++i) table.mark_again(log.write_key(i), p);
      });
      barrier.wait();
    }
    table.for_each_contested(w.commits, those, [&, again](std::uint32_t p) {
      const parts::loop_log log(env.logs, p);
      std::uint64_t key[wide];
      log.fetch_write_keys(0, key);
      const std::uint32_t count = log.write_count();
      GPUTM_NO_UNROLL
      for (std::uint32_t i = 0; i < count; i += wide) {
        bool last[wide];
        if (i != 0) log.fetch_write_keys(i, key);
        table.are_last_writers(key, count - i, p, again, last);
        GPUTM_UNROLL
        for (unsigned k = 0; k < wide; ++k)
          if (i + k < count && !last[k]) log.drop_write(i + k, key[k]);
      }
    });
    // lanes write each other's entries back, and what tells them that there are rows orders no memory
    if (simt::is_full_warp()) simt::sync_warp();
  }
};

}  // namespace gputm::speculation
