#include "speculation/suite.hpp"

GPUTM_LOOP_ENGINE(in_order_commit)
