#include "../registration.hpp"
#include "gputm/algorithm/pr_stm.hpp"

GPUTM_CLI_ALGORITHM(pr_stm_paper_layout, gputm::algorithm::pr_stm_paper_layout, algorithm,
                    "PR-STM with the paper's priorities and 32-bit lock words, whose versions wrap")
