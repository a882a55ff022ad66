#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_no_cv, gputm::algorithm::csmv_no_cv, algorithm,
                    "CSMV without collaborative validation (ablation)")
