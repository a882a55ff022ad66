// Calls that nvcc compiles, for tests that the host's compiler compiles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gputm/device.hpp"

namespace gputm::simt_test {

/// A GPU, or why there is none.
std::string ask_for_gpu();
/// What read-modify-writes of words of 4 and 8 bytes, signed and unsigned, return and leave, as bits.
std::vector<std::uint64_t> read_modify_writes(bool on_gpu);
/// What each thread of a block of a warp and a half gets from reductions.
std::vector<std::uint64_t> reductions(bool on_gpu);

}  // namespace gputm::simt_test
