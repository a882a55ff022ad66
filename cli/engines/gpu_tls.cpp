#include "gputm/speculation/gpu_tls.hpp"
#include "../engine_registration.hpp"

GPUTM_CLI_LOOP_ENGINE(gpu_tls, gputm::speculation::gpu_tls, algorithm,
                      "GPU-TLS: deferred writes, parallel commit, violations repaired in the window")
