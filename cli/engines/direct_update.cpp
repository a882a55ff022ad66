#include "gputm/speculation/direct_update.hpp"
#include "../engine_registration.hpp"

GPUTM_CLI_LOOP_ENGINE(direct_update, gputm::speculation::direct_update, algorithm,
                      "writes in place, undone after any dependence")
