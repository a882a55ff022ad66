// A body in mostly_idle that says it never stores, on an engine that does not know it. Control: it does not say so.
#include "gputm/gputm.hpp"

struct body {
#if !defined(GPUTM_CONTROL)
  static constexpr bool read_only = true;
#endif
  gputm::array<int> a;
  template <gputm::Transaction It>
  GPUTM_FN gputm::outcome operator()(It& it, int i) const {
    GPUTM_TRY(it.store(a[i], 1));
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::speculation::in_order_commit>& tm, body b) {
  gputm::speculate(s, tm, 1, gputm::mostly_idle{b});
}
