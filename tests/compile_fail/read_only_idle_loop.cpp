// Within mostly_idle, on an engine that does not know it.
#include "read_only_loop_body.hpp"

void use(const gputm::stream& s, gputm::memory<gputm::speculation::in_order_commit>& tm, body b) {
  gputm::speculate(s, tm, 1, gputm::mostly_idle{b});
}
