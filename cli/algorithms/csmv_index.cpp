#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_index, gputm::algorithm::csmv_index, algorithm,
                    "CSMV, an index of last writers in place of the record")
