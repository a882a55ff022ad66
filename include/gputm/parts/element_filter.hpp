// Floor 2: a filter in front of a look at an element's bits: a Bloom filter of one hash.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// Tells of most elements that they are none of those that have been set. Elements are told by their numbers. Trivially
/// copyable; lives in the kernel's parameters.
struct element_filter {
  std::uint32_t* bits = nullptr;  ///< zero before the first use
  std::uint32_t words = 0;        ///< a power of two

  GPUTM_INLINE void set(std::uint64_t element) const {
    // relaxed: read behind a barrier
    simt::atomic(word(element)).fetch_or(bit(element), simt::order::relaxed);
  }
  /// Behind a barrier, while nobody sets any. False: the element has not been set.
  GPUTM_INLINE bool passes(std::uint64_t element) const {
    return (simt::plain_load(word(element)) & bit(element)) != 0;
  }
  /// Nothing is set any more. All threads of the grid call it; a barrier must follow, or the end of the kernel.
  GPUTM_INLINE void clear() const {
    GPUTM_NO_UNROLL
    for (std::uint32_t k = simt::grid_thread_rank(); k < words; k += simt::grid_threads())
      simt::plain_store(bits[k], 0);
  }

 private:
  // Neighbours in memory stay neighbours, mostly, so that lanes that look for them find them in one line of a cache;
  // but not all that are a power of two apart have the same bit.
  static GPUTM_INLINE std::uint32_t place(std::uint64_t element) {
    const auto e = static_cast<std::uint32_t>(element);
    return e + (e >> 20) * 0x9e3779b1u;
  }
  GPUTM_INLINE std::uint32_t& word(std::uint64_t element) const { return bits[place(element) / 32 & (words - 1)]; }
  static GPUTM_INLINE std::uint32_t bit(std::uint64_t element) { return 1u << place(element) % 32; }
};

}  // namespace gputm::parts
