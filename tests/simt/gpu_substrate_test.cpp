// A GPU's atomic operations and reductions give what the host device's do.
#include <gtest/gtest.h>

#include "gpu_calls.hpp"

namespace gputm::simt_test {
namespace {

struct gpu_substrate : testing::Test {
  void SetUp() override {
    const std::string gpu = ask_for_gpu();
    if (gpu.starts_with("no GPU")) GTEST_SKIP() << gpu;
  }
};

TEST_F(gpu_substrate, read_modify_writes_agree_with_the_host_device) {
  const auto host = read_modify_writes(false);
  EXPECT_NE(host, std::vector<std::uint64_t>(host.size())) << "nothing ran";
  EXPECT_EQ(read_modify_writes(true), host);
}
TEST_F(gpu_substrate, reductions_agree_with_the_host_device) {
  const auto host = reductions(false);
  EXPECT_NE(host, std::vector<std::uint64_t>(host.size())) << "nothing ran";
  EXPECT_EQ(reductions(true), host);
}

}  // namespace
}  // namespace gputm::simt_test
