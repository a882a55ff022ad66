// Loops whose iterations depend on others far before them, or on near ones; and a property of gpu_tls, which gives up a
// window of the former that is much too long.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// What iterations depend on: nothing; every other one on the one before it; or on any element, so that the later an
/// iteration, the likelier one before it stores to that, and mostly a far one.
enum class reach : std::uint8_t { none, near, far };

/// x[i] = x[from(i)] + 1.
struct successors {
  array<std::uint32_t> x;
  std::uint32_t seed;
  reach how;

  GPUTM_FN std::uint32_t from(std::uint32_t i) const {
    if (how != reach::far) return how == reach::near ? i - i % 2 : i;
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
  void run(std::vector<std::uint32_t>& all) const {
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = all[from(i)] + 1;
  }
};

/// Windows that are given up leave nothing, whatever they have come to; also where the loops before let expect that
/// there is nothing to decide.
template <class E>
void windows_given_up_leave_nothing(const venue& v) {
  dice d(v.seed * 32452843 + v.round);
  const std::uint32_t n = v.pick({12u, 128u, 4096u}) + d.below(v.pick({8u, 64u, 4096u}));
  stream s{v.on};
  memory<E> tm{v.on};
  successors body{tm.template allocate<std::uint32_t>(n), d.below(1000), reach::none};
  loop_config c = config_for(v, {.reads = 1, .writes = 1});
  c.in_place = false;
  c.first_window = n;
  c.smallest_window = 1;
  c.most_again = 1 + d.below(v.pick({2u, 8u, 256u}));
  c.repair_whole = true;
  c.timed = false;
  auto w = make_loop_workspace<successors>(s, tm, n, c);
  std::vector<std::uint32_t> all(n);
  for (std::uint32_t calm = d.below(3); body.how != reach::far;) {
    if (calm-- == 0) body.how = reach::far;
    speculate_async(s, tm, w, n, body);
    w.collect(s, tm);
    body.run(all);
    require(tm.read(s, body.x) == all, "an element differs from the sequential loop's");
  }
}

}  // namespace gputm::conformance
