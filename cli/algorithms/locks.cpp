#include "gputm/algorithm/locks.hpp"
#include "../registration.hpp"

GPUTM_CLI_ALGORITHM(locks, gputm::algorithm::locks, baseline, "ordered fine-grained spin locks, as written by hand")
