// When loops look for marks at their reads instead of being checked.
#include "speculation/fixture.hpp"
#include "speculation/peeking_loops.hpp"

namespace gputm {
namespace {

using conformance::glance;
using conformance::glancing_loop;
using engine = speculation::gpu_tls;

struct peeking : testing::Test {
  static constexpr std::uint32_t n = 300;
  device on = host_device();
  stream s{on};
  memory<engine> tm{on};
  loop_config config{.capacity = {.reads = 2, .writes = 2}, .in_place = false};
  glancing_loop body{tm.allocate<std::uint32_t>(2 * n, 5), n, n - 1, glance::usual, n - 1, 0, 0};
  std::optional<loop_workspace<engine>> w;

  /// Whether the next loop is checked.
  bool is_checked(glance what) {
    if (!w) w.emplace(make_loop_workspace<glancing_loop>(s, tm, n, config));
    body.what = what;
    ++body.stamp;
    speculate_async(s, tm, *w, static_cast<int>(n), body);
    return w->collect(s, tm).checked != 0;
  }
};

TEST_F(peeking, loops_that_read_what_nobody_stores_to_need_no_check) {
  EXPECT_TRUE(is_checked(glance::usual));  // of its windows that of which nobody knows anything
  EXPECT_TRUE(is_checked(glance::usual));  // which finds that no read has a mark
  for (int turn = 0; turn < 5; ++turn) EXPECT_FALSE(is_checked(glance::usual));
}
TEST_F(peeking, a_mark_is_followed_by_a_check_and_so_are_loops_behind_it) {
  for (int turn = 0; turn < 4; ++turn) is_checked(glance::usual);
  EXPECT_TRUE(is_checked(glance::reads_marked));
  EXPECT_TRUE(is_checked(glance::usual));
}
TEST_F(peeking, an_element_that_is_stored_to_for_the_first_time_is_followed_by_a_check) {
  for (int turn = 0; turn < 4; ++turn) is_checked(glance::usual);
  EXPECT_TRUE(is_checked(glance::stores_unmarked));
}
TEST_F(peeking, loops_that_are_checked_all_the_same_give_it_up) {
  for (int turn = 0; turn < 4; ++turn) is_checked(glance::usual);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_FALSE(is_checked(glance::usual));
    EXPECT_TRUE(is_checked(glance::stores_apart));
  }
  for (int turn = 0; turn < 4; ++turn) EXPECT_TRUE(is_checked(glance::usual));
}
TEST_F(peeking, groups_of_loads_are_checked) {
  for (int turn = 0; turn < 4; ++turn) is_checked(glance::usual);
  EXPECT_TRUE(is_checked(glance::groups_marked));
}
TEST_F(peeking, threads_with_several_iterations_do_it_for_one_read_each) {
  config.blocks = 2;
  config.threads = 32;
  for (int turn = 0; turn < 4; ++turn) is_checked(glance::usual);
  EXPECT_FALSE(is_checked(glance::usual));
}
TEST_F(peeking, it_can_be_switched_off) {
  config.peek = false;
  for (int turn = 0; turn < 6; ++turn) EXPECT_TRUE(is_checked(glance::usual));
}
TEST_F(peeking, hashed_marks_tell_nothing) {
  config.table_slots = 1024;
  for (int turn = 0; turn < 4; ++turn) is_checked(glance::usual);
  EXPECT_TRUE(is_checked(glance::usual));
}

}  // namespace
}  // namespace gputm
