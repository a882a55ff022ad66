// What `check` explores of speculative loops under each schedule: tiny ones, most of whose iterations depend on each
// other, on the host device. Each result is held against that of the plain loop on one CPU core.
#pragma once

#include <string>
#include <vector>

#include "registry.hpp"

namespace gputm::cli {

/// The workloads, by the names that `bench` knows.
const std::vector<std::string>& explored_loops();

/// One schedule of such a workload by an engine; `index` varies grid, sizes, windows and dependences.
finding explore_loop(const algorithm_entry& engine, const std::string& workload, const host::config& schedule,
                     std::uint64_t index);

}  // namespace gputm::cli
