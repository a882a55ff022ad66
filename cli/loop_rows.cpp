#include "loop_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text.hpp"

namespace gputm::cli {

using workloads::measurement;

std::vector<column> loop_columns(bool repeated) {
  return {{"blocks x threads", 0}, {"ms", repeated ? 32u : 0u}, {"over one core", 0},
          {"rounds", 0},           {"executed again", 0},       {"invariant", 0, true}};
}

std::vector<std::string> loop_cells(std::vector<measurement> runs) {
  std::sort(runs.begin(), runs.end(), [](const measurement& x, const measurement& y) { return x.seconds < y.seconds; });
  const measurement& m = runs[runs.size() / 2];
  const auto milliseconds = [](const measurement& x) { return number(x.seconds * 1e3); };
  std::string time = milliseconds(m);
  if (runs.size() > 1) time += fmt::format(" ({}..{})", milliseconds(runs.front()), milliseconds(runs.back()));
  const bool ok = std::all_of(runs.begin(), runs.end(), [](const measurement& x) { return x.ok; });
  return {fmt::format("{} x {}", m.blocks, m.threads),
          time,
          number(workloads::speedup(m), 3),
          std::to_string(m.loop->counters.rounds),
          std::to_string(m.loop->counters.re_executed()),
          std::string(ok               ? "ok"
                      : m.loop->judged ? "BROKEN"
                                       : "differs") +
              (m.loop->judged ? "" : " (nothing orders its iterations)")};
}

}  // namespace gputm::cli
