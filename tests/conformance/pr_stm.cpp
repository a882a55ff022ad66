#include "suite.hpp"

GPUTM_CONFORMANCE(pr_stm, gputm::algorithm::pr_stm)
