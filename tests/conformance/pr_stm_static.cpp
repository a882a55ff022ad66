#include "suite.hpp"

GPUTM_CONFORMANCE(pr_stm_static, gputm::algorithm::pr_stm_static)
