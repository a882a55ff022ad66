#include "suite.hpp"

GPUTM_CONFORMANCE(pr_stm_revalidate, gputm::algorithm::pr_stm_revalidate)
