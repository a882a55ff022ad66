// A store of something that does not convert to the element's type.
#include <vector>

#include "gputm/gputm.hpp"

struct point {
  int x, y;
};

struct body {
  gputm::array<point> a;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int i) const {
#if defined(GPUTM_CONTROL)
    GPUTM_TRY(tx.store(a[i], {1, 2}));
#else
    GPUTM_TRY(tx.store(a[i], 1));
#endif
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::pr_stm>& tm, body b) {
  gputm::run(s, tm, std::vector<int>{1}, b);
}
