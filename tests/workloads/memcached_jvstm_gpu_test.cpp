#include "gputm/algorithm/jvstm_gpu.hpp"
#include "memcached_of.hpp"

namespace gputm::workloads_test {

using jvstm_gpu_types = testing::Types<algorithm::jvstm_gpu>;
INSTANTIATE_TYPED_TEST_SUITE_P(jvstm_gpu, memcached_of, jvstm_gpu_types, by_name);

}  // namespace gputm::workloads_test
