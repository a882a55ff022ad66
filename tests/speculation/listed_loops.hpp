// A property of loop engines: loops whose iterations store to elements of their own that are no rows, and some of them
// to another one's, but not the same ones each time, and not as many iterations.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Iteration k reads its spare element, and stores to its home; if it strays, also to the home or the spare element of
/// a lower one: so there are no violations.
struct listing_loop {
  array<std::uint32_t> a;  // homes, then spare elements
  std::uint32_t homes, factor;
  std::uint32_t stamp;    // values are others in each loop
  std::uint32_t pattern;  // of those who stray
  std::uint32_t one_in;   // iterations that stray; 0: none does

  GPUTM_FN std::uint32_t home(std::uint32_t k) const {
    return static_cast<std::uint32_t>(std::uint64_t{factor} * k % homes);
  }
  GPUTM_FN bool strays(std::uint32_t k) const {
    return k != 0 && one_in != 0 && ((pattern + k) * 0x9E3779B1u >> 8) % one_in == 0;
  }
  GPUTM_FN std::uint32_t stray(std::uint32_t k) const {
    const std::uint32_t lower = (5 * k + 3) % k;
    return k % 2 == 0 ? home(lower) : homes + lower;
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    GPUTM_TRY(const std::uint32_t v, it.load(a[homes + k]));
    GPUTM_TRY(it.store(a[home(k)], 3 * v + stamp + k));
    if (strays(k)) GPUTM_TRY(it.store(a[stray(k)], stamp - k));
    return gputm::commit;
  }
  /// What `n` iterations leave.
  void run(std::vector<std::uint32_t>& values, std::uint32_t n) const {
    for (std::uint32_t k = 0; k < n; ++k) {
      values[home(k)] = 3 * values[homes + k] + stamp + k;
      if (strays(k)) values[stray(k)] = stamp - k;
    }
  }
};

template <class E>
void lists_are_those_of_the_loop_before(const venue& v) {
  dice d(v.seed * 217645199 + v.round);
  for (int again = v.pick({1, 20, 20}); again > 0; --again) {
    stream s{v.on};
    memory<E> tm{v.on};
    const std::uint32_t homes = v.pick({5 + d.below(8), 5 + d.below(300), 5 + d.below(20'000)});
    const std::uint32_t every = 1 + d.below(6);
    const std::uint32_t shorter = 3 + d.below(homes - 2);
    listing_loop body{tm.template allocate<std::uint32_t>(2 * homes), homes, homes - 1, 0, 0, 0};
    loop_config c = config_for(v, {.reads = 1, .writes = 2 + d.below(2)});
    c.in_place = true;
    if (d.below(4) == 0) c.tags = 8;  // after a few loops marks are cleared
    auto w = make_loop_workspace<listing_loop>(s, tm, homes, c);
    std::vector<std::uint32_t> expected(2 * homes, 5);
    tm.write(s, body.a, expected);
    for (int stretch = v.pick({5, 10, 10}); stretch > 0; --stretch) {
      const std::uint32_t n = d.below(2) == 0 ? homes : shorter;
      const bool waits = d.below(4) != 0;  // if not, the host learns late of what loops have found out
      body.one_in = d.below(2) * every;
      if (d.below(4) == 0) body.pattern += homes;
      for (std::uint32_t turn = 1 + d.below(4); turn > 0; --turn) {
        body.stamp += 2 * homes;
        speculate_async(s, tm, w, static_cast<int>(n), body);
        body.run(expected, n);
        if (!waits) continue;
        const loop_statistics done = w.collect(s, tm);
        require_equal(done.iterations, std::uint64_t{n}, "iterations that took effect");
        require(tm.read(s, body.a) == expected, "an array differs from the sequential loops'");
      }
      if (!waits) w.collect(s, tm);
      require(tm.read(s, body.a) == expected, "an array differs behind loops enqueued without waiting");
    }
  }
}

}  // namespace gputm::conformance
