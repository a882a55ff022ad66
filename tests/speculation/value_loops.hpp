// A property of loop engines: iterations that depend on each other's values only, as they always write to the same
// elements. A repair of such a loop need not look at most of its window.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// x[lead + k] = f(x[from[k][0]], x[from[k][1]], ...), all of which lower iterations write, or none.
struct mixes_lower_ones {
  array<std::uint32_t> x, from;
  std::uint32_t lead, reads;
  std::uint32_t end;  // the iteration that ends the loop, for which each repair of its window is checked
  static GPUTM_FN std::uint32_t mix(std::uint32_t sum, std::uint32_t value) { return sum * 31 + value; }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    std::uint32_t sum = k;
    for (std::uint32_t j = 0; j < reads; ++j) {
      GPUTM_TRY(const std::uint32_t at, it.load(from[k * reads + j]));
      GPUTM_TRY(const std::uint32_t value, it.load(x[at]));
      sum = mix(sum, value);
    }
    GPUTM_TRY(it.store(x[lead + k], sum));
    if (k == end) it.break_loop();
    return gputm::commit;
  }
};

template <class E>
void values_that_change_again_are_followed(const venue& v) {
  dice d(v.seed * 32452843 + v.round);
  const bool many_turns = v.exploring() && v.round % 8 == 7;  // more than a position_set tells of
  const std::uint32_t n = many_turns ? 300 : v.pick({16u, 2000u, 20'000u});
  const std::uint32_t lead = many_turns ? 60 : v.pick({2 + d.below(6), 500u, 8'000u}), reads = 1 + d.below(6);
  stream s{v.on};
  memory<E> tm{v.on};
  const mixes_lower_ones body{tm.template allocate<std::uint32_t>(lead + n),
                              tm.template allocate<std::uint32_t>(n * reads), lead, reads,
                              v.round % 2 == 0 ? n : n - 1};
  std::vector<std::uint32_t> x(lead + n), from(n * reads);
  for (auto& each : x) each = d.below(1000);
  for (std::uint32_t k = 0; k < n * reads; ++k) from[k] = k / reads + d.below(lead);
  tm.write(s, body.x, x);
  tm.write(s, body.from, from);
  for (std::uint32_t k = 0; k < n; ++k) {
    std::uint32_t sum = k;
    for (std::uint32_t j = 0; j < reads; ++j) sum = mixes_lower_ones::mix(sum, x[from[k * reads + j]]);
    x[lead + k] = sum;
  }
  loop_config c = config_for(v, {.reads = 2 * reads, .writes = 1});
  c.window = many_turns ? 0 : n / (2 + d.below(2));
  c.first_window = many_turns ? n : d.below(2) * n / 4;
  c.adapt = d.below(2) == 0;
  c.timed = false;
  if (!c.adapt && v.how == mode::gpu) c.window = 1 + d.below(2000);  // without repairs each may commit one iteration
  speculate(s, tm, n, body, c);
  require(tm.read(s, body.x) == x, "what iterations make of lower ones' values");
}

}  // namespace gputm::conformance
