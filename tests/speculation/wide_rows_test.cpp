// Loops in place whose iterations own rows of more elements than a word has bits (owned_rows): what is saved of them is
// told piece by piece.
#include <gtest/gtest.h>

#include "speculation/fixture.hpp"

namespace gputm {
namespace {

/// Iteration i adds to `width` elements of its own, in steps of `step`; one may end the loop.
struct adds_to_a_row {
  array<std::uint32_t> a;
  std::uint32_t width, step, end;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    for (std::uint32_t k = 0; k < width; ++k) {
      const std::uint32_t j = i * width + k * step % width;
      GPUTM_TRY(const std::uint32_t x, it.load(a[j]));
      GPUTM_TRY(it.store(a[j], x + j));
    }
    if (i == end) it.break_loop();
    return commit;
  }
};

struct wide_rows : testing::Test {
  static constexpr std::uint32_t n = 400, most = parts::owned_rows::most_in_one;
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  adds_to_a_row body{};
  std::optional<loop_workspace<speculation::gpu_tls>> w;
  std::vector<std::uint32_t> expected;

  void make(std::uint32_t width, std::uint32_t step, bool scouts = false) {
    body = {tm.allocate<std::uint32_t>(n * width), width, step, n};
    expected.assign(n * width, 7);
    tm.write(s, body.a, expected);
    loop_config c{.capacity = {.reads = width, .writes = width}, .blocks = 2, .threads = 32};
    if (scouts) c.scout_from = 2 * n;
    w.emplace(make_loop_workspace<adds_to_a_row>(s, tm, n, c));
  }
  loop_statistics run() {
    speculate_async(s, tm, *w, n, body);
    const loop_statistics done = w->collect(s, tm);
    const std::uint32_t ran = std::min(n, body.end + 1);
    EXPECT_EQ(done.iterations, ran);
    for (std::uint32_t j = 0; j < ran * body.width; ++j) expected[j] += j;
    EXPECT_EQ(tm.read(s, body.a), expected);
    return done;
  }
};

TEST_F(wide_rows, are_in_place_from_the_third_loop_on) {
  for (const std::uint32_t width : {33u, 63u, 64u, 65u, 128u, 129u, most, most + 1}) {
    make(width, 1);
    EXPECT_EQ(run().in_place, 0u);
    EXPECT_EQ(run().in_place, 0u) << "this one learns";
    EXPECT_EQ(run().in_place, width <= most ? n : 0) << width << " elements";
  }
}
TEST_F(wide_rows, may_be_stored_to_in_any_order_and_are_undone) {
  for (const std::uint32_t width : {33u, 64u, 100u, most - 1})
    for (const std::uint32_t step : {1u, width - 1, 7u}) {
      make(width, width % step == 0 ? 1 : step);
      for (int loop = 0; loop < 3; ++loop) run();
      EXPECT_EQ(run().in_place, n) << width << " elements in steps of " << body.step;
      body.end = n / 3;
      const loop_statistics undone = run();
      EXPECT_EQ(undone.in_place, 0u);
      EXPECT_GE(undone.executed, n + body.end) << "a pass came before";
    }
}
TEST_F(wide_rows, are_seen_by_scouts) {
  make(40, 1, true);
  EXPECT_EQ(run().in_place, n) << "with room for many accesses half of scout_from is enough";
  make(40, 39, true);
  EXPECT_EQ(run().in_place, n) << "downwards";
  make(40, 7, true);
  EXPECT_EQ(run().in_place, 0u) << "no longer, if stores are all over a row, and it is wide";
  EXPECT_EQ(run().in_place, 0u);
  EXPECT_EQ(run().in_place, n) << "loops learn that it is one";
  make(32, 7, true);
  EXPECT_EQ(run().in_place, n) << "or if it is not wide";
  make(12, 1, true);
  EXPECT_EQ(run().in_place, 0u) << "with room for few accesses";
}

}  // namespace
}  // namespace gputm
