#include "../registration.hpp"
#include "gputm/algorithm/pr_stm.hpp"

GPUTM_CLI_ALGORITHM(pr_stm_static, gputm::algorithm::pr_stm_static, algorithm,
                    "PR-STM with the paper's priorities: rank, for ever")
