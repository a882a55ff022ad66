// Scouts (scout.hpp): which first loops run in place, and what becomes of those of which a scout has not seen all.
#include <gtest/gtest.h>

#include <algorithm>

#include "speculation/fixture.hpp"

namespace gputm {
namespace {

constexpr std::uint32_t n = 3000, never = ~0u;

/// Iteration i reads `width` elements from i * stride on, and stores to element first + i. One in 16 of those from 200
/// on stores to element (i + away) * stride besides. Some may do what no other one does.
struct rows_and_strays {
  array<std::uint64_t> a;
  std::uint32_t first, stride = 1, width = 1;
  std::int32_t away = 0;  // 0: there are no strays
  std::uint32_t odd = never, odd_read = 0;
  std::uint32_t end = never, reads_own = never;

  GPUTM_INLINE bool strays(std::uint32_t i) const { return away != 0 && i >= 200 && i < n - 200 && i % 16 == 15; }
  GPUTM_INLINE std::uint32_t stray(std::uint32_t i) const {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(i) + away) * stride;
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    std::uint64_t sum = i;
    for (std::uint32_t k = 0; k < width; ++k) {
      GPUTM_TRY(const std::uint64_t v, it.load(a[i * stride + k]));
      sum = 3 * sum + v;
    }
    if (i == odd) {
      GPUTM_TRY(const std::uint64_t v, it.load(a[odd_read]));
      sum ^= v;
    }
    if (strays(i)) GPUTM_TRY(it.store(a[stray(i)], sum + 7));
    if (i == reads_own) {
      GPUTM_TRY(const std::uint64_t v, it.load(a[i * stride]));
      sum += 5 * v;
    }
    GPUTM_TRY(it.store(a[first + i], sum));
    if (i == end) it.break_loop();
    return commit;
  }
  std::uint32_t run(std::vector<std::uint64_t>& x) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint64_t sum = i;
      for (std::uint32_t k = 0; k < width; ++k) sum = 3 * sum + x[i * stride + k];
      if (i == odd) sum ^= x[odd_read];
      if (strays(i)) x[stray(i)] = sum + 7;
      if (i == reads_own) sum += 5 * x[i * stride];
      x[first + i] = sum;
      if (i == end) return i + 1;
    }
    return n;
  }
};

class scouts : public testing::Test {
 protected:
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  loop_config config = {.capacity = {.reads = 8, .writes = 4}, .blocks = 2, .threads = 32};
  std::vector<std::uint64_t> expected;

  scouts() { config.scout_from = n; }
  /// Iterations that read rows of so many elements.
  rows_and_strays body(std::uint32_t stride = 1, std::uint32_t width = 1) {
    const std::uint32_t first = n * stride + width;
    rows_and_strays b{tm.allocate<std::uint64_t>(first + n), first, stride, width};
    expected.resize(first + n);
    for (std::uint32_t i = 0; i < first + n; ++i) expected[i] = i * i + 1;
    tm.write(s, b.a, expected);
    return b;
  }
  loop_statistics run(const rows_and_strays& b) {
    const loop_statistics done = speculate(s, tm, n, b, config);
    EXPECT_EQ(done.iterations, b.run(expected));
    EXPECT_EQ(tm.read(s, b.a), expected);
    return done;
  }
  void expect_in_place(const rows_and_strays& b) {
    const loop_statistics done = run(b);
    EXPECT_EQ(done.in_place, n);
    EXPECT_EQ(done.executed, n + scouted);
    EXPECT_EQ(done.rounds, 1u);
  }
  void expect_not_in_place(const rows_and_strays& b) {
    const loop_statistics done = run(b);
    EXPECT_EQ(done.in_place, 0u);
    EXPECT_GE(done.executed, n + scouted);
    EXPECT_LE(done.executed, 4 * n);
  }
};

