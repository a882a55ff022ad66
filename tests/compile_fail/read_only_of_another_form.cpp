// A body that says input by input that it never stores, with another result than bool. Control: with bool.
#include "gputm/gputm.hpp"

#if defined(GPUTM_CONTROL)
using answer = bool;
#else
using answer = int;
#endif

struct body {
  gputm::array<int> a;
  GPUTM_FN answer read_only(int) const { return 1; }
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int i) const {
    GPUTM_TRY(const int x, tx.load(a[i]));
    return x == 0 ? gputm::commit : gputm::cancel;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::pr_stm>& tm, body b) {
  gputm::run(s, tm, std::vector<int>{1}, b);
}
