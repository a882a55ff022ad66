#include "versions.hpp"

GPUTM_PR_STM_CONFORMANCE(pr_stm, gputm::algorithm::pr_stm)
