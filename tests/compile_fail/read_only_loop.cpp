#include "read_only_loop_body.hpp"

void use(const gputm::stream& s, gputm::memory<gputm::speculation::gpu_tls>& tm, body b) {
  gputm::speculate(s, tm, 1, b);
}
