#include "versions.hpp"

GPUTM_PR_STM_CONFORMANCE(pr_stm_opaque, gputm::algorithm::pr_stm_opaque)
