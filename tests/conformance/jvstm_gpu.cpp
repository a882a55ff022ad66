#include "gputm/algorithm/jvstm_gpu.hpp"

#include "suite.hpp"

GPUTM_CONFORMANCE(jvstm_gpu, gputm::algorithm::jvstm_gpu)
