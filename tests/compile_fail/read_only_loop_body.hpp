// The body of a loop that says it never stores. Control: it does not say so.
#pragma once

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
