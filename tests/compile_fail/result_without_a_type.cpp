// A body that gives a result and does not say of what type.
#include <vector>

#include "gputm/gputm.hpp"

struct body {
#if defined(GPUTM_CONTROL)
  using result_type = int;
#endif
  gputm::array<int> a;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int i) const {
    GPUTM_TRY(int x, tx.load(a[i]));
    tx.result(x);
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::pr_stm>& tm, body b) {
  gputm::run(s, tm, std::vector<int>{1}, b);
}
