#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_rounds, gputm::algorithm::csmv_rounds, algorithm,
                    "CSMV, all that have come in validated before any is added")
