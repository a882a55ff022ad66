// Schedulers: a seed replays, other seeds differ, and interleavings that break wrong code are found.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "support.hpp"

namespace gputm::simt_test {
namespace {

constexpr order relaxed = order::relaxed;

class explored : public testing::TestWithParam<mode> {
 protected:
  executor device;
  config settings = GetParam().settings;

  /// An increment that is not atomic.
  report lost_update(std::uint32_t& counter) {
    counter = 0;
    return device.run(settings, 2, 2, [&] {
      for (int i = 0; i < 3; ++i) atomic(counter).store(atomic(counter).load(order::seq_cst) + 1, relaxed);
    });
  }
};

std::vector<mode> exploring_modes() {
  std::vector<mode> modes = every_mode();
  std::erase_if(modes, [](const mode& m) { return m.settings.schedule == scheduler::fast; });
  return modes;
}
INSTANTIATE_TEST_SUITE_P(modes, explored, testing::ValuesIn(exploring_modes()), mode_name);

TEST_P(explored, a_seed_replays) {
  settings.record = true;
  std::uint32_t counter = 0;
  for (settings.seed = 1; settings.seed <= 20; ++settings.seed) {
    const report first = lost_update(counter);
    const std::uint32_t value = counter;
    // Leaves other fibers, fences and histories behind.
    (void)device.run(exploring(scheduler::random, true), 3, 3, [&] {
      for (int k = 0; k < 10; ++k) atomic(counter).fetch_add(1, order::seq_cst);
    });
    const report second = lost_update(counter);
    EXPECT_EQ(first.schedule_hash, second.schedule_hash);
    EXPECT_EQ(first.schedule, second.schedule);
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(first.stale_reads, second.stale_reads);
    EXPECT_EQ(value, counter);
    EXPECT_FALSE(first.schedule.empty());
  }
}

TEST_P(explored, a_seed_replays_whatever_warps_have_met_before) {
  std::uint32_t x = 0;
  const auto kernel = [&] {  // lane 4 is in both masks, and returns
    if (lane() < 2) {
      (void)ballot(0b10011, true);
    } else if (lane() < 4) {
      (void)ballot(0b11100, true);
    } else {
      for (int i = 0; i < 20; ++i) backoff();
      return;
    }
    for (int i = 0; i < 5; ++i) (void)atomic(x).fetch_add(1, relaxed);
  };
  for (settings.seed = 1; settings.seed <= 100; ++settings.seed) {
    executor used;
    (void)used.run(settings, 1, 5, [] { (void)(lane() < 2 ? ballot(0b00011, true) : ballot(0b11100, true)); });
    x = 0;
    const report first = executor().run(settings, 1, 5, kernel);
    x = 0;
    const report second = used.run(settings, 1, 5, kernel);
    EXPECT_OK(first);
    EXPECT_EQ(first.schedule_hash, second.schedule_hash);
  }
}

TEST_P(explored, other_seeds_make_other_schedules) {
  if (settings.schedule == scheduler::round_robin) GTEST_SKIP() << "has one schedule";
  std::set<std::uint64_t> hashes;
  std::uint32_t counter = 0;
  for (settings.seed = 1; settings.seed <= 50; ++settings.seed) hashes.insert(lost_update(counter).schedule_hash);
  EXPECT_GT(hashes.size(), 5u);
}

TEST_P(explored, a_lost_update_is_found) {
  std::uint32_t counter = 0;
  unsigned lost = 0;
  settings.pct_length = 30;
  for (settings.seed = 1; settings.seed <= 100; ++settings.seed) {
    EXPECT_OK(lost_update(counter));
    lost += counter != 12;
  }
  EXPECT_GT(lost, 0u);
}

TEST_P(explored, steps_and_switches_are_counted) {
  std::uint32_t counter = 0;
  const report r = lost_update(counter);
  EXPECT_EQ(r.steps, 24u);  // 4 threads, 3 rounds, a load and a store
  EXPECT_GE(r.switches, 1u);
  EXPECT_TRUE(r.schedule.empty());  // not asked for
}

TEST_P(explored, time_passes_with_steps_alone) {
  std::uint64_t first = 0;
  for (int again = 0; again < 2; ++again) {
    std::uint64_t asked = 0;
    EXPECT_OK(device.run(settings, 1, 1, [&] {
      const std::uint64_t begin = nanoseconds();
      while (nanoseconds() < begin + 10'000) ++asked;  // no other thread, no backoff: still it ends
      const std::uint64_t c = cycles();
      backoff();
      check(cycles() > c, "cycles pass");
    }));
    EXPECT_GT(asked, 0u);
    EXPECT_TRUE(again == 0 || asked == first);
    first = asked;
  }
}

TEST_P(explored, a_spinning_thread_lets_the_others_run) {
  for (settings.seed = 1; settings.seed <= 20; ++settings.seed) {
    std::uint32_t turn = 0;
    EXPECT_OK(device.run(settings, 4, 2, [&] {
      while (atomic(turn).load(order::acquire) != grid_thread_rank()) backoff();
      atomic(turn).fetch_add(1, order::release);
    }));
    EXPECT_EQ(turn, 8u);
  }
}

TEST(pct, a_deeper_bug_needs_a_change_of_priorities) {
  // Thread 1 must run in the middle of thread 0: depth 1 never does that, depth 2 does.
  executor device;
  const auto hits = [&](unsigned depth) {
    unsigned n = 0;
    config c = exploring(scheduler::pct);
    c.pct_depth = depth;
    c.pct_length = 8;
    for (c.seed = 1; c.seed <= 200; ++c.seed) {
      std::uint32_t x = 0, seen = 9;
      (void)device.run(c, 2, 1, [&] {
        if (block_rank() == 1) {
          seen = atomic(x).load(relaxed);
        } else {
          atomic(x).store(1, relaxed);
          atomic(x).store(2, relaxed);
          atomic(x).store(3, relaxed);
        }
      });
      n += seen == 1 || seen == 2;
    }
    return n;
  };
  EXPECT_EQ(hits(1), 0u);
  EXPECT_GT(hits(2), 0u);
}

TEST(pct, each_change_point_counts) {
  // Thread 1 runs in the middle of thread 0, and thread 0 in the middle of thread 1: two changes.
  executor device;
  const auto hits = [&](unsigned depth) {
    unsigned n = 0;
    config c = exploring(scheduler::pct);
    c.pct_depth = depth;
    c.pct_length = 8;
    for (c.seed = 1; c.seed <= 500; ++c.seed) {
      std::uint32_t x = 0, first = 9, second = 9;
      (void)device.run(c, 2, 1, [&] {
        if (block_rank() == 1) {
          first = atomic(x).load(relaxed);
          second = atomic(x).load(relaxed);
        } else {
          for (std::uint32_t i = 1; i <= 3; ++i) atomic(x).store(i, relaxed);
        }
      });
      n += (first == 1 || first == 2) && second == 3;
    }
    return n;
  };
  EXPECT_EQ(hits(2), 0u);
  EXPECT_GT(hits(3), 0u);
}

TEST(pct, who_is_put_off_later_goes_on_first_or_last) {
  // Thread a is put off between its two steps, then b between its own; c ends. Who of them goes on first is open.
  executor device;
  config c = exploring(scheduler::pct);
  c.pct_depth = 3;
  c.pct_length = 8;
  std::set<std::string> ends;
  for (c.seed = 1; c.seed <= 5000; ++c.seed) {
    std::string order;
    EXPECT_OK(device.run(c, 3, 1, [&] {
      std::uint32_t any = 0;
      for (int i = 0; i < 2; ++i) {
        (void)atomic(any).fetch_add(1, relaxed);
        order += static_cast<char>('a' + block_rank());
      }
    }));
    if (order.size() == 6 && order[0] != order[1] && order[2] == order[3] && order[2] != order[0] &&
        order[2] != order[1])
      ends.insert(order[4] == order[0] ? "first" : "last");
  }
  EXPECT_EQ(ends, (std::set<std::string>{"first", "last"}));
}

TEST(round_robin, takes_turns) {
  executor device;
  config c = exploring(scheduler::round_robin);
  c.record = true;
  std::uint32_t x = 0;
  const report r = device.run(c, 4, 1, [&] {
    for (std::uint32_t i = 0; i < (block_rank() == 1 ? 1u : 3u); ++i) (void)atomic(x).load(relaxed);
  });
  EXPECT_EQ(r.schedule, "0 1 2 3 0 1 2 3 0 2 3 0 2 3 ");
}

TEST(random, a_backoff_lets_somebody_else_run) {
  executor device;
  config c = exploring(scheduler::random);
  c.switch_probability = 0;
  const report r = device.run(c, 2, 1, [] {
    for (int i = 0; i < 100; ++i) backoff();
  });
  EXPECT_GE(r.switches, 199u);
}

TEST(random, switches_as_often_as_asked) {
  executor device;
  const auto switches = [&](double p) {
    config c = exploring(scheduler::random);
    c.switch_probability = p;
    std::uint32_t x = 0;
    return device
        .run(c, 2, 1,
             [&] {
               for (int i = 0; i < 500; ++i) (void)atomic(x).load(relaxed);
             })
        .switches;
  };
  EXPECT_LE(switches(0), 3u);
  EXPECT_NEAR(static_cast<double>(switches(0.1)), 50, 30);
  EXPECT_NEAR(static_cast<double>(switches(1)), 500, 100);
}

TEST(portfolio, holds_every_kind_and_keeps_the_limits) {
  config base;
  base.weak_memory = true;
  base.livelock_steps = 77;
  base.max_resident_blocks = 5;
  std::set<std::uint64_t> seeds;
  std::set<double> probabilities;
  std::set<unsigned> depths;
  unsigned round_robin = 0;
  for (std::uint64_t i = 0; i < 90; ++i) {
    const config c = gputm::host::portfolio(base, 3, i);
    EXPECT_NE(c.schedule, scheduler::fast);
    EXPECT_TRUE(c.weak_memory && c.livelock_steps == 77 && c.max_resident_blocks == 5);
    EXPECT_EQ(c.seed, gputm::host::portfolio(base, 3, i).seed);
    EXPECT_NE(c.seed, gputm::host::portfolio(base, 4, i).seed);
    seeds.insert(c.seed);
    round_robin += c.schedule == scheduler::round_robin;
    if (c.schedule == scheduler::random) probabilities.insert(c.switch_probability);
    if (c.schedule == scheduler::pct) depths.insert(c.pct_depth);
  }
  EXPECT_EQ(seeds.size(), 90u);
  EXPECT_EQ(round_robin, 10u);
  EXPECT_EQ(probabilities, (std::set<double>{0.05, 0.25, 1.0}));
  EXPECT_EQ(depths, (std::set<unsigned>{2, 3, 4, 5, 6}));
}

TEST(portfolio, shows_every_kind_to_whatever_goes_by_remainders_of_the_index) {
  config base;
  for (const std::uint64_t n : {2u, 3u, 6u, 9u, 12u, 18u}) {
    using kind = std::tuple<std::uint64_t, scheduler, double, unsigned, unsigned, bool, std::uint64_t>;
    std::set<kind> met;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
      const config c = gputm::host::portfolio(base, 1, i, 2);
      const bool random = c.schedule == scheduler::random, pct = c.schedule == scheduler::pct;
      met.insert({i % n, c.schedule, random ? c.switch_probability : 0, pct ? c.pct_depth : 0, c.warp_width, c.in_step,
                  c.pct_length});
    }
    EXPECT_EQ(met.size(), n * 9 * 2 * 2 * 2) << "remainders of " << n;
  }
  base.pct_length = 1;
  for (std::uint64_t i = 0; i < 90; ++i) {
    const config c = gputm::host::portfolio(base, 1, i);
    EXPECT_GE(c.pct_length, 1u);
    EXPECT_EQ(c.warp_width, base.warp_width);
  }
}

}  // namespace
}  // namespace gputm::simt_test
