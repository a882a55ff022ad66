// A body whose call operator is not const. Control: it is.
#include "gputm/gputm.hpp"

#if defined(GPUTM_CONTROL)
#define IF_CONST const
#else
#define IF_CONST
#endif

struct body {
  gputm::array<int> a;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int i) IF_CONST {
    GPUTM_TRY(tx.store(a[i], 1));
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::pr_stm>& tm, body b) {
  gputm::run(s, tm, std::vector<int>{1}, b);
}
