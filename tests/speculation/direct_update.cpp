#include "speculation/suite.hpp"

GPUTM_LOOP_ENGINE(direct_update)
