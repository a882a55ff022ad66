// In-order commit: deferred writes, and a commit that goes through the iterations one after another. Floor 3. The
// baseline of GPU-TLS's section V.B and figure 8.
//
// Source: as gpu_tls.hpp, which names it as the port of an earlier scheme for CPUs (its reference 3).
// Semantics and progress: GPU-TLS's.
#pragma once

#include "gputm/speculation/deferred_update.hpp"

namespace gputm::speculation {

struct serial_commit {
  static constexpr bool is_local = false;
  GPUTM_INLINE void operator()(const loop_environment& env, const parts::loop_window& w, const parts::writer_table&,
                               parts::grid_barrier&) const {
    if (simt::grid_thread_rank() != 0) return;
    GPUTM_NO_UNROLL
    for (std::uint32_t p = 0; p < w.commits; ++p) {
      const parts::loop_log log(env.logs, p);
      for (std::uint32_t i = 0, n = log.write_count(); i < n; ++i) log.write_back(env.regions, i, log.write_key(i));
    }
  }
};

struct in_order_commit : engine_base {
  static constexpr const char* name = "in_order_commit";
  static constexpr algorithm_traits traits{};
  static constexpr loop_traits loop{.writers = true};
  struct options {
    static constexpr bool eager_check = false;
    static constexpr bool forwarding = false;
    static constexpr bool repair = false;
  };

  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    deferred_update<options, serial_commit, Body>(env, body).run();
  }
};

static_assert(LoopEngine<in_order_commit>);

}  // namespace gputm::speculation
