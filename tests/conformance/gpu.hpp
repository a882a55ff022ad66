#pragma once

#include <optional>
#include <string>

#include "gputm/device.hpp"

namespace gputm::conformance {

/// Whether this build can launch on GPUs.
bool built_for_gpus();
/// The first GPU; if there is none, why not.
std::optional<device> find_gpu(std::string& why_not);

}  // namespace gputm::conformance
