// Floor 4: a GPU as a device. Needs nvcc; header-only, so that one build of the library serves programs
// with and without CUDA.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "gputm/device.hpp"
#include "gputm/error.hpp"

namespace gputm {
namespace detail {

inline void check_cuda(cudaError_t e, const char* doing) {
  if (e == cudaSuccess) return;
  const std::string what = std::string(doing) + ": " + cudaGetErrorName(e) + ", " + cudaGetErrorString(e);
  cudaGetLastError();  // the sticky copy, if it was not a fatal one
  if (e == cudaErrorMemoryAllocation) throw out_of_memory(what + "; use smaller arrays, capacities or grids");
  if (e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver || e == cudaErrorInvalidDevice)
    throw no_device(what + "; if there is a GPU, its driver is missing or too old: else use host_device()");
  throw cuda_error(what);
}

class cuda_backend final : public backend {
  int ordinal_;
  cudaDeviceProp properties_{};

  void use() const { check_cuda(cudaSetDevice(ordinal_), "cudaSetDevice"); }

 public:
  explicit cuda_backend(int ordinal) : ordinal_(ordinal) {
    int count = 0;
    check_cuda(cudaGetDeviceCount(&count), "looking for GPUs");
    if (ordinal < 0 || ordinal >= count)
      throw no_device("there is no GPU number " + std::to_string(ordinal) + ": this machine has " +
                      std::to_string(count) + "; use the host device or a number below that");
    check_cuda(cudaGetDeviceProperties(&properties_, ordinal), "cudaGetDeviceProperties");
  }
  const cudaDeviceProp& properties() const { return properties_; }
  device_kind kind() const override { return device_kind::cuda; }
  int ordinal() const override { return ordinal_; }
  std::string name() const override { return properties_.name; }
  std::uint32_t multiprocessors() const override { return static_cast<std::uint32_t>(properties_.multiProcessorCount); }
  std::uint32_t warp_width() const override { return 32; }
  std::uint64_t memory_bytes() const override { return properties_.totalGlobalMem; }
  std::uint32_t max_resident_blocks(std::uint32_t) const override {
    return multiprocessors() * static_cast<std::uint32_t>(properties_.maxBlocksPerMultiProcessor);
  }
  std::size_t shared_bytes_of_block() const override { return properties_.sharedMemPerBlockOptin; }
  /// The portable size; from compute capability 9.0 on.
  std::uint32_t largest_cluster() const override { return properties_.clusterLaunch != 0 ? 8 : 1; }
  void* allocate(std::size_t bytes) override {
    use();
    void* p = nullptr;
    const cudaError_t e = cudaMalloc(&p, bytes ? bytes : 1);
    if (e == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw out_of_memory("the GPU has no " + std::to_string(bytes) +
                          " bytes left; use smaller arrays, capacities or grids");
    }
    check_cuda(e, "cudaMalloc");
    return p;
  }
  void free(void* p) noexcept override { cudaFree(p); }
  void* allocate_visible(std::size_t bytes) override {
    use();
    void* p = nullptr;
    check_cuda(cudaMallocHost(&p, bytes), "cudaMallocHost");
    return p;
  }
  void free_visible(void* p) noexcept override { cudaFreeHost(p); }
  void* create_stream() override {
    use();
    cudaStream_t s;
    check_cuda(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
    return s;
  }
  void destroy_stream(void* s) noexcept override { cudaStreamDestroy(static_cast<cudaStream_t>(s)); }
  void synchronize(void* s) override {
    use();
    check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(s)), "waiting for a launch");
  }
  void copy_to_device(void* s, void* to, const void* from, std::size_t bytes) override {
    use();
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(s)),
               "copying to the GPU");
  }
  void copy_from_device(void* s, void* to, const void* from, std::size_t bytes) override {
    use();
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(s)),
               "copying from the GPU");
  }
  void fill_zero(void* s, void* p, std::size_t bytes) override {
    use();
    check_cuda(cudaMemsetAsync(p, 0, bytes, static_cast<cudaStream_t>(s)), "cudaMemset");
  }
  bool is_recording(void* s) override {
    use();
    cudaStreamCaptureStatus status{};
    check_cuda(cudaStreamIsCapturing(static_cast<cudaStream_t>(s), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }
  bool is_busy(void* s) override {
    use();
    const auto stream = static_cast<cudaStream_t>(s);
    cudaStreamCaptureStatus status{};
    const bool may_ask = cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone;
    const bool busy = may_ask && cudaStreamQuery(stream) == cudaErrorNotReady;
    (void)cudaGetLastError();  // an answer, or what the next call will say again
    return busy;
  }
};

}  // namespace detail

/// GPU number `ordinal`. Throws no_device if it is not there.
inline device cuda_device(int ordinal = 0) { return device(std::make_shared<detail::cuda_backend>(ordinal)); }

}  // namespace gputm
