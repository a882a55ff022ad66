// How windows follow iterations that depend on others far before them (loop_config::most_again).
#include "speculation/reaching_loops.hpp"

#include <gtest/gtest.h>

#include "speculation/fixture.hpp"

namespace gputm {
namespace {

using conformance::reach;

constexpr std::uint32_t n = 4096;

loop_statistics run(reach how, loop_config config) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  const conformance::successors body{tm.allocate<std::uint32_t>(n), 1, how};
  std::vector<std::uint32_t> expected(n);
  body.run(expected);
  config.blocks = 2;
  config.threads = 32;
  config.in_place = false;
  config.repair_whole = true;
  config.stretch = 0;  // windows alone
  const loop_statistics done = speculate(s, tm, n, body, config);
  EXPECT_EQ(tm.read(s, body.x), expected);
  EXPECT_EQ(done.iterations, n);
  return done;
}

TEST(loops, windows_grow_no_further_where_iterations_depend_on_others_far_before_them) {
  const loop_statistics grown = run(reach::far, {.first_window = 256, .most_again = 0});
  const loop_statistics kept = run(reach::far, {.first_window = 256, .most_again = 32});
  EXPECT_GT(kept.rounds, grown.rounds);
  EXPECT_LT(kept.re_executed(), grown.re_executed() / 2);
}
TEST(loops, windows_grow_as_ever_where_iterations_depend_on_near_ones) {
  const loop_statistics grown = run(reach::near, {.first_window = 64, .most_again = 0});
  const loop_statistics same = run(reach::near, {.first_window = 64, .most_again = 1});
  EXPECT_EQ(same.rounds, grown.rounds);
  EXPECT_EQ(same.re_executed(), n / 2);
}
TEST(loops, a_window_of_far_dependences_that_is_much_too_long_is_given_up) {
  const loop_statistics whole = run(reach::far, {.most_again = 0}), split = run(reach::far, {.most_again = 32});
  EXPECT_EQ(whole.rounds, 1u);
  EXPECT_GT(split.rounds, 4u);
  // all of it once in vain, and then few again in each window
  EXPECT_GT(split.re_executed(), n);
  EXPECT_LT(split.re_executed(), 2 * n);
  // nobody has windows shorter than these
  EXPECT_EQ(run(reach::far, {.smallest_window = n, .most_again = 32}).rounds, 1u);
  EXPECT_EQ(run(reach::far, {.adapt = false, .most_again = 32}).rounds, 1u);
}
TEST(loops, windows_follow_far_dependences_on_gpus_alone_unless_told) { EXPECT_EQ(run(reach::far, {}).rounds, 1u); }

}  // namespace
}  // namespace gputm
