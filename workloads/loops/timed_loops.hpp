// The plain loops on one CPU core. They are compiled by themselves, for this very CPU: see timed_loops.cpp.
#pragma once

#include <cstdint>

#include "loops/problems.hpp"

namespace gputm::workloads {

/// Runs `for (int i = 0; i < n; ++i) body(it, i)` on this thread. Instantiated in timed_loops.cpp only.
template <class Body>
void run_plain_loop(const Body& body, std::int64_t n);

/// An instruction set that the loops use and this CPU does not have; null if it has all of them.
const char* missing_instructions();

}  // namespace gputm::workloads
