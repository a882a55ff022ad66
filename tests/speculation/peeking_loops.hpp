// Properties of loop engines: a loop that looks for marks at its reads, since those of the loop before had none, and so
// mostly needs no check, misses nothing of what it should have checked.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// What one loop of several does. All store to even elements in an order that is no row, and read odd ones, to which
/// nobody has ever stored unless it is said here. Even and odd ones lie in the same ranges, so all reads are logged.
enum class glance : std::uint8_t {
  usual,            // no more than that
  reads_marked,     // one iteration reads an even element that a lower one stores to
  groups_marked,    // the same by load_each, which looks for no marks
  stores_unmarked,  // one stores to an odd element that a higher one reads
  stores_two,       // the same, and then to one that has been stored to before, with no load in between
  stores_apart,     // one stores to an odd element that nobody reads
  many
};
struct glancing_loop {
  array<std::uint32_t> a;
  std::uint32_t n, factor;  // iteration k stores to element 2 * (factor * k % n)
  glance what;
  std::uint32_t at, below;  // iterations, below < at
  std::uint32_t stamp;

  GPUTM_FN std::uint32_t home(std::uint32_t k) const {
    return 2 * static_cast<std::uint32_t>(std::uint64_t{factor} * k % n);
  }
  /// So many iterations, from the first one on, read nothing.
  GPUTM_FN std::uint32_t idle() const { return n / 8 + 1; }
  /// The odd element that iteration k reads.
  GPUTM_FN std::uint32_t odd(std::uint32_t k) const { return home(n - 1 - k) + 1; }

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    std::uint32_t x = stamp + k;
    if (k == below && what == glance::stores_unmarked) GPUTM_TRY(it.store(a[odd(at)], stamp + 7));
    const std::uint32_t from = k == at && what == glance::reads_marked ? home(below) : odd(k);
    if (k == at && what == glance::groups_marked) {
      GPUTM_TRY(it.load_each(
          2u, [this](std::uint32_t j) { return a[j == 0 ? odd(at) : home(below)]; },
          [&x](std::uint32_t, std::uint32_t v) { x += 3 * v; }));
    } else if (k >= idle()) {
      GPUTM_TRY(const std::uint32_t v, it.load(a[from]));
      x += 3 * v;
    }
    if (k == below && what == glance::stores_two) GPUTM_TRY(it.store(a[odd(at)], stamp + 7));
    if (k == at && what == glance::stores_apart) GPUTM_TRY(it.store(a[odd(stamp % idle())], stamp + 9));
    GPUTM_TRY(it.store(a[home(k)], x));
    return gputm::commit;
  }
  /// What it leaves of the array.
  void run(std::vector<std::uint32_t>& values) const {
    for (std::uint32_t k = 0; k < n; ++k) {
      const bool stores = k == below && (what == glance::stores_unmarked || what == glance::stores_two);
      if (stores && what == glance::stores_unmarked) values[odd(at)] = stamp + 7;
      std::uint32_t x = stamp + k;
      if (k == at && what == glance::groups_marked)
        x += 3 * values[odd(at)] + 3 * values[home(below)];
      else if (k >= idle())
        x += 3 * values[k == at && what == glance::reads_marked ? home(below) : odd(k)];
      if (stores && what == glance::stores_two) values[odd(at)] = stamp + 7;
      if (k == at && what == glance::stores_apart) values[odd(stamp % idle())] = stamp + 9;
      values[home(k)] = x;
    }
  }
};

/// Loops in one workspace, half of which are as usual.
template <class E>
void reads_that_look_for_marks_miss_nothing(const venue& v) {
  dice d(v.seed * 472882027 + v.round);
  for (int k = v.pick({1, 20, 20}); k > 0; --k) {
    stream s{v.on};
    memory<E> tm{v.on};
    const std::uint32_t n = v.pick({4 + d.below(8), 4 + d.below(300), 4 + d.below(20'000)});
    // so many elements that even and odd ones share ranges
    const std::uint32_t elements = 2 * n + (v.exploring() ? 256 : 0);
    glancing_loop body{tm.template allocate<std::uint32_t>(elements), n, n - 1, glance::usual, 0, 0, 0};
    loop_config c = config_for(v, {.reads = 1 + d.below(2), .writes = 2});
    c.in_place = false;
    if (d.below(2) == 0) c.blocks = c.threads = 0;  // a thread for each iteration, if the device has so many
    if (d.below(4) == 0) c.tags = 3;                // marks are cleared before each second loop
    auto w = make_loop_workspace<glancing_loop>(s, tm, n, c);
    std::vector<std::uint32_t> expected(elements, 5);
    tm.write(s, body.a, expected);
    for (std::uint32_t turn = 1; turn <= 8; ++turn) {
      // the third one is the first that can look for marks
      const bool usual = turn < 3 || d.below(2) == 0;
      body.what = usual ? glance::usual : static_cast<glance>(d.below(static_cast<std::uint32_t>(glance::many)));
      body.at = body.idle() + d.below(n - body.idle());
      body.below = d.below(body.at);
      body.stamp = turn * 1'000'003;
      speculate_async(s, tm, w, static_cast<int>(n), body);
      const loop_statistics done = w.collect(s, tm);
      body.run(expected);
      require_equal(done.iterations, std::uint64_t{n}, "iterations that took effect");
      require(tm.read(s, body.a) == expected, "an array differs from the sequential loops'");
    }
  }
}

}  // namespace gputm::conformance
