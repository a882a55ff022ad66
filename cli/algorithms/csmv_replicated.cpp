#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_replicated, gputm::algorithm::csmv_replicated, algorithm,
                    "CSMV, several servers with a copy of the record each")
