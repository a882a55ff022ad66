#include "versions.hpp"

GPUTM_PR_STM_CONFORMANCE(pr_stm_paper_layout, gputm::algorithm::pr_stm_paper_layout)
