#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_gb, gputm::algorithm::csmv_gb, algorithm, "CSMV, the record in global memory")
