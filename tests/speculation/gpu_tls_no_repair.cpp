#include "speculation/suite.hpp"

GPUTM_LOOP_ENGINE(gpu_tls_no_repair)
