#include "../engine_registration.hpp"
#include "gputm/speculation/gpu_tls.hpp"

GPUTM_CLI_LOOP_ENGINE(gpu_tls_lazy, gputm::speculation::gpu_tls_lazy, algorithm,
                      "GPU-TLS with the paper's recovery, and neither forwarding nor the eager check")
