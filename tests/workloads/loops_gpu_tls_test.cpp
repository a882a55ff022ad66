#include "gputm/speculation/gpu_tls.hpp"
#include "loops_with.hpp"

namespace gputm::workloads_test {

using gpu_tls_types = testing::Types<speculation::gpu_tls, speculation::gpu_tls_no_repair,
                                     speculation::gpu_tls_no_forwarding, speculation::gpu_tls_lazy>;
INSTANTIATE_TYPED_TEST_SUITE_P(gpu_tls, loops_with, gpu_tls_types, by_engine);

}  // namespace gputm::workloads_test
