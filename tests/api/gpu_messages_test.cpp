// What a GPU, or the lack of one, says.
#include <gtest/gtest.h>

#include "gpu_calls.hpp"

namespace gputm::api_test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

AssertionResult says(const std::string& message, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    if (message.find(part) == std::string::npos) return AssertionFailure() << "no '" << part << "' in: " << message;
  return AssertionSuccess();
}

struct gpu : testing::Test {
  const bool there = ask_for_gpu(0) == "nothing was thrown";
};

TEST_F(gpu, numbers_are_checked) {
  EXPECT_TRUE(says(ask_for_gpu(-1), {there ? "GPU number -1" : "looking for GPUs"}));
  EXPECT_TRUE(says(ask_for_gpu(9999), {there ? "GPU number 9999" : "looking for GPUs"}));
}
TEST_F(gpu, nvcc_builds_run_on_the_host_too) { EXPECT_EQ(run_on_the_host(), "nothing was thrown"); }
TEST_F(gpu, shapes_are_checked) {
  if (!there) GTEST_SKIP() << "no GPU to run on";
  EXPECT_TRUE(says(oversized_grid(), {"1048576 blocks of 256 threads", "at once"}));
  EXPECT_TRUE(says(oversized_block(), {"1025", "1024"}));
  EXPECT_EQ(ordinary_run(), "nothing was thrown");
}
TEST_F(gpu, memory_runs_out_with_a_message) {
  if (!there) GTEST_SKIP() << "no GPU to run on";
  EXPECT_TRUE(says(oversized_array(), {"4398046511104 bytes"}));
  EXPECT_EQ(ordinary_run(), "nothing was thrown");
}
TEST_F(gpu, launches_that_must_not_overlap_are_told) {
  if (!there) GTEST_SKIP() << "no GPU to run on";
  EXPECT_TRUE(says(overlapping_launch(), {"under way on another stream"}));
  EXPECT_TRUE(says(overlapping_read(), {"under way on another stream"}));
  EXPECT_EQ(launches_in_turn(), "nothing was thrown");
}
TEST_F(gpu, launches_go_to_the_gpu_of_their_stream) {
  if (ask_for_gpu(1) != "nothing was thrown") GTEST_SKIP() << "there are no two GPUs to run on";
  EXPECT_EQ(two_gpus_in_turn(), "nothing was thrown");
}

}  // namespace
}  // namespace gputm::api_test
