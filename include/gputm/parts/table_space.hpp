// Floor 2: the memory of the table in which a speculative loop marks elements.
#pragma once

#include <cstdint>

#include "gputm/parts/region.hpp"

namespace gputm::parts {

/// Trivially copyable; lives in the kernel's parameters. All zero before the first loop that uses it.
struct table_space {
  void* base = nullptr;
  std::uint64_t* heads = nullptr;  ///< of the lists of writers, one for each entry
  std::uint32_t* tag = nullptr;    ///< the last one used: a loop goes on after the loop before
  std::uint32_t slots = 0;         ///< hashed entries, a power of two; 0: an entry for every element, not hashed
  std::uint64_t first[max_regions + 1] =
      {};  ///< not hashed: the entry of a region's element 0; then how many there are
};

}  // namespace gputm::parts
