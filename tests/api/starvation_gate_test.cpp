// The starvation gate: whoever has joined finds it closed until it leaves.
#include "gputm/parts/control.hpp"

#include "gputm/host/executor.hpp"
#include "support.hpp"

namespace gputm {
namespace {

using gate = parts::starvation_gate;
using simt::order;

/// The second thread stays until the first one has left.
void one_after_another(parts::control& c, std::uint32_t& left, std::uint32_t& open) {
  gate::enter(&c, 0);
  if (simt::grid_thread_rank() == 1) {
    while (simt::atomic(left).load(order::relaxed) == 0) simt::backoff(10);
    if ((simt::atomic(c.signals).load(order::relaxed) & parts::control::closed) == 0)
      simt::atomic(open).store(1, order::relaxed);
  }
  gate::leave(&c);
  if (simt::grid_thread_rank() == 0) simt::atomic(left).store(1, order::relaxed);
}

TEST(starvation_gate, is_not_opened_over_one_that_joins) {
  host::executor device;
  host::config settings;
  settings.schedule = host::scheduler::random;
  for (settings.seed = 1; settings.seed <= 400; ++settings.seed) {
    parts::control c{};
    std::uint32_t left = 0, open = 0;
    const auto done = device.run(settings, 2, 1, [&] { one_after_another(c, left, open); });
    ASSERT_TRUE(done) << done.what;
    EXPECT_EQ(open, 0u) << "seed " << settings.seed;
    EXPECT_EQ(c.signals, 0u) << "all have left, and it is open";
  }
}

TEST(starvation_gate, is_open_for_no_longer_than_it_was_closed) {
  host::executor device;
  host::config settings;
  settings.schedule = host::scheduler::random;
  settings.weak_memory = true;
  for (settings.seed = 1; settings.seed <= 300; ++settings.seed) {
    parts::control c{};
    std::uint32_t old = 0;
    std::uint64_t began = ~std::uint64_t{0}, ended = 0;
    const auto done = device.run(settings, 2, 1, [&] {
      if (simt::grid_thread_rank() == 0) {  // the clock is old when it begins, as those of GPUs are
        for (int i = 0; i < 1000; ++i) simt::backoff();
        simt::atomic(old).store(1, order::relaxed);
      }
      while (simt::atomic(old).load(order::relaxed) == 0) simt::backoff();
      began = std::min(began, simt::nanoseconds());
      gate::enter(&c, 0);
      gate::leave(&c);
      ended = std::max(ended, simt::nanoseconds());
    });
    ASSERT_TRUE(done) << done.what;
    EXPECT_LE(c.open_until, ended + (ended - began)) << "seed " << settings.seed;
  }
}

/// Steps of `threads` that leave at the same time.
std::uint64_t steps_to_leave(std::uint32_t threads) {
  host::executor device;
  host::config settings;
  settings.schedule = host::scheduler::random;
  parts::control c{};
  c.signals = parts::control::closed | threads;
  const auto done = device.run(settings, threads / 32, 32, [&] { gate::leave(&c); });
  EXPECT_TRUE(done) << done.what;
  EXPECT_EQ(c.signals, 0u) << "all have left, and it is open";
  return done.steps;
}
TEST(starvation_gate, is_left_as_fast_by_many) {
  const std::uint64_t few = steps_to_leave(32), many = steps_to_leave(512);
  EXPECT_LT(many, 2 * (512 / 32) * few) << "leaving takes a thread longer the more leave: " << few << " steps of 32";
}

}  // namespace
}  // namespace gputm
