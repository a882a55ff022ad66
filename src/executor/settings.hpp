// What a launch may ask for.
#pragma once

#include <cstdint>

#include "gputm/host/executor.hpp"

namespace gputm::host {

/// Throws std::invalid_argument that names the value and its limits.
void check_launch(const config&, std::uint32_t blocks, std::uint32_t threads);

/// Blocks that run at once.
std::uint32_t resident_blocks(const config&, std::uint32_t blocks);

}  // namespace gputm::host
