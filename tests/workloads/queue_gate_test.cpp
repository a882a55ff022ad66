// What holds up a GPU's queue lets it go on: when the host says so, or when it has been closed for too long.
#include "loops/queue_gate.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace gputm::workloads {
namespace {

/// Runs the thread at the gate on the host device; nanoseconds that it took.
std::uint64_t wait_at_gate(std::uint32_t open, std::uint64_t longest_ns) {
  const device on = host_device();
  stream s{on};
  const auto begun = std::chrono::steady_clock::now();
  launching::enqueue(s, on, {1, 0, 1, on->warp_width(), 0}, gate_keeper{&open, longest_ns});
  return static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begun) / std::chrono::nanoseconds(1));
}

TEST(queue_gate, lets_pass_when_open) { EXPECT_LT(wait_at_gate(1, 60'000'000'000), 30'000'000'000u); }
TEST(queue_gate, does_not_stay_closed_for_ever) { EXPECT_GE(wait_at_gate(0, 2'000'000), 2'000'000u); }

}  // namespace
}  // namespace gputm::workloads
