#include "gputm/algorithm/unsafe.hpp"
#include "../registration.hpp"

GPUTM_CLI_ALGORITHM(unsafe, gputm::algorithm::unsafe, baseline,
                    "no synchronisation: results are wrong under contention")
