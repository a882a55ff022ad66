#include "gputm/gputm.hpp"

struct body {
  gputm::array<int> a;
  template <gputm::Transaction It>
  gputm::outcome operator()(It& it, int i) const {
#ifdef GPUTM_CONTROL
    const int half = i / 2;
#else
    const float half = static_cast<float>(i) / 2;
#endif
    GPUTM_TRY(it.store(a[half], i));
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::speculation::gpu_tls>& tm, body b) {
  gputm::speculate(s, tm, 1, b);
}
