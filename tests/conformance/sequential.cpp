#include "suite.hpp"

GPUTM_CONFORMANCE(sequential, gputm::algorithm::sequential)
