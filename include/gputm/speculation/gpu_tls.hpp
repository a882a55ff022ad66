// GPU-TLS: speculative loops with deferred writes and a parallel commit. Floor 3.
//
// Source: C. Zhang, G. Han, C.-L. Wang: GPU-TLS: An Efficient Runtime for Speculative Loop Parallelization on GPUs,
// CCGrid 2013, section III, algorithms 1 to 4.
//
// What differs from the paper, and why: docs/algorithms/gpu_tls.md.
//
// Semantics: the sequential loop's, bit for bit. Only read-after-write costs a re-execution: writes are deferred, and
// of several writers of an element the last one prevails.
// Progress: the first iteration of a window always commits. A window that commits hardly anything, or little of what it
// has run, is followed by a stretch of iterations on one thread, twice as long each time.
#pragma once

#include "gputm/speculation/deferred_update.hpp"

namespace gputm::speculation {

struct gpu_tls_options {
  static constexpr bool eager_check = true;
  static constexpr bool forwarding = true;
  static constexpr bool repair = true;
};

/// Algorithm 4 without its lock, and exact: an entry of the table belongs to one element, so the last writer that
/// commits is known before anybody writes, and it alone writes.
class parallel_commit {
  static constexpr std::uint32_t at_once = 4;  // entries whose latencies overlap

  /// What the write-back of a position starts from, fetched while the one before it is written: latencies bound this.
  struct writes_of {
    std::uint32_t count = 0;
    std::uint64_t key[at_once] = {}, value[at_once] = {};
  };
  static GPUTM_INLINE writes_of fetch(const loop_environment& env, const parts::loop_window& w, std::uint32_t p) {
    writes_of f;
    if (p >= w.commits) return f;
    const parts::loop_log log(env.logs, p);
    f.count = log.write_count();
    log.fetch_writes(0, f.key, f.value);
    return f;
  }

 public:
  GPUTM_INLINE void operator()(const loop_environment& env, const parts::loop_window& w,
                               const parts::writer_table& table, parts::grid_barrier& barrier) const {
    const bool alone = w.commits == 1, again = !w.all_commit;
    const bool sole = alone || !w.several;  // no element has several writers
    const std::uint32_t rank = simt::grid_thread_rank(), threads = simt::grid_threads();
    if (again && !sole) {  // the last writer may be among those that do not commit
      GPUTM_NO_UNROLL
      for (std::uint32_t p = rank; p < w.commits; p += threads) {
        const parts::loop_log log(env.logs, p);
        for (std::uint32_t i = 0, n = log.write_count(); i < n; ++i) table.mark_again(log.write_key(i), p);
      }
      barrier.wait();
    }
    writes_of next = fetch(env, w, rank);
    GPUTM_NO_UNROLL
    for (std::uint32_t p = rank; p < w.commits; p += threads) {
      const parts::loop_log log(env.logs, p);
      writes_of mine = next;
      next = fetch(env, w, p + threads);
      GPUTM_NO_UNROLL
      for (std::uint32_t i = 0; i < mine.count; i += at_once) {
        if (i != 0) log.fetch_writes(i, mine.key, mine.value);
        bool last[at_once] = {};
        if (!sole) table.are_last_writers(mine.key, mine.count - i, p, again, last);
        GPUTM_UNROLL
        for (unsigned k = 0; k < at_once; ++k)
          if (i + k < mine.count && (sole || last[k])) log.write_back(env.regions, i + k, mine.key[k], mine.value[k]);
      }
    }
  }
};

template <class Options>
struct basic_gpu_tls : engine_base {
  static constexpr algorithm_traits traits{};
  static constexpr loop_traits loop{.writers = true};

  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    deferred_update<Options, Body>(env, body).run(parallel_commit{});
  }
};

struct gpu_tls : basic_gpu_tls<gpu_tls_options> {
  static constexpr const char* name = "gpu_tls";
};

// Ablations, each with one mechanism switched off.

/// No repair: a violation is recovered from in the next window only, as in the paper.
struct gpu_tls_no_repair_options : gpu_tls_options {
  static constexpr bool repair = false;
};
struct gpu_tls_no_repair : basic_gpu_tls<gpu_tls_no_repair_options> {
  static constexpr const char* name = "gpu_tls_no_repair";
};
/// No values are forwarded in a window's first pass.
struct gpu_tls_no_forwarding_options : gpu_tls_options {
  static constexpr bool forwarding = false;
};
struct gpu_tls_no_forwarding : basic_gpu_tls<gpu_tls_no_forwarding_options> {
  static constexpr const char* name = "gpu_tls_no_forwarding";
};
/// Neither forwarding nor the eager check: only the lazy check of algorithm 3.
struct gpu_tls_lazy_options : gpu_tls_no_forwarding_options {
  static constexpr bool eager_check = false;
};
struct gpu_tls_lazy : basic_gpu_tls<gpu_tls_lazy_options> {
  static constexpr const char* name = "gpu_tls_lazy";
};

static_assert(LoopEngine<gpu_tls> && LoopEngine<gpu_tls_no_repair> && LoopEngine<gpu_tls_no_forwarding>);
static_assert(LoopEngine<gpu_tls_lazy>);

}  // namespace gputm::speculation
