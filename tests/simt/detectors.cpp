// Each verdict, and that its text leads to the line.
#include <stdexcept>

#include "support.hpp"

namespace gputm::simt_test {
namespace {

class detectors : public in_every_mode {
 protected:
  void SetUp() override {
    settings.livelock_seconds = 0.05;
    settings.livelock_steps = 2000;
  }
};
GPUTM_IN_EVERY_MODE(detectors);

TEST_P(detectors, failed_check) {
  const unsigned line = __LINE__ + 1;
  const report r = run(2, 3, [] { check(grid_thread_rank() != 4, "not the fifth thread"); });
  EXPECT_TRUE(
      says(r, verdict::check_failed, "not the fifth thread; block 1 thread 1: user code at " + place(__FILE__, line)));
}

TEST_P(detectors, exception_in_a_kernel) {
  const unsigned line = __LINE__ + 3;
  const report r = run(1, 4, [] {
    if (thread_rank() != 2) return;
    backoff();
    throw std::runtime_error("thrown on purpose");
  });
  EXPECT_TRUE(says(r, verdict::check_failed,
                   "exception: thrown on purpose (kernels and bodies must not throw: nobody knows what their "
                   "memory holds now); block 0 thread 2: backoff at " +
                       place(__FILE__, line)));
  EXPECT_TRUE(says(run(1, 1, [] { throw 1; }), verdict::check_failed, "not a std::exception"));
}

TEST_P(detectors, divergent_collective_is_a_deadlock) {
  const unsigned line = __LINE__ + 3;
  const report r = run(1, 32, [] {
    if (lane() < 4)
      (void)ballot(full_mask, true);
    else
      (void)ballot(full_mask, false);
  });
  EXPECT_TRUE(says(r, verdict::deadlock, "block 0 thread 0: warp collective at " + place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::deadlock, "block 0 thread 4: warp collective at " + place(__FILE__, line + 2)));
  EXPECT_TRUE(says(r, verdict::deadlock, "(blocked; mask ffffffff, still missing fffffff0)"));
}

TEST_P(detectors, barrier_that_a_thread_never_reaches) {
  const unsigned line = __LINE__ + 3;
  const report r = run(1, 4, [] {
    if (thread_rank() == 0)
      (void)ballot(full_mask, true);
    else
      sync_block();
  });
  EXPECT_TRUE(says(r, verdict::deadlock, "thread 0: warp collective at " + place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::deadlock, "thread 3: block barrier at " + place(__FILE__, line + 2)));
}

TEST_P(detectors, a_thread_that_returns_may_leave_a_deadlock) {
  const report r = run(1, 3, [] {
    if (thread_rank() == 0) sync_block();
    if (thread_rank() == 1) (void)ballot(full_mask, true);
    if (thread_rank() == 2)
      for (int i = 0; i < 100; ++i) backoff();
  });
  EXPECT_TRUE(says(r, verdict::deadlock, "block 0 thread 0: block barrier"));
  EXPECT_FALSE(says(r, verdict::deadlock, "block 0 thread 2"));
}

TEST_P(detectors, deadlock_of_one_block_is_seen_while_another_spins) {
  const report r = run(2, 2, [] {
    while (block_rank() == 0) backoff();
    if (thread_rank() == 0) sync_block();
    if (thread_rank() == 1) (void)ballot(full_mask, true);
  });
  EXPECT_TRUE(says(r, verdict::deadlock, "every thread of block 1"));
}

TEST_P(detectors, livelock) {
  const unsigned line = __LINE__ + 2;
  const report r = run(2, 2, [] {
    while (block_rank() == 1 || thread_rank() == 1) backoff();
  });
  EXPECT_TRUE(says(r, verdict::livelock, "block 1 thread 0: backoff at " + place(__FILE__, line) + " (spinning)"));
  EXPECT_TRUE(says(r, verdict::livelock, "block 0 thread 1: backoff at "));
}

TEST_P(detectors, collectives_in_a_polling_loop_do_not_hide_a_livelock) {
  const report r = run(1, 64, [] {
    while (!any(full_mask, false)) backoff();
  });
  EXPECT_TRUE(says(r, verdict::livelock, "no progress() for"));
}

TEST_P(detectors, progress_is_no_livelock) {
  EXPECT_OK(run(1, 2, [] {
    for (int i = 0; i < 3000; ++i) {
      backoff();
      progress();
    }
  }));
}

TEST_P(detectors, caller_outside_of_its_mask) {
  const unsigned line = __LINE__ + 2;
  const report r = run(1, 32, [] {
    if (lane() == 9) (void)ballot(0xf0u, true);
  });
  EXPECT_TRUE(says(r, verdict::bad_mask,
                   "not in its mask 000000f0; block 0 thread 9: warp collective at " + place(__FILE__, line)));
}

TEST_P(detectors, shfl_from_a_lane_that_does_not_take_part) {
  const unsigned line = __LINE__ + 2;
  const report r = run(1, 32, [] {
    if (lane() < 4) (void)shfl(0xfu, lane(), lane() == 2 ? 20 : 0);
  });
  EXPECT_TRUE(says(r, verdict::bad_mask, "shfl reads lane 20, which does not take part; block 0 thread 2"));
  EXPECT_TRUE(says(r, verdict::bad_mask, place(__FILE__, line)));
}

TEST_P(detectors, shfl_from_a_lane_that_has_returned) {
  const report r = run(1, 32, [] {
    if (lane() == 3) return;
    (void)shfl(full_mask, lane(), 3);
  });
  EXPECT_TRUE(says(r, verdict::bad_mask, "shfl reads lane 3"));
}

TEST_P(detectors, the_executor_works_after_each_failure) {
  const auto failing = [] {
    if (thread_rank() % 2 == 0) return;
    for (int i = 0; i < 5; ++i) backoff();
    check(thread_rank() != 39, "fails");
    sync_block();
  };
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(run(3, 40, failing).result, verdict::check_failed);
    EXPECT_OK(run(3, 40, [] { sync_block(); }));
  }
}

TEST(detectors_fast, a_failing_worker_stops_the_others) {
  executor device;
  config c;
  c.os_threads = 2;
  const report r = device.run(c, 2, 2, [] {
    for (int i = 0; block_rank() == 0 && i < 1000; ++i) backoff();
    check(block_rank() == 1, "block 0 gives up");
    for (;;) backoff();
  });
  EXPECT_TRUE(says(r, verdict::check_failed, "block 0 gives up"));
}

TEST(detectors_fast, a_worker_that_computes_is_no_livelock) {
  executor device;
  config c;
  c.os_threads = 2;
  for (const std::uint64_t idle_first : {0u, 20'000'000u}) {
    c.livelock_seconds = idle_first == 0 ? 0.02 : 0.1;
    std::uint32_t done = 0;
    const report r = device.run(c, 2, 1, [&] {
      if (block_rank() == 0) {
        const std::uint64_t begin = nanoseconds(), end = begin + 250'000'000;
        while (nanoseconds() < begin + idle_first) backoff();
        while (nanoseconds() < end) {
        }
        atomic(done).store(1, order::release);
      } else {
        while (atomic(done).load(order::acquire) == 0) backoff();
      }
    });
    EXPECT_OK(r);
  }
}

}  // namespace
}  // namespace gputm::simt_test
