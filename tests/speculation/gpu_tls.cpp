#include "speculation/suite.hpp"

GPUTM_LOOP_ENGINE(gpu_tls)

namespace gputm::conformance {

// Of the one that runs loops in place.
GPUTM_LOOP_PROPERTY(gpu_tls, what_a_pass_saves_is_its_own, 2000)

}  // namespace gputm::conformance
