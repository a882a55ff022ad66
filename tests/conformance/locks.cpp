#include "suite.hpp"

GPUTM_CONFORMANCE(locks, gputm::algorithm::locks)
