// A load whose result is thrown away: the body would run on after a conflict.
#include <vector>

#include "gputm/gputm.hpp"

struct body {
  gputm::array<int> a;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int i) const {
#if defined(GPUTM_CONTROL)
    GPUTM_TRY([[maybe_unused]] int x, tx.load(a[i]));
#else
    tx.load(a[i]);
#endif
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::pr_stm>& tm, body b) {
  gputm::run(s, tm, std::vector<int>{1}, b);
}
