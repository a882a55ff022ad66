#include "gputm/algorithm/csmv.hpp"
#include "memcached_of.hpp"

namespace gputm::workloads_test {

using csmv_types = testing::Types<algorithm::csmv_sh, algorithm::csmv_ts, algorithm::csmv_gb, algorithm::csmv_no_cv,
                                  algorithm::csmv_only_cs>;
INSTANTIATE_TYPED_TEST_SUITE_P(csmv, memcached_of, csmv_types, by_name);

}  // namespace gputm::workloads_test
