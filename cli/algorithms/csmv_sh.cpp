#include "../registration.hpp"
#include "gputm/algorithm/csmv.hpp"

GPUTM_CLI_ALGORITHM(csmv_sh, gputm::algorithm::csmv_sh, algorithm,
                    "CSMV: server blocks keep the commit record, in shared memory")
