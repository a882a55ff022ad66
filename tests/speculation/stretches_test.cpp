// When one thread runs iterations, and for how long, by the time that windows and it have taken. Times are of seconds,
// and differ by large factors, so that what the test itself takes does not matter.
#include <gtest/gtest.h>

#include "gputm/parts/loop_plan.hpp"

namespace gputm::parts {
namespace {

class stretches : public testing::Test {
 protected:
  static constexpr double second = 1e9;  // in nanoseconds
  loop_limits limits{.iterations = 1u << 30,
                     .window = 4096,
                     .first_window = 4096,
                     .smallest = 32,
                     .stretch = 512,
                     .repairs = 16,
                     .tags = writer_table::tags,
                     .timed = true};
  loop_state state{};
  loop_past past{};
  element_ranges ranges;
  loop_plan plan{state, limits, past, ranges};

  static std::uint64_t ago(double seconds) {
    return simt::nanoseconds() - static_cast<std::uint64_t>(seconds * second);
  }
  /// A window with violations commits; the iterations that one thread runs next.
  std::uint32_t window(std::uint32_t commits, double seconds, std::uint32_t runs_of_each = 2) {
    state.now.size = 2 * commits;
    state.now.commits = commits;
    state.now.wary = 1;
    state.troubled = 1;
    state.ran = runs_of_each * commits;
    if (limits.timed) state.began = ago(seconds);
    plan.next();
    return state.now.stretch;
  }
  void stretch(std::uint32_t done, double seconds) {
    plan.stretches().begin();
    state.began = ago(seconds);
    plan.stretches().note(done, false);
    plan.next_after_stretch();
  }
  /// The first window has been executed, and has to be checked.
  void begin() {
    add_findings(state, {.stored = 1, .read_logged = 1});
    plan.end_pass(true, true, true);
  }
  void SetUp() override { begin(); }
};

TEST_F(stretches, one_thread_is_tried_while_nobody_knows) {
  EXPECT_EQ(window(64, 1), 32);
  stretch(32, 100);
  EXPECT_EQ(window(64, 1), 0) << "it was slower";
}

TEST_F(stretches, are_twice_as_long_each_time_if_one_thread_is_faster) {
  EXPECT_EQ(window(64, 1), 32);
  for (const std::uint32_t next : {64u, 128u, 256u, 512u, 512u}) {
    stretch(state.now.stretch, 0.001 * state.now.stretch);
    EXPECT_EQ(window(64, 1), next);
  }
}

TEST_F(stretches, begin_with_32_again_after_windows_that_were_faster) {
  EXPECT_EQ(window(64, 1), 32);
  stretch(32, 0.032);
  EXPECT_EQ(window(64, 1), 64);
  stretch(64, 0.064);
  EXPECT_EQ(window(512, 0.001), 0);
  EXPECT_EQ(window(64, 1), 32);
}

TEST_F(stretches, are_tried_again_the_later_the_slower_they_were) {
  window(64, 1);
  stretch(32, 32);  // 64 times as long as the window for each iteration
  int windows = 1;
  while (window(64, 1) == 0 && windows < 1000) ++windows;
  EXPECT_NEAR(windows, 65, 10);  // (16 / 15) ** 64.4 is 64
  EXPECT_EQ(state.now.stretch, 32);
}

TEST_F(stretches, end_early_if_the_window_before_was_faster) {
  window(64, 1);
  state.began = ago(10);
  EXPECT_TRUE(plan.stretches().is_beaten(32));
  EXPECT_TRUE(plan.stretches().is_beaten(1)) << "of 64 iterations a quarter are granted";
  EXPECT_FALSE(plan.stretches().is_beaten(0)) << "the loop goes on";
  state.began = ago(0.1);
  EXPECT_FALSE(plan.stretches().is_beaten(32));
  EXPECT_FALSE(plan.stretches().is_beaten(1));
  stretch(8, 10);
  EXPECT_EQ(state.now.base, 64u + 8u);
}

TEST_F(stretches, begin_with_32_again_after_one_that_ended_early) {
  window(64, 1);
  stretch(32, 0.032);
  EXPECT_EQ(window(64, 1), 64);
  stretch(8, 0.008);
  EXPECT_EQ(window(64, 1), 32);
}

TEST_F(stretches, are_not_held_against_windows_that_failed) {
  window(64, 1);
  stretch(32, 3200);
  EXPECT_EQ(window(4, 1), 64) << "few iterations have committed";
  state.began = ago(1000);
  EXPECT_FALSE(plan.stretches().is_beaten(16));
}

TEST_F(stretches, follow_no_windows_of_many_commits_or_without_violations) {
  EXPECT_EQ(window(1024, 1), 0);
  state.now.size = state.now.commits = 64;
  state.troubled = 0;
  state.ran = 64;
  state.began = ago(1);
  plan.next();
  EXPECT_EQ(state.now.stretch, 0);
  EXPECT_EQ(window(1023, 1), 32);
}

TEST_F(stretches, do_not_follow_windows_that_run_again_and_again_but_are_faster) {
  EXPECT_EQ(window(32, 1, 10), 32);
  stretch(32, 320);
  EXPECT_EQ(window(32, 1, 10), 0);
  state.now.size = 64, state.now.commits = 32, state.troubled = 1, state.ran = 320;
  state.began = 0;  // its time tells nothing
  plan.next();
  EXPECT_EQ(state.now.stretch, 32);
}

TEST_F(stretches, do_not_ask_a_clock_unless_timed) {
  limits.timed = false;
  begin();
  EXPECT_EQ(state.began, 0);
  EXPECT_EQ(window(64, 1), 0);
  EXPECT_EQ(window(32, 1, 10), 32) << "runs tell";
  state.began = ago(1000);
  EXPECT_FALSE(plan.stretches().is_beaten(32));
}

}  // namespace
}  // namespace gputm::parts
