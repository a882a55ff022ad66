#include "../registration.hpp"
#include "gputm/algorithm/pr_stm.hpp"

GPUTM_CLI_ALGORITHM(pr_stm_revalidate, gputm::algorithm::pr_stm_revalidate, algorithm,
                    "PR-STM, opaque: every read validates all reads before it")
