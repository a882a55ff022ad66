// Loops in place whose iterations own rows of more elements than a word has bits (owned_rows): what is saved of them is
// told piece by piece.
#include <gtest/gtest.h>

#include "speculation/fixture.hpp"

namespace gputm {
namespace {

/// Iteration i adds to `width` elements of its own, those that there are, in steps of `step`; one may end the loop.
struct adds_to_a_row {
  array<std::uint32_t> a;
  std::uint32_t width, step, end;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    for (std::uint32_t k = 0; k < width; ++k) {
      const std::uint32_t j = i * width + k * step % width;
      if (j >= a.size()) continue;
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

  void make(std::uint32_t elements, std::uint32_t width, std::uint32_t step, bool scouts = false) {
    body = {tm.allocate<std::uint32_t>(elements), width, step, n};
    expected.assign(elements, 7);
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
    for (std::uint32_t j = 0; j < std::min<std::size_t>(ran * body.width, expected.size()); ++j) expected[j] += j;
    EXPECT_EQ(tm.read(s, body.a), expected);
    return done;
  }
};

TEST_F(wide_rows, are_in_place_from_the_third_loop_on) {
  for (const std::uint32_t width : {33u, 63u, 64u, 65u, 128u, 129u, most, most + 1}) {
    make(n * width, width, 1);
    EXPECT_EQ(run().in_place, 0u);
    EXPECT_EQ(run().in_place, 0u) << "this one learns";
    EXPECT_EQ(run().in_place, width <= most ? n : 0) << width << " elements";
  }
}
TEST_F(wide_rows, may_be_stored_to_in_any_order_and_are_undone) {
  for (const std::uint32_t width : {33u, 64u, 100u, most - 1})
    for (const std::uint32_t step : {1u, width - 1, 7u}) {
      make(n * width, width, width % step == 0 ? 1 : step);
      for (int loop = 0; loop < 4; ++loop) run();
      body.end = n / 3;
      EXPECT_EQ(run().in_place, 0u);
      body.end = n;
      run();
    }
}
TEST_F(wide_rows, may_be_cut_by_the_end_of_their_array) {
  for (const std::uint32_t missing : {1u, 6u, 63u, 64u, 100u}) {
    make(n * 64 - missing, 64, 1);
    for (int loop = 0; loop < 3; ++loop) run();
    EXPECT_EQ(run().in_place, n) << missing << " elements less";
    body.end = n - 1;
    EXPECT_EQ(run().in_place, 0u) << "an end is none of a loop in place";
    body.end = n;
  }
}
TEST_F(wide_rows, are_seen_by_scouts) {
  make(n * 40, 40, 1, true);
  EXPECT_EQ(run().in_place, n) << "with room for many accesses half of scout_from is enough";
  make(n * 40, 40, 39, true);
  EXPECT_EQ(run().in_place, n) << "downwards";
  make(n * 40, 40, 7, true);
  EXPECT_EQ(run().in_place, 0u) << "no longer, if stores are all over a row";
  EXPECT_EQ(run().in_place, 0u);
  EXPECT_EQ(run().in_place, n) << "loops learn that it is one";
  make(n * 12, 12, 1, true);
  EXPECT_EQ(run().in_place, 0u) << "with room for few accesses";
}

}  // namespace
}  // namespace gputm
