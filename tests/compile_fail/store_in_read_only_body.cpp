// A body that says it never stores, and stores. Control: it does not say so.
#include <vector>

#include "gputm/gputm.hpp"

struct body {
#if !defined(GPUTM_CONTROL)
  static constexpr bool read_only = true;
#endif
  gputm::array<int> a;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int i) const {
    GPUTM_TRY(tx.store(a[i], 1));
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::pr_stm>& tm, body b) {
  gputm::run(s, tm, std::vector<int>{1}, b);
}
