// GPU-TLS: speculative loops with deferred writes and a parallel commit. Floor 3.
//
// Source: C. Zhang, G. Han, C.-L. Wang: GPU-TLS: An Efficient Runtime for Speculative Loop Parallelization on GPUs,
// CCGrid 2013, section III, algorithms 1 to 4.
//
// What differs from the paper, and why: docs/algorithms/gpu_tls.md.
//
// Semantics: the sequential loop's, bit for bit. Only read-after-write costs a re-execution: writes are deferred, and
// of several writers of an element the last one prevails. A loop that is like those before it in its workspace, or that
// looks so (scout.hpp), may store in place (in_place_pass.hpp), which is undone if it turns out to be otherwise,
// seven times in a workspace at most.
//
// Progress: the first iteration of a window always commits, or the window begins anew, which a loop does twice for each
// array at most, and for other reasons three times in a workspace. A window that commits hardly anything, or little of
// what it has run, or, on a GPU, takes longer than one thread would have, is followed by a stretch of iterations on one
// thread, twice as long each time; but not if an iteration of long rows comes next, which all warps load together.
#pragma once

#include "gputm/speculation/deferred_update.hpp"
#include "gputm/speculation/in_place_pass.hpp"
#include "gputm/speculation/parallel_commit.hpp"
#include "gputm/speculation/scout.hpp"

namespace gputm::speculation {

struct gpu_tls_options {
  static constexpr bool eager_check = true;
  static constexpr bool forwarding = true;
  static constexpr bool repair = true;
  static constexpr bool in_place = true;
};

template <class Options>
struct basic_gpu_tls : engine_base {
  static constexpr algorithm_traits traits{};
  // without repair it is the paper's recovery, whose counters no clock should change
  static constexpr loop_traits loop{.writers = true,
                                    .in_place = Options::in_place,
                                    .skips_idle = true,
                                    .repairs = Options::repair,
                                    .joins = Options::repair && Options::forwarding};

  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    if constexpr (Options::in_place) {
      if (env.in_place.tried) {
        in_place_pass::settle(env, body);
        // all threads have the same answer. But a compiler does not know any more that they are together, nor that what
        // they load from one place is the same for a warp: windows would take up to 35 % longer
        if (simt::sync_block_count(in_place_pass::is_over(env)) != 0) return;
      }
    }
    deferred_update<Options, parallel_commit, Body>(env, body).run();
  }
  template <in_place_kind Kind, class Body>
  static GPUTM_INLINE void run_in_place(const loop_environment& env, const Body& body) {
    in_place_pass::run<Kind>(env, body);
  }
  template <class Body>
  static GPUTM_INLINE void look_ahead(const loop_environment& env, const Body& body) {
    scout::run(env, body);
  }
};

struct gpu_tls : basic_gpu_tls<gpu_tls_options> {
  static constexpr const char* name = "gpu_tls";
};

// Ablations, each with one mechanism switched off, and without passes in place, which would hide the difference.
struct gpu_tls_ablation : gpu_tls_options {
  static constexpr bool in_place = false;
};

/// No repair: a violation is recovered from in the next window only, as in the paper, and first passes look for lower
/// writers where violations are likely.
struct gpu_tls_no_repair_options : gpu_tls_ablation {
  static constexpr bool repair = false;
};
struct gpu_tls_no_repair : basic_gpu_tls<gpu_tls_no_repair_options> {
  static constexpr const char* name = "gpu_tls_no_repair";
};
/// What runs again in a repair does not wait for the values of others that do.
struct gpu_tls_no_forwarding_options : gpu_tls_ablation {
  static constexpr bool forwarding = false;
};
struct gpu_tls_no_forwarding : basic_gpu_tls<gpu_tls_no_forwarding_options> {
  static constexpr const char* name = "gpu_tls_no_forwarding";
};
/// No repair, no forwarding and no eager check: only the lazy check of algorithm 3.
struct gpu_tls_lazy_options : gpu_tls_no_repair_options {
  static constexpr bool eager_check = false;
  static constexpr bool forwarding = false;
};
struct gpu_tls_lazy : basic_gpu_tls<gpu_tls_lazy_options> {
  static constexpr const char* name = "gpu_tls_lazy";
};

static_assert(LoopEngine<gpu_tls> && LoopEngine<gpu_tls_no_repair> && LoopEngine<gpu_tls_no_forwarding>);
static_assert(LoopEngine<gpu_tls_lazy>);

}  // namespace gputm::speculation
