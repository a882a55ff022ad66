#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_only_cs, gputm::algorithm::csmv_only_cs, algorithm,
                    "CSMV with clients and server only: no batches (ablation)")
