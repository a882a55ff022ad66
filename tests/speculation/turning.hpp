// A loop that may store to what it has been known to read only.
#pragma once

#include "gputm/speculate.hpp"

namespace gputm {

/// Stores to one array and reads the other; from iteration `both` on it stores to the one it reads, too.
struct turning {
  array<int> a, b;
  int both;

  static constexpr int n = 100;  ///< iterations, and elements of each array
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(const int x, it.load(b[static_cast<unsigned>(i * 7 % n)]));
    GPUTM_TRY(it.store(a[static_cast<unsigned>(i)], x));
    if (i >= both) GPUTM_TRY(it.store(b[static_cast<unsigned>(i)], x + i));
    return gputm::commit;
  }
};

}  // namespace gputm
