#include "gpu.hpp"

#if defined(__CUDACC__)
#include "gputm/cuda_device.hpp"
#endif

namespace gputm::conformance {

#if defined(__CUDACC__)
bool built_for_gpus() { return true; }
std::optional<device> find_gpu(std::string& why_not) {
  try {
    return cuda_device(0);
  } catch (const error& e) {
    why_not = e.what();
    return {};
  }
}
#else
bool built_for_gpus() { return false; }
std::optional<device> find_gpu(std::string& why_not) {
  why_not = "built without CUDA";
  return {};
}
#endif

}  // namespace gputm::conformance
