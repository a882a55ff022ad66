// A property of loop engines: iterations store to rows of their own, of which their array cuts the first and the last
// ones. What lies before and behind it is none of a loop's business, whether or not a pass in place is undone.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Iteration i adds to those of its `width` elements that there are: the first one would be at -before, were it not
/// for the array. One that is `odd` adds to each second of them, and then cancels; one ends the loop.
template <class T>
struct adds_to_cut_rows {
  array<T> a;
  std::uint32_t width, before, odd, end;

  static GPUTM_FN T sum(const T& x, std::uint32_t i) {
    T y = x;
    for (auto& word : y.w) word = 3 * word + i;
    return y;
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    for (std::uint32_t k = 0; k < width; k += i == odd ? 2 : 1) {
      const std::uint32_t j = i * width + k - before;
      if (j >= a.size()) continue;
      GPUTM_TRY(const T x, it.load(a[j]));
      GPUTM_TRY(it.store(a[j], sum(x, i)));
    }
    if (i == end) it.break_loop();
    return i == odd ? gputm::cancel : gputm::commit;
  }
};
template <unsigned Words>
struct some_words {
  std::uint64_t w[Words];
  friend bool operator==(const some_words&, const some_words&) = default;
};

template <class E, unsigned Words>
void cut_rows_end_with_their_array(const venue& v, dice& d) {
  using value = some_words<Words>;
  const bool wide = d.below(4) != 0;
  const std::uint32_t n = v.pick({3 + d.below(4), 3 + d.below(60), 3 + d.below(3000)});
  const std::uint32_t width = wide ? parts::owned_rows::most + 1 + d.below(100) : 2 + d.below(20);
  const std::uint32_t before = d.below(width), behind = d.below(width), size = n * width - before - behind;
  const value canary{{42}};
  std::vector<value> expected(n * width, canary);
  stream s{v.on};
  const buffer memory_of_it(v.on, expected.size() * sizeof(value));
  const auto all = memory_of_it.template as<value>();
  for (std::uint32_t j = before; j < before + size; ++j) expected[j].w[0] = d.next();
  v.on->copy_to_device(s.handle(), all, expected.data(), memory_of_it.size());
  s.synchronize();
  memory<E> tm{v.on};
  adds_to_cut_rows<value> body{tm.adopt(all + before, size), width, before, n, n};
  loop_config c = config_for(v, {.reads = width, .writes = width});
  c.in_place = true;
  auto w = make_loop_workspace<adds_to_cut_rows<value>>(s, tm, n, c);
  const auto run = [&] {
    speculate_async(s, tm, w, static_cast<int>(n), body);
    const loop_statistics done = w.collect(s, tm);
    for (std::uint32_t j = before; j < before + size && j / width <= body.end; ++j)
      if (j / width != body.odd) expected[j] = body.sum(expected[j], j / width);
    std::vector<value> found(expected.size());
    v.on->copy_from_device(s.handle(), found.data(), all, memory_of_it.size());
    s.synchronize();
    for (std::uint32_t j = 0; j < found.size(); ++j)
      if (j < before || j >= before + size) require(found[j] == canary, "what lies beyond an array has changed");
    require(found == expected, "an array differs from the sequential loops'");
    return done;
  };
  for (int turn = 0; turn < 3; ++turn) run();
  require_equal(run().in_place, n, "iterations in place behind three loops alike");
  body.odd = d.below(3) == 0 ? d.below(n) : d.below(2) * (n - 1);
  run();
  body.end = n - 1;
  const loop_statistics undone = run();
  require_equal(undone.in_place, 0u, "iterations in place of a loop that ends early");
}

template <class E>
void rows_end_with_their_array(const venue& v) {
  dice d(v.seed * 899809343 + v.round);
  if (d.below(3) == 0)
    cut_rows_end_with_their_array<E, 3>(v, d);
  else
    cut_rows_end_with_their_array<E, 1>(v, d);
}

}  // namespace gputm::conformance
