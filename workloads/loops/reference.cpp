// Runs the plain loops and takes their time.
#include <algorithm>
#include <vector>

#include "gputm/error.hpp"
#include "loops/timed_loops.hpp"
#include "measurement.hpp"

namespace gputm::workloads {
namespace {

constexpr double enough_seconds = 0.05;
constexpr std::size_t most_runs = 9;

template <class Problem>
host_reference run(const Problem& p) {
  host_reference r;
  std::vector<double> times;
  double total = 0;
  while (times.empty() || (total < enough_seconds && times.size() < most_runs)) {
    host_place place;  // fresh data for each run
    const auto body = p.place(place);
    times.push_back(timed([&] { run_plain_loop(body, p.iterations); }));
    total += times.back();
    if (times.size() == 1) r.arrays = place.results();
  }
  std::sort(times.begin(), times.end());
  r.seconds = times[times.size() / 2];
  return r;
}

}  // namespace

host_reference run_on_host(const any_loop& problem) {
  if (const char* missing = missing_instructions())
    throw invalid_argument(std::string("the sequential loops were compiled for a CPU with ") + missing +
                           ", which this one has not; configure with -DGPUTM_HOST_ARCH=x86-64-v3 or another");
  return std::visit([](const auto& p) { return run(p); }, problem);
}

}  // namespace gputm::workloads
