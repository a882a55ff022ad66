// Where the examples run: the first GPU, if nvcc built the program and there is one; else the host device.
#pragma once

#include <gputm/gputm.hpp>

namespace examples {

inline gputm::device any_device() {
#if defined(__CUDACC__)
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0) return gputm::cuda_device(0);
#endif
  return gputm::host_device();
}

}  // namespace examples
