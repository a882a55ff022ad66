// What every workload takes and returns.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "gputm/client.hpp"
#include "gputm/error.hpp"
#include "gputm/speculate.hpp"
#include "gputm/stats.hpp"
#include "gputm/workspace.hpp"

namespace gputm::workloads {

/// How much to run: transactions in total, or for a time.
struct amount {
  std::uint64_t transactions = 0;  ///< 0: by time
  double seconds = 0;
};

/// What runs of speculative loops have besides.
struct loop_figures {
  loop_statistics counters;
  bool judged = true;  ///< false: nobody promises that the result is right
  /// To the sequential loop, bit for bit. Empty: no loop was run that must be identical.
  std::optional<bool> identical;
  double seconds_sequential = 0;  ///< of one CPU core
};

struct measurement {
  statistics stats;  ///< of a loop: its iterations are commits
  double seconds = 0;
  bool ok = false;
  std::string invariant;  ///< what was checked, with figures
  std::uint32_t blocks = 0, threads = 0;
  bool clusters = false;  ///< whether servers were a cluster
  std::optional<loop_figures> loop;

  double commits_per_second() const { return seconds > 0 ? static_cast<double>(stats.commits) / seconds : 0; }
};

/// How many times as fast as one CPU core; 0 if that was not measured.
inline double speedup(const measurement& m) {
  return m.loop && m.seconds > 0 ? m.loop->seconds_sequential / m.seconds : 0;
}

/// Seconds that `work` takes.
template <class Work>
double timed(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Throws invalid_argument if data of the host would not fit its memory: Linux would grant it, and end the process.
inline void check_host_bytes(const char* what, double bytes, const char* fewer = "iterations") {
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (bytes > 0.8 * there)
    throw invalid_argument(std::string(what) + " would take " + std::to_string(static_cast<long long>(bytes / 1e6)) +
                           " MB on the host, which has " + std::to_string(static_cast<long long>(there / 1e6)) +
                           " MB; use fewer " + fewer);
}

}  // namespace gputm::workloads
