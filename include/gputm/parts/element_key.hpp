// Floor 2: what an element is called in logs and tables.
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"

namespace gputm::parts {

/// 4 bits of region, 32 of index.
GPUTM_INLINE constexpr std::uint64_t element_key(std::uint32_t region, std::uint32_t index) {
  return static_cast<std::uint64_t>(region) << 32 | index;
}
GPUTM_INLINE constexpr std::uint32_t region_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }
GPUTM_INLINE constexpr std::uint32_t index_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

}  // namespace gputm::parts
