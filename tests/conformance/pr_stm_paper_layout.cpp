#include "suite.hpp"

GPUTM_CONFORMANCE(pr_stm_paper_layout, gputm::algorithm::pr_stm_paper_layout)
