#include "gputm/algorithm/csmv.hpp"

#include "suite.hpp"

GPUTM_CONFORMANCE(csmv_index, gputm::algorithm::csmv_index)
