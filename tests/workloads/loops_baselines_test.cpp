#include "gputm/speculation/direct_update.hpp"
#include "gputm/speculation/in_order_commit.hpp"
#include "gputm/speculation/sequential.hpp"
#include "loops_with.hpp"

namespace gputm::workloads_test {

using baseline_types =
    testing::Types<speculation::in_order_commit, speculation::direct_update, speculation::sequential>;
INSTANTIATE_TYPED_TEST_SUITE_P(baselines, loops_with, baseline_types, by_engine);

}  // namespace gputm::workloads_test
