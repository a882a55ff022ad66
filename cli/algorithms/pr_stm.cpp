#include "gputm/algorithm/pr_stm.hpp"
#include "../registration.hpp"

GPUTM_CLI_ALGORITHM(pr_stm, gputm::algorithm::pr_stm, algorithm,
                    "PR-STM: lock stealing by priority; priorities rise with aborts")