TEST_F(scouts, the_first_loop_is_in_place) { expect_in_place(body()); }
TEST_F(scouts, of_long_loops_only) {
  const rows_and_strays b = body();
  config.scout_from = n + 1;
  EXPECT_EQ(run(b).in_place, 0u);
}
TEST_F(scouts, of_loops_that_may_run_in_place_only) {
  const rows_and_strays b = body();
  config.in_place = false;
  EXPECT_EQ(run(b).in_place, 0u);
  config.in_place = true;
  config.table_slots = 1 << 14;
  EXPECT_EQ(run(b).in_place, 0u) << "marks are hashed";
}
TEST_F(scouts, strays_may_go_to_what_rows_below_have_read) {
  rows_and_strays b = body();
  b.away = -8;
  expect_in_place(b);
  rows_and_strays wide = body(2, 5);  // rows overlap
  wide.away = -8;
  expect_in_place(wide);
  rows_and_strays narrow = body(5, 2);
  narrow.away = -1;
  expect_in_place(narrow);
}
TEST_F(scouts, strays_may_not_go_to_what_rows_above_read) {
  rows_and_strays b = body();
  b.away = 1;
  expect_not_in_place(b);
  rows_and_strays wide = body(2, 5);  // whose row begins with this element; those of the two below have it, too
  wide.away = 1;
  expect_not_in_place(wide);
}
TEST_F(scouts, an_iteration_reads_what_it_has_strayed) {
  rows_and_strays b = body();
  b.away = -8;
  b.reads_own = 1600 + 15;
  expect_in_place(b);
}
/// Iteration 1007 has strayed to element 999, 1023 to 1015.
TEST_F(scouts, other_reads_than_rows_leave_marks) {
  rows_and_strays b = body();
  b.away = -8;
  b.odd = 1500;
  b.odd_read = 999;
  expect_not_in_place(b);
  b.odd = 1010;
  b.odd_read = 1015;
  expect_in_place(b);
}
TEST_F(scouts, what_they_have_not_seen_is_found_out) {
  rows_and_strays b = body();
  b.odd = 1500;
  b.odd_read = b.first + 40;  // which iteration 40 owns
  expect_not_in_place(b);
  b.odd = never;
  b.end = 1500;
  expect_not_in_place(b);
}
TEST_F(scouts, few_iterations_run_in_vain) {
  rows_and_strays b = body();
  config.in_place = false;
  const std::uint64_t without = run(b).executed;
  config.in_place = true;
  b.odd = 0;
  b.odd_read = b.first + 40;  // which iteration 40 owns
  const loop_statistics done = run(b);
  EXPECT_EQ(done.in_place, 0u);
  EXPECT_LT(done.executed, without + scouted + n / 4);
}
TEST_F(scouts, loops_of_several_windows_have_them) {
  config.window = 500;
  expect_in_place(body());
  rows_and_strays b = body();
  b.away = -8;
  expect_in_place(b);
  b.away = 8;
  expect_not_in_place(b);
}
TEST_F(scouts, logs_may_have_no_room_for_them) {
  config.window = 64;
  EXPECT_EQ(run(body()).in_place, 0u);
}
TEST_F(scouts, later_loops_go_by_what_the_first_one_has_found) {
  for (const std::uint32_t odd : {never, 1010u}) {
    rows_and_strays b = body();
    b.away = -8;
    b.odd = odd;
    b.odd_read = 1015;
    auto w = make_loop_workspace<rows_and_strays>(s, tm, n, config);
    for (int loop = 0; loop < 4; ++loop) {
      speculate_async(s, tm, w, n, b);
      const loop_statistics done = w.collect(s, tm);
      b.run(expected);
      EXPECT_EQ(tm.read(s, b.a), expected);
      EXPECT_EQ(done.in_place, n) << loop;
      EXPECT_EQ(done.executed, loop == 0 ? n + scouted : n) << loop;
    }
    b.away = -9;  // strays go elsewhere: rows of reads do not care, marks of readers do
    speculate_async(s, tm, w, n, b);
    EXPECT_EQ(w.collect(s, tm).in_place, odd == never ? n : 0u);
    b.run(expected);
    EXPECT_EQ(tm.read(s, b.a), expected);
  }
}

