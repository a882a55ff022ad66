// Floor 4: launching a functor on a device. In an inline namespace of the compiler that builds it, so that
// a program may mix translation units of nvcc and of another compiler.
#pragma once

#include <cstdint>
#include <string>

#include "gputm/device.hpp"
#include "gputm/error.hpp"
#include "gputm/workspace.hpp"

#if defined(__CUDACC__)
#include "gputm/cuda_device.hpp"
#define GPUTM_BUILD built_with_cuda
#else
#define GPUTM_BUILD built_for_host
#endif

namespace gputm {
inline namespace GPUTM_BUILD {
namespace launching {

#if defined(__CUDACC__)
/// Registers of a thread, unless the functor knows better: on an H200 5 blocks of 128 threads on a multiprocessor beat
/// the 4 that the compiler's own choice allows.
template <class F>
constexpr int registers_of() {
  if constexpr (requires { F::registers; })
    return F::registers;
  else
    return 96;
}
/// Every gputm kernel: a functor in the kernel's parameters, called by each thread.
template <class F>
__global__ void __maxnreg__(registers_of<F>()) kernel_entry(const __grid_constant__ F functor) {
  functor();
}
#endif

#if defined(__CUDACC__)
/// The runtime's calls are about this thread's current GPU: from now on that one.
inline void use(const device& d) { gputm::detail::check_cuda(cudaSetDevice(d->ordinal()), "cudaSetDevice"); }
/// Lets the kernel have more dynamic shared memory than the 48 KiB that any kernel can.
template <class F>
void allow_shared_bytes(std::uint32_t bytes) {
  if (bytes > 48 * 1024)
    gputm::detail::check_cuda(
        cudaFuncSetAttribute(kernel_entry<F>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "asking for shared memory");
}

/// The grid of a launch, with these attributes.
inline cudaLaunchConfig_t cuda_config(const launch_shape& shape, cudaLaunchAttribute* attributes, unsigned count) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks());
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = attributes;
  config.numAttrs = count;
  return config;
}
inline cudaLaunchAttribute cluster_attribute(const launch_shape& shape) {
  cudaLaunchAttribute a{};
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim.x = shape.cluster;
  a.val.clusterDim.y = a.val.clusterDim.z = 1;
  return a;
}

template <class F>
std::uint32_t resident_clusters(const launch_shape& shape) {
  cudaFuncAttributes kernel{};
  gputm::detail::check_cuda(cudaFuncGetAttributes(&kernel, kernel_entry<F>), "asking about a kernel");
  if (kernel.ptxVersion < 90) return 0;  // compiled for GPUs without clusters
  int clusters = 0;
  cudaLaunchAttribute attribute = cluster_attribute(shape);
  const cudaLaunchConfig_t config = cuda_config(shape, &attribute, 1);
  gputm::detail::check_cuda(cudaOccupancyMaxActiveClusters(&clusters, kernel_entry<F>, &config),
                            "asking for the occupancy with clusters");
  return static_cast<std::uint32_t>(clusters);
}
#endif

/// Blocks of this kernel that can be on the device at once: whole clusters.
template <class F>
std::uint32_t resident_blocks(const device& d, const launch_shape& shape) {
#if defined(__CUDACC__)
  if (!d.is_host()) {
    use(d);
    allow_shared_bytes<F>(shape.shared_bytes);
    if (shape.cluster > 1) return resident_clusters<F>(shape) * shape.cluster;
    int per_sm = 0;
    gputm::detail::check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                  &per_sm, kernel_entry<F>, static_cast<int>(shape.threads), shape.shared_bytes),
                              "asking for the occupancy");
    return static_cast<std::uint32_t>(per_sm) * d->multiprocessors();
  }
#endif
  return d->max_resident_blocks(shape.threads) / shape.cluster * shape.cluster;
}

/// The warps of a block share a multiprocessor fairly; of several blocks there the oldest is served first, so that the
/// youngest comes late to a barrier of all.
template <class A>
constexpr bool prefers_large_blocks() {
  if constexpr (requires { A::loop; })
    return A::loop.barriers && !A::loop.one_thread;
  else
    return false;
}
/// Threads of a multiprocessor beyond which a loop gets slower; 0: there is no such number.
template <class A>
constexpr std::uint32_t most_threads(const capacity& c) {
  if constexpr (requires { A::loop; })
    return A::loop.many_accesses != 0 && std::uint64_t{c.reads} + c.writes >= A::loop.many_accesses
               ? A::loop.few_threads
               : 0;
  else
    return 0;
}
/// choose_grid() for this kernel.
template <class F, class A>
launch_config resolve(const memory<A>& tm, const launch_config& config, std::uint64_t work) {
  gputm::detail::grid_needs needs;  // member by member: nvcc 13.0 loses names of templates in a list of initialisers
  needs.algorithm = A::name;
  needs.one_thread = A::traits.one_thread;
  needs.large_blocks = prefers_large_blocks<A>();
  needs.most_threads = most_threads<A>(config.capacity);
  needs.shape_of = &gputm::detail::shape_of<A>;
  needs.resident_blocks = &resident_blocks<F>;
  return gputm::detail::choose_grid(needs, tm.core(), config, work);
}

#if defined(__CUDACC__)
/// Blocks that wait for each other: a cooperative launch is refused unless all blocks are resident.
template <class F>
void enqueue_cooperative(const stream& s, const launch_shape& shape, const F& functor) {
  use(s.on());
  allow_shared_bytes<F>(shape.shared_bytes);
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1] = cluster_attribute(shape);
  cudaLaunchConfig_t config = cuda_config(shape, attributes, shape.cluster > 1 ? 2 : 1);
  config.stream = static_cast<cudaStream_t>(s.handle());
  gputm::detail::check_cuda(cudaLaunchKernelEx(&config, kernel_entry<F>, functor),
                            "launching a kernel whose blocks are resident together");
}
#endif

/// Enqueues the functor; on the host device runs it.
template <class F>
void enqueue([[maybe_unused]] const stream& s, const device& d, const launch_shape& shape, const F& functor) {
#if defined(__CUDACC__)
  if (!d.is_host()) {
    if (shape.servers != 0) return enqueue_cooperative(s, shape, functor);
    use(d);
    kernel_entry<F>
        <<<shape.clients, shape.threads, shape.shared_bytes, static_cast<cudaStream_t>(s.handle())>>>(functor);
    gputm::detail::check_cuda(cudaGetLastError(), "launching a kernel");
    return;
  }
#endif
  d->run_host(shape.blocks(), shape.cluster, shape.threads, shape.shared_bytes, [&functor] { functor(); });
}

/// The same for kernels whose blocks wait for each other: all of them are resident together.
template <class F>
void enqueue_resident(const stream& s, const device& d, const launch_shape& shape, const F& functor) {
#if defined(__CUDACC__)
  if (!d.is_host()) return enqueue_cooperative(s, shape, functor);
#endif
  enqueue(s, d, shape, functor);
}

}  // namespace launching
}  // namespace GPUTM_BUILD
}  // namespace gputm
