// Floor 1: what the threads of a block share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gputm/simt/config.hpp"
#include "gputm/simt/host_hooks.hpp"

namespace gputm::simt {

/// Waits for every thread of the block that has not returned, and orders their memory accesses.
GPUTM_INLINE void sync_block(GPUTM_HERE) { GPUTM_PICK(__syncthreads(), (void)host::block_sync(0, at)); }

/// The same; returns for how many threads the predicate is true.
GPUTM_INLINE std::uint32_t sync_block_count(bool predicate, GPUTM_HERE) {
  return GPUTM_PICK(static_cast<std::uint32_t>(__syncthreads_count(predicate)), host::block_sync(predicate, at));
}

/// The block's one object of type T under the name `Name` (any type, usually an incomplete struct).
/// Uninitialised, as on the GPU; the host device fills it with 0xCD. T must be trivial.
template <class Name, class T>
GPUTM_INLINE T& shared(GPUTM_HERE) {
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);
#if GPUTM_ON_DEVICE
  __shared__ alignas(T) unsigned char bytes[sizeof(T)];
  return reinterpret_cast<T&>(bytes);
#else
  return *static_cast<T*>(host::shared(sizeof(T), alignof(T), &host::shared_key<Name, T>, at));
#endif
}

/// The block's shared memory whose size the launch gave, in bytes, 16-byte aligned. Uninitialised.
GPUTM_INLINE std::byte* dynamic_shared() {
#if GPUTM_ON_DEVICE
  extern __shared__ __align__(16) unsigned char gputm_dynamic_shared[];
  return reinterpret_cast<std::byte*>(gputm_dynamic_shared);
#else
  return static_cast<std::byte*>(host::dynamic_shared());
#endif
}

}  // namespace gputm::simt