/// Iteration i stores to element `to[i]`.
struct stores_anywhere {
  array<std::uint32_t> a;
  const std::uint32_t* to;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(it.store(a[to[i]], static_cast<std::uint32_t>(i)));
    return commit;
  }
};
TEST_F(scouts, a_loop_has_one_and_a_workspace_three_at_most) {
  std::vector<std::uint32_t> to(n);
  // not an iteration's alone, nor far from another one's: so probes find out that nothing is to be claimed
  for (std::uint32_t i = 0; i < n; ++i) to[i] = i / 2 * 7919 % (n / 2);
  const stores_anywhere b{tm.allocate<std::uint32_t>(n), to.data()};
  config.scout_from = n - 500;
  auto w = make_loop_workspace<stores_anywhere>(s, tm, n, config);
  const auto extra = [&](std::uint32_t iterations) {
    speculate_async(s, tm, w, iterations, b);
    const loop_statistics done = w.collect(s, tm);
    EXPECT_EQ(done.in_place, 0u);
    return done.executed - iterations;
  };
  EXPECT_EQ(extra(n - 501), 0u);
  EXPECT_EQ(extra(n - 500), scouted);
  EXPECT_EQ(extra(n - 500), 0u);
  EXPECT_EQ(extra(n - 200), scouted);
  EXPECT_EQ(extra(n - 300), 0u);
  EXPECT_EQ(extra(n - 100), scouted);
  EXPECT_EQ(extra(n), 0u);
  const std::vector<std::uint32_t> result = tm.read(s, b.a);
  std::vector<std::uint32_t> last(n);
  for (std::uint32_t i = 0; i < n; ++i) last[to[i]] = i;
  EXPECT_EQ(result, last);
}
TEST_F(scouts, a_workspace_made_for_short_loops_has_none) {
  const rows_and_strays b = body();
  auto w = make_loop_workspace<rows_and_strays>(s, tm, n - 1, config);
  speculate_async(s, tm, w, n, b);
  EXPECT_EQ(w.collect(s, tm).in_place, 0u);
}

/// Iteration i stores to the elements i - 3 of two arrays, if there are any.
struct stores_to_two {
  array<std::uint32_t> a, b;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    if (i < 3) return commit;
    const auto k = static_cast<std::uint32_t>(i - 3);
    GPUTM_TRY(const std::uint32_t v, it.load(a[k]));
    GPUTM_TRY(it.store(a[k], v + 1));
    GPUTM_TRY(it.store(b[k], v + k));
    return commit;
  }
};
TEST_F(scouts, second_loops_have_them_if_they_are_not_short) {
  config.scout_from = 1u << 19;
  for (const std::uint32_t iterations : {32767u, 32768u}) {
    const stores_to_two body{tm.allocate<std::uint32_t>(iterations - 3), tm.allocate<std::uint32_t>(iterations - 3)};
    auto w = make_loop_workspace<stores_to_two>(s, tm, iterations, config);
    for (std::uint32_t loop = 0; loop < 4; ++loop) {
      speculate_async(s, tm, w, iterations, body);
      const loop_statistics done = w.collect(s, tm);
      const bool has_scout = loop == 1 && iterations == 32768;
      EXPECT_EQ(done.in_place, has_scout || loop >= 2 ? iterations : 0) << loop;
      if (loop != 0) {
        EXPECT_EQ(done.executed, iterations + (has_scout ? scouted : 0)) << loop;
      }
    }
    const std::vector<std::uint32_t> result = tm.read(s, body.a);
    EXPECT_EQ(result, std::vector<std::uint32_t>(iterations - 3, 4u));
  }
}
TEST_F(scouts, rows_may_begin_before_their_arrays) {
  const stores_to_two body{tm.allocate<std::uint32_t>(n - 3, 5u), tm.allocate<std::uint32_t>(n - 3)};
  EXPECT_EQ(speculate(s, tm, n, body, config).in_place, n);
  const std::vector<std::uint32_t> first = tm.read(s, body.a), second = tm.read(s, body.b);
  for (std::uint32_t k = 0; k < n - 3; ++k) {
    EXPECT_EQ(first[k], 6u);
    EXPECT_EQ(second[k], 5 + k);
  }
}

}  // namespace
}  // namespace gputm
