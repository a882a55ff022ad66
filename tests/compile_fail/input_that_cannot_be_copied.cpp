// Inputs that are not trivially copyable.
#include <string>
#include <string_view>
#include <vector>

#include "gputm/gputm.hpp"

#if defined(GPUTM_CONTROL)
using input = std::string_view;
#else
using input = std::string;
#endif

struct body {
  gputm::array<int> a;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, const input& in) const {
    GPUTM_TRY(tx.store(a[in.size()], 1));
    return gputm::commit;
  }
};

void use(const gputm::stream& s, gputm::memory<gputm::algorithm::pr_stm>& tm, body b) {
  gputm::run(s, tm, std::vector<input>{"a"}, b);
}
