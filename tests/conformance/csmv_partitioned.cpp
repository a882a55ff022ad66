#include "gputm/algorithm/csmv.hpp"

#include "suite.hpp"

GPUTM_CONFORMANCE(csmv_partitioned, gputm::algorithm::csmv_partitioned)
