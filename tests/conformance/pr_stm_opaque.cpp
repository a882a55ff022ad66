#include "suite.hpp"

GPUTM_CONFORMANCE(pr_stm_opaque, gputm::algorithm::pr_stm_opaque)
