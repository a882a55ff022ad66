#include "gputm/algorithm/sequential.hpp"
#include "../registration.hpp"

GPUTM_CLI_ALGORITHM(sequential, gputm::algorithm::sequential, baseline, "one transaction after another on one thread")
