// Figures of what `bench --json` wrote: drawn by scripts/plot, a Python program that needs matplotlib.
#pragma once

#include <string>
#include <vector>

namespace gputm::cli {

enum class drawn {
  figure,
  nothing,  ///< the runs differ in no number that could be an axis, or the files are cut off
  cannot    ///< there is no python3, no matplotlib or no script
};
/// Draws the runs of a workload on a device, from these files, into `figure`: over the parameter that has most values,
/// a line for each algorithm.
drawn draw(const std::vector<std::string>& files, const std::string& workload, const std::string& device_name,
           const std::string& figure);

}  // namespace gputm::cli
