#include "gputm/algorithm/jvstm_gpu.hpp"
#include "../registration.hpp"

GPUTM_CLI_ALGORITHM(jvstm_gpu, gputm::algorithm::jvstm_gpu, algorithm,
                    "JVSTM-GPU: version rings, read-only transactions read a snapshot")
