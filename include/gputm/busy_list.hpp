// Floor 4: the memory of a list of a loop's busy iterations (speculation/busy_loop.hpp), and the grid that makes it.
#pragma once

#include <cstdint>

#include "gputm/algorithm/concept.hpp"
#include "gputm/device.hpp"
#include "gputm/parts/busy_space.hpp"

namespace gputm::detail {

/// Compiled, in src/busy_list.cpp.
class busy_list {
  device device_;
  buffer memory_;

  std::uint32_t most_chunks() const;
  std::uint64_t words(std::uint64_t iterations) const;
  std::uint64_t bytes(std::uint64_t iterations) const;

 public:
  /// For loops of up to `iterations`. Throws out_of_memory.
  busy_list(device on, std::uint64_t iterations);

  /// For a loop of so many.
  bool has_room(std::uint64_t iterations) const { return bytes(iterations) <= memory_.size(); }
  /// Of such a loop.
  parts::busy_space space(std::uint64_t iterations) const;
  /// The grid that finds what to list, and lists it.
  launch_shape shape(const parts::busy_space&) const;
};

}  // namespace gputm::detail
