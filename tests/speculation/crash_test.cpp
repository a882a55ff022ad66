// What a property that crashes leaves behind.
#include "conformance/explorer.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

namespace gputm::conformance {
namespace {

template <int Signal>
void crashes_at_the_fourth(const venue& v) {
  if (v.round == 3) std::raise(Signal);
}
/// Within a simulated thread, on its stack.
void crashes_on_a_device(const venue& v) {
  v.on->run_host(1, 1, 2, 0, [&v] {
    if (v.round == 3 && simt::grid_thread_rank() == 1) std::raise(SIGSEGV);
  });
}

TEST(explorer_death, says_in_which_schedule) {
  for (void (*property)(const venue&) : {crashes_at_the_fourth<SIGSEGV>, crashes_at_the_fourth<SIGFPE>,
                                         crashes_at_the_fourth<SIGABRT>, crashes_on_a_device})
    EXPECT_DEATH(explorer(false).search(property, 77, 0, 10), "crashed\n  schedule: .*, seed 77, index 3");
}

}  // namespace
}  // namespace gputm::conformance
