// An element type that is not trivially copyable.
#include <string>

#include "gputm/gputm.hpp"

#if defined(GPUTM_CONTROL)
using element = char[16];
struct text {
  element characters;
};
#else
using text = std::string;
#endif

void use(gputm::memory<gputm::algorithm::pr_stm>& tm) { tm.allocate<text>(3); }
