#include "../registration.hpp"
#include "gputm/algorithm/pr_stm.hpp"

GPUTM_CLI_ALGORITHM(pr_stm_opaque, gputm::algorithm::pr_stm_opaque, algorithm,
                    "PR-STM, opaque: versions are stamps of a global clock")
