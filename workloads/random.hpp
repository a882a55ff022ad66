// Random numbers inside kernels.
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"

namespace gputm::workloads {

/// Mixes the bits of x (the finaliser of splitmix64).
GPUTM_INLINE constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// The `n`-th random word of a stream. A word depends on nothing that was drawn before, so that it can be drawn
/// again, later and elsewhere.
GPUTM_INLINE constexpr std::uint64_t random_word(std::uint64_t seed, std::uint64_t stream, std::uint64_t n) {
  return mix(mix(mix(seed) ^ (stream + 1) * 0x9E3779B97F4A7C15ull) + (n + 1) * 0xD1342543DE82EF95ull);
}

/// xorshift64; one a thread.
struct generator {
  std::uint64_t state;
  GPUTM_INLINE generator(std::uint64_t seed, std::uint64_t stream)
      : state(mix((stream + 1) * 0x9E3779B97F4A7C15ull ^ mix(seed)) | 1) {}
  GPUTM_INLINE std::uint32_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::uint32_t>(state >> 16);
  }
  GPUTM_INLINE std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(next()) * n >> 32);
  }
};

}  // namespace gputm::workloads
