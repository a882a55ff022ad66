// What every workload takes and returns.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "gputm/client.hpp"
#include "gputm/stats.hpp"
#include "gputm/workspace.hpp"

namespace gputm::workloads {

/// How much to run: transactions in total, or for a time.
struct amount {
  std::uint64_t transactions = 0;  ///< 0: by time
  double seconds = 0;
};

struct measurement {
  statistics stats;
  double seconds = 0;
  bool ok = false;
  std::string invariant;  ///< what was checked, with figures
  std::uint32_t blocks = 0, threads = 0;

  double commits_per_second() const { return seconds > 0 ? static_cast<double>(stats.commits) / seconds : 0; }
};

/// Seconds that `work` takes.
template <class Work>
double timed(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace gputm::workloads
