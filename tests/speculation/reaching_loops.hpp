// Loops whose iterations depend on others far before them, or on near ones; and a property of gpu_tls, which gives up a
// window of the former that is much too long.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// x[i] = x[from(i)] + 1. far: that is any element, so that the later an iteration, the likelier one before it stores
/// to that, and mostly a far one. Else every other iteration depends on the one before it.
struct successors {
  array<std::uint32_t> x;
  std::uint32_t seed;
  bool far;

  GPUTM_FN std::uint32_t from(std::uint32_t i) const {
    if (!far) return i - i % 2;
    std::uint32_t word = (i + seed) * 2654435761u;
    word = (word ^ word >> 15) * 2246822519u;
    return (word ^ word >> 13) % x.size();
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    GPUTM_TRY(const std::uint32_t before, it.load(x[from(k)]));
    GPUTM_TRY(it.store(x[k], before + 1));
    return gputm::commit;
  }
  /// The elements in the end, if all were 0.
  std::vector<std::uint32_t> result() const {
    std::vector<std::uint32_t> all(x.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = all[from(i)] + 1;
    return all;
  }
};

/// Windows that are given up leave nothing, whatever they have come to.
template <class E>
void windows_given_up_leave_nothing(const venue& v) {
  dice d(v.seed * 32452843 + v.round);
  const std::uint32_t n = v.pick(12u, 128u, 4096u) + d.below(v.pick(8u, 64u, 4096u));
  stream s{v.on};
  memory<E> tm{v.on};
  const successors body{tm.template allocate<std::uint32_t>(n), d.below(1000), true};
  loop_config c = config_for(v, {.reads = 1, .writes = 1});
  c.in_place = false;
  c.first_window = n;
  c.smallest_window = 1;
  c.most_again = 1 + d.below(v.pick(2u, 8u, 256u));
  c.repair_whole = true;
  c.timed = false;
  speculate(s, tm, n, body, c);
  require(tm.read(s, body.x) == body.result(), "an element differs from the sequential loop's");
}

}  // namespace gputm::conformance
