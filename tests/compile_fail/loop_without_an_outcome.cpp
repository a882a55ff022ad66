// The body of a loop that returns nothing. Control: it returns an outcome.
#include "gputm/gputm.hpp"

struct body {
  gputm::array<int> a;
#if defined(GPUTM_CONTROL)
  template <gputm::Transaction It>
  GPUTM_FN gputm::outcome operator()(It& it, int i) const {
    GPUTM_TRY(it.store(a[i], 1));
    return gputm::commit;
  }
#else
  template <gputm::Transaction It>
  GPUTM_FN void operator()(It& it, int i) const {
    (void)it.store(a[i], 1);
  }
#endif
};

void use(const gputm::stream& s, gputm::memory<gputm::speculation::gpu_tls>& tm, body b) {
  gputm::speculate(s, tm, 1, b);
}
