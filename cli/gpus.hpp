// GPUs, as far as this build knows of any. Compiled by nvcc where there is one.
#pragma once

#include "gputm/device.hpp"

namespace gputm::cli {

bool built_with_cuda();
/// How many there are; 0 without a driver.
int gpu_count();
/// Throws no_device.
device gpu(int number);

}  // namespace gputm::cli
