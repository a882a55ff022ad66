// Floor 1: clusters: blocks of consecutive ranks, of a number that the launch gave, that reach each other's shared
// memory. GPUs have them from compute capability 9.0 on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/simt/block.hpp"
#include "gputm/simt/config.hpp"
#include "gputm/simt/host_hooks.hpp"

namespace gputm::simt {

/// What dynamic_shared() is in the block of this rank in the cluster. Others than its own threads access it after a
/// barrier with that block, and before another one, behind which it may end; atomically with device scope.
GPUTM_INLINE std::byte* dynamic_shared_of([[maybe_unused]] std::uint32_t rank, GPUTM_HERE) {
#if !GPUTM_ON_DEVICE
  return static_cast<std::byte*>(host::dynamic_shared_of(rank, at));
#elif __CUDA_ARCH__ >= 900
  std::byte* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(dynamic_shared()), "r"(rank));
  return there;
#else
  __trap();  // no launch has clusters here
  return nullptr;
#endif
}

}  // namespace gputm::simt
