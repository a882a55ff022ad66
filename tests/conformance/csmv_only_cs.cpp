#include "gputm/algorithm/csmv.hpp"

#include "suite.hpp"

GPUTM_CONFORMANCE(csmv_only_cs, gputm::algorithm::csmv_only_cs)
