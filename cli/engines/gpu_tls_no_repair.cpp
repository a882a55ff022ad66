#include "../engine_registration.hpp"
#include "gputm/speculation/gpu_tls.hpp"

GPUTM_CLI_LOOP_ENGINE(gpu_tls_no_repair, gputm::speculation::gpu_tls_no_repair, algorithm,
                      "GPU-TLS with the paper's recovery: in the next window only")
