#include "gputm/speculation/in_order_commit.hpp"
#include "../engine_registration.hpp"

GPUTM_CLI_LOOP_ENGINE(in_order_commit, gputm::speculation::in_order_commit, algorithm,
                      "deferred writes, committed one iteration after another")
