#include "../engine_registration.hpp"
#include "gputm/speculation/gpu_tls.hpp"

GPUTM_CLI_LOOP_ENGINE(gpu_tls_no_forwarding, gputm::speculation::gpu_tls_no_forwarding, algorithm,
                      "GPU-TLS whose repairs do not wait for each other's values")
