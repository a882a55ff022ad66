#include "gputm/algorithm/csmv.hpp"

#include "suite.hpp"

GPUTM_CONFORMANCE(csmv_replicated, gputm::algorithm::csmv_replicated)
