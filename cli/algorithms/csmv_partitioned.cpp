#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_partitioned, gputm::algorithm::csmv_partitioned, algorithm,
                    "CSMV, several servers with a part of the record each")
