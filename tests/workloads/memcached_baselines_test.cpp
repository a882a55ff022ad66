#include "gputm/algorithm/locks.hpp"
#include "gputm/algorithm/sequential.hpp"
#include "memcached_of.hpp"

namespace gputm::workloads_test {

using baselines_types = testing::Types<algorithm::locks, algorithm::sequential>;
INSTANTIATE_TYPED_TEST_SUITE_P(baselines, memcached_of, baselines_types, by_name);

}  // namespace gputm::workloads_test
