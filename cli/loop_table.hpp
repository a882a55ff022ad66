// The loop workloads of `bench`: their options, and how an engine runs one.
#pragma once

#include "workload_table.hpp"

namespace gputm::cli {

std::vector<workload_entry> loop_workloads();

}  // namespace gputm::cli
