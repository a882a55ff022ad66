#include "gputm/speculation/sequential.hpp"
#include "../engine_registration.hpp"

GPUTM_CLI_LOOP_ENGINE(sequential, gputm::speculation::sequential, baseline, "one iteration after another on one thread")
