#include "gputm/speculation/doall.hpp"
#include "../engine_registration.hpp"

GPUTM_CLI_LOOP_ENGINE(doall, gputm::speculation::doall, baseline, "no speculation: only right without dependences")
