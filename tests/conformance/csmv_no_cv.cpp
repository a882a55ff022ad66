#include "gputm/algorithm/csmv.hpp"

#include "suite.hpp"

GPUTM_CONFORMANCE(csmv_no_cv, gputm::algorithm::csmv_no_cv)
