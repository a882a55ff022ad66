// What the table of `bench` says of speculative loops.
#pragma once

#include <string>
#include <vector>

#include "registry.hpp"
#include "table.hpp"

namespace gputm::cli {

std::vector<column> loop_columns(bool repeated);
/// Of the median run.
std::vector<std::string> loop_cells(std::vector<workloads::measurement> runs);

}  // namespace gputm::cli
