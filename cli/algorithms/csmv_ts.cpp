#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_ts, gputm::algorithm::csmv_ts, algorithm,
                    "CSMV, stamps of the record in shared memory, write sets in global memory")
