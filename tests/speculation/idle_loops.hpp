// A property of loop engines: loops most iterations of which access nothing, told so (gputm::mostly_idle).
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Iterations of which one in `busy` accesses anything, as those of `shape` do; others do nothing, cancel, or, rarely,
/// end the loop.
inline std::vector<std::vector<step>> mostly_idle_iterations(dice& d, const loop_shape& shape, std::uint32_t busy,
                                                             std::uint32_t ends) {
  std::vector<std::vector<step>> all;
  for (int i = 0; i < shape.n; ++i) {
    if (d.below(busy) == 0)
      all.push_back(shape.steps_of_one(d, static_cast<std::uint32_t>(i)));
    else if (ends != 0 && d.below(ends) == 0)
      all.push_back({{act::break_if, 1}});
    else
      all.push_back(d.below(4) == 0 ? std::vector<step>{{act::cancel_if, 1}} : std::vector<step>{});
  }
  return all;
}

template <class E>
void mostly_idle_loops_equal_the_sequential_loops(const venue& v) {
  using value = std::uint64_t;
  dice d(v.seed * 15487469 + v.round);
  loop_shape shape = loop_shape::random(d, v.exploring());
  shape.n = static_cast<int>(1 + v.pick({d.below(100), d.below(900), d.below(30'000)}));
  shape.elements += d.below(2) * static_cast<std::uint32_t>(shape.n);  // few dependences
  const bool many = d.below(2) != 0;
  const std::uint32_t busy = 1 + (many ? d.below(60) : 0), ends = d.below(3) == 0 ? 1 + d.below(3000) : 0;
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<value>(shape.elements);
  const auto b = tm.template allocate<std::uint32_t>(shape.others);
  loop_config c = random_config(d, v, shape);
  if (shape.n > 1000) {  // else what small windows and tables cost takes minutes
    c.adapt = true;
    c.table_slots = 0;
  }
  c.skip_idle_from = d.below(8) == 0 ? static_cast<std::uint64_t>(shape.n) + 1 : 0;
  model<value> expected{std::vector<value>(shape.elements), std::vector<std::uint32_t>(shape.others, 7)};
  for (value& x : expected.a) x = d.next();
  const script steps(s, mostly_idle_iterations(d, shape, busy, ends));
  const auto on_host = steps.template host<value>(s);
  auto w = make_loop_workspace<mostly_idle<program<value>>>(s, tm, shape.n, c);
  for (std::uint32_t turn = 0, turns = 1 + d.below(3); turn < turns; ++turn) {
    tm.write(s, a, expected.a);
    tm.write(s, b, expected.b);
    const auto below = d.below(static_cast<std::uint32_t>(shape.n) + 1);
    const int length = d.below(2) == 0 ? shape.n : static_cast<int>(below);
    speculate_async(s, tm, w, length, mostly_idle{steps.over(a, b)});
    const loop_statistics done = w.collect(s, tm);
    const int ran = expected.run(length, on_host.over());
    require_equal(done.iterations, static_cast<std::uint64_t>(ran), "iterations that took effect");
    require(tm.read(s, a) == expected.a && tm.read(s, b) == expected.b, "an array differs from the sequential loops'");
    require(done.executed >= done.iterations && done.executed < std::uint64_t{1} << 40, "so many runs of the body");
  }
}

}  // namespace gputm::conformance
