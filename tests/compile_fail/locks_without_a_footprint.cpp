// The algorithm `locks` needs to know beforehand what a body touches.
#include <vector>

#include "gputm/gputm.hpp"

struct body {
  gputm::array<int> a;
#if defined(GPUTM_CONTROL)
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, int i) const {
    touch(a[i]);
  }
#endif
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int i) const {
    GPUTM_TRY(tx.store(a[i], 1));
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::locks>& tm, body b) {
  gputm::run(s, tm, std::vector<int>{1}, b);
}
