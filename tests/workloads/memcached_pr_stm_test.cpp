#include "gputm/algorithm/pr_stm.hpp"
#include "memcached_of.hpp"

namespace gputm::workloads_test {

using pr_stm_types = testing::Types<algorithm::pr_stm, algorithm::pr_stm_opaque, algorithm::pr_stm_revalidate,
                                    algorithm::pr_stm_static, algorithm::pr_stm_paper_layout>;
INSTANTIATE_TYPED_TEST_SUITE_P(pr_stm, memcached_of, pr_stm_types, by_name);

}  // namespace gputm::workloads_test
