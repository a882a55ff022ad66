// Launching: which blocks are resident, what is refused, and that an executor can be used again and again.
#include <sys/resource.h>

#include <chrono>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>

#include "support.hpp"

namespace gputm::simt_test {
namespace {

class residency : public in_every_mode {
 protected:
  void SetUp() override {
    settings.livelock_steps = 20'000;
    settings.livelock_seconds = 0.05;
  }
};
GPUTM_IN_EVERY_MODE(residency);

TEST_P(residency, is_limited) {
  for (const unsigned limit : {1u, 2u, 3u, 7u}) {
    settings.max_resident_blocks = limit;
    std::uint32_t resident = 0, most = 0, threads = 0;
    EXPECT_OK(run(7, 5, [&] {
      if (thread_rank() == 0) atomic(most).fetch_max(atomic(resident).fetch_add(1, order::relaxed) + 1, order::relaxed);
      for (int i = 0; i < 20; ++i) backoff();
      sync_block();
      if (thread_rank() == 0) atomic(resident).fetch_add(~0u, order::relaxed);
      atomic(threads).fetch_add(1, order::relaxed);
    }));
    EXPECT_EQ(threads, 35u);
    EXPECT_LE(most, limit);
    EXPECT_TRUE(!explores() || most == limit);
  }
}

TEST_P(residency, a_block_that_waits_for_one_that_is_not_resident_is_a_livelock) {
  std::uint32_t flag = 0;
  const auto kernel = [&] {
    while (block_rank() == 0 && atomic(flag).load(order::acquire) == 0) backoff();
    if (block_rank() == 2) atomic(flag).store(1, order::release);
  };
  settings.max_resident_blocks = 1;
  EXPECT_TRUE(says(run(3, 1, kernel), verdict::livelock, "block 0 thread 0: "));
  flag = 0;
  settings.max_resident_blocks = 2;  // block 1 ends and makes room
  EXPECT_OK(run(3, 1, kernel));
  flag = 0;
  settings.max_resident_blocks = 0;
  EXPECT_OK(run(3, 1, kernel));
}

TEST_P(residency, every_block_can_wait_for_every_other) {
  settings.livelock_seconds = 20;
  std::uint32_t arrived = 0;
  EXPECT_OK(run(12, 3, [&] {
    if (thread_rank() == 0) atomic(arrived).fetch_add(1, order::release);
    while (atomic(arrived).load(order::acquire) < 12) backoff();
  }));
}

TEST_P(residency, a_polling_warp_does_not_keep_others_from_starting) {
  settings.livelock_seconds = 20;
  std::uint32_t flag = 0;
  EXPECT_OK(run(3, 32, [&] {
    if (block_rank() != 0) {
      if (block_rank() == 2 && lane() == 0) atomic(flag).store(1, order::release);
      return;
    }
    while (!any(full_mask, lane() == 5 && atomic(flag).load(order::acquire) == 1)) {
    }
  }));
}

class launching : public in_every_mode {};
GPUTM_IN_EVERY_MODE(launching);

TEST_P(launching, many_times_in_many_shapes) {
  std::uint64_t sum = 0, expected = 0;
  for (std::uint32_t i = 0; i < 600; ++i) {
    const std::uint32_t blocks = 1 + i % 5, threads = 1 + i * 7 % 66;
    settings.warp_width = 1 + i % 32;
    settings.stack_bytes = i % 100 < 50 ? 64 * 1024 : 32 * 1024;
    expected += blocks * threads;
    const report r = run(blocks, threads, [&] {
      atomic(sum).fetch_add(1, order::relaxed);
      sync_block();
    });
    ASSERT_EQ(r.result, verdict::ok) << r.what;
  }
  EXPECT_EQ(sum, expected);
}

int depth(int n) {
  volatile char frame[256];
  frame[0] = static_cast<char>(n);
  return n == 0 ? frame[0] : 1 + depth(n - 1) + 0 * frame[0];
}

TEST_P(launching, a_stack_is_as_large_as_asked_for) {
  settings.stack_bytes = 1024 * 1024;
  EXPECT_OK(run(1, 2, [] { check(depth(1500) == 1500, "deep"); }));
}

TEST_P(launching, a_run_inside_of_a_kernel_is_refused) {
  executor other;
  const report r = run(1, 1, [&] { (void)other.run(config{}, 1, 1, [] {}); });
  EXPECT_TRUE(says(r, verdict::check_failed, "run called inside of a kernel"));
}

TEST_P(launching, exceptions_inside_of_a_kernel_can_be_caught_there) {
  EXPECT_OK(run(2, 3, [] {
    for (int i = 0; i < 3; ++i) {
      bool caught = false;
      try {
        throw i;
      } catch (int value) {
        caught = value == i;
      }
      check(caught, "caught");
      backoff();
    }
  }));
}

class refused : public testing::Test {
 protected:
  std::string why(const config& c, std::uint32_t blocks = 1, std::uint32_t threads = 1) {
    try {
      (void)device.run(c, blocks, threads, [] {});
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  }
  template <class Value>
  std::string why(Value config::*member, Value value) {
    config c;
    c.*member = value;
    return why(c);
  }
  static bool names(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  executor device;
};

TEST_F(refused, grids) {
  EXPECT_TRUE(names(why({}, 0, 1), "no blocks"));
  EXPECT_TRUE(names(why({}, 1, 0), "threads in a block is 0"));
  EXPECT_TRUE(names(why({}, 1, 1025), "threads in a block is 1025"));
  EXPECT_EQ(why({}, 1, 1024), "accepted");
  EXPECT_TRUE(names(why({}, 8'000'000, 1024), "2^32"));
  EXPECT_THROW((void)device.run({}, 1, 1, nullptr), std::invalid_argument);
}

TEST_F(refused, too_many_resident_threads) {
  EXPECT_TRUE(names(why({}, 30, 1024), "30720 simulated threads at once, of 30000 possible"));
  config c;
  c.max_resident_blocks = 8;
  EXPECT_EQ(why(c, 30, 1024), "accepted");
  EXPECT_EQ(why(c, 100'000, 1), "accepted");
}

TEST_F(refused, values_out_of_range) {
  EXPECT_TRUE(names(why(&config::warp_width, 0u), "warp_width is 0"));
  EXPECT_TRUE(names(why(&config::warp_width, 33u), "warp_width is 33"));
  EXPECT_TRUE(names(why(&config::stack_bytes, std::size_t{1000}), "stack_bytes is 1000, and must be within 16384"));
  EXPECT_TRUE(names(why(&config::stack_bytes, std::size_t{1} << 40), "stack_bytes"));
  EXPECT_TRUE(names(why(&config::dynamic_shared_bytes, std::size_t{227 * 1024 + 1}), "232449"));
  EXPECT_TRUE(names(why(&config::cluster_blocks, 0u), "cluster_blocks is 0"));
  EXPECT_TRUE(names(why(&config::cluster_blocks, 9u), "cluster_blocks is 9, and must be within 1 and 8"));
  EXPECT_TRUE(names(why(&config::cluster_blocks, 2u), "1 blocks, no multiple of the 2 of a cluster"));
  EXPECT_TRUE(names(why(&config::switch_probability, 1.5), "switch_probability"));
  EXPECT_TRUE(names(why(&config::switch_probability, std::numeric_limits<double>::quiet_NaN()), "switch_probability"));
  EXPECT_TRUE(names(why(&config::stale_probability, -0.5), "stale_probability"));
  EXPECT_TRUE(names(why(&config::pct_depth, 0u), "pct_depth"));
  EXPECT_TRUE(names(why(&config::pct_length, std::uint64_t{0}), "pct_length"));
  EXPECT_TRUE(names(why(&config::livelock_steps, std::uint64_t{0}), "livelock_steps"));
  EXPECT_TRUE(names(why(&config::livelock_seconds, 0.0), "livelock_seconds"));
  EXPECT_TRUE(names(why(&config::os_threads, 5000u), "os_threads"));
}

TEST_F(refused, weak_memory_out_of_its_range) {
  EXPECT_TRUE(names(why(&config::weak_memory, true), "not fast"));
  config c = exploring(scheduler::random, true);
  c.max_resident_blocks = 1;
  EXPECT_TRUE(names(why(c, 5, 1000), "5000 threads, of 4096"));
  c.stale_probability = 1;
  EXPECT_TRUE(names(why(c), "stale_probability is 1"));
}

TEST_F(refused, two_runs_at_once) {
  std::uint32_t entered = 0, leave = 0;
  std::thread other([&] {
    EXPECT_OK(device.run({}, 1, 1, [&] {
      atomic(entered).store(1, order::release);
      while (atomic(leave).load(order::acquire) == 0) backoff();
    }));
  });
  while (atomic(entered).load(order::acquire) == 0) backoff();
  EXPECT_THROW((void)device.run({}, 1, 1, [] {}), std::logic_error);
  atomic(leave).store(1, order::release);
  other.join();
  EXPECT_OK(device.run({}, 1, 1, [] {}));
}

#if !defined(GPUTM_ADDRESS_SANITIZED) && !defined(GPUTM_TSAN)  // they need their address space
TEST_P(launching, without_memory_for_stacks_throws_bad_alloc) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit low = before;
  low.rlim_cur = rlim_t{8} << 30;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &low), 0);
  settings.stack_bytes = std::size_t{1} << 30;
  EXPECT_THROW((void)run(2, 20, [] { sync_block(); }), std::bad_alloc);
  settings.stack_bytes = 64 * 1024;
  EXPECT_OK(run(2, 20, [] { sync_block(); }));
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}
#endif

TEST(outside_of_kernels, the_host_may_wait_and_look_at_the_clock) {
  progress();
  backoff();
  const std::uint64_t begin = nanoseconds(), c = cycles();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(nanoseconds() - begin, 2'000'000u);
  EXPECT_GT(cycles(), c);
}

TEST(outside_of_kernels, what_needs_a_block_says_so) {
  EXPECT_THROW((void)ballot(full_mask, true), std::logic_error);
  EXPECT_THROW(sync_block(), std::logic_error);
  EXPECT_THROW((void)(shared<residency, int>()), std::logic_error);
  EXPECT_THROW((void)dynamic_shared(), std::logic_error);
  EXPECT_THROW((void)dynamic_shared_of(0), std::logic_error);
  EXPECT_THROW(check(false, "x"), std::logic_error);
  EXPECT_NO_THROW(check(true, "x"));
}

TEST(executors, are_independent_of_each_other) {
  executor a, b;
  std::uint32_t in_a = 0, in_b = 0;
  std::thread other([&] {
    for (int i = 0; i < 200; ++i)
      EXPECT_OK(a.run({}, 2, 33, [&] { sync_block(), (void)atomic(in_a).fetch_add(1, order::relaxed); }));
  });
  for (int i = 0; i < 200; ++i)
    EXPECT_OK(b.run({}, 2, 33, [&] { sync_block(), (void)atomic(in_b).fetch_add(1, order::relaxed); }));
  other.join();
  EXPECT_EQ(in_a, 200u * 66);
  EXPECT_EQ(in_b, 200u * 66);
}

}  // namespace
}  // namespace gputm::simt_test
