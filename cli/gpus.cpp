#include "gpus.hpp"

#if defined(__CUDACC__)

#include "gputm/cuda_device.hpp"

namespace gputm::cli {

bool built_with_cuda() { return true; }
int gpu_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}
device gpu(int number) { return cuda_device(number); }

}  // namespace gputm::cli

#else

#include "gputm/error.hpp"

namespace gputm::cli {

bool built_with_cuda() { return false; }
int gpu_count() { return 0; }
device gpu(int) {
  throw no_device("this program was built without CUDA; use --device host, or build it with -DGPUTM_CUDA=ON");
}

}  // namespace gputm::cli

#endif
