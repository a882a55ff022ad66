// Windows of loops: how large they are, what ranges of arrays they log, and when they begin anew.
#include <gtest/gtest.h>

#include <algorithm>

#include "speculation/fixture.hpp"
#include "speculation/turning.hpp"

namespace gputm {
namespace {

constexpr int n = turning::n;

/// Stores to the upper half of an array; reads the lower half at first, and then what it stores to.
struct climbing {
  array<int> a;
  int turn;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const unsigned to = a.size() / 2 + static_cast<unsigned>(i);
    GPUTM_TRY(const int x, it.load(a[i < turn ? static_cast<unsigned>(i) : to]));
    GPUTM_TRY(it.store(a[to], x + 1));
    return gputm::commit;
  }
};
TEST(loops, an_array_that_is_read_where_it_is_stored_to_is_logged_as_a_whole) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto a = tm.allocate<int>(320);  // in ranges of 16
  const loop_config config = {.blocks = 1, .threads = 16, .window = 25, .adapt = false, .in_place = false};
  auto w = make_loop_workspace<climbing>(s, tm, n, config);
  const auto rounds = [&](int turn) {
    speculate_async(s, tm, w, n, climbing{a, turn});
    return w.collect(s, tm).rounds;
  };
  EXPECT_EQ(rounds(n), 4u);
  EXPECT_EQ(rounds(25), 5u);  // the second window begins again, and no other
  EXPECT_EQ(rounds(25), 4u);
  const auto found = tm.read(s, a);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(found[160 + i], i < 25 ? 1 : 3) << i;
}
/// Reads the lower half of an array, and stores to the upper one.
struct one_half_to_the_other {
  array<int> a;
  bool twice;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<unsigned>(i);
    GPUTM_TRY(const int x, it.load(a[k]));
    int y = 0;
    if (twice) {
      GPUTM_TRY(const int z, it.load(a[k / 2]));
      y = z;
    }
    GPUTM_TRY(it.store(a[n + k], x + y + 1));
    return gputm::commit;
  }
};
TEST(loops, an_array_is_not_logged_as_a_whole_for_the_range_in_its_middle) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto a = tm.allocate<int>(320, 1);  // in ranges of 16: the seventh is read at its beginning, and stored to behind
  auto w = make_loop_workspace<one_half_to_the_other>(s, tm, n, {.capacity = {.reads = 1}, .blocks = 2, .threads = 16});
  const auto run = [&](bool twice) {
    speculate_async(s, tm, w, n, one_half_to_the_other{a, twice});
    return w.collect(s, tm);
  };
  (void)run(false);
  for (int turn = 0; turn < 2; ++turn) {
    const loop_statistics known = run(true);  // the log has room for one read
    EXPECT_EQ(known.rounds, 1u);
    EXPECT_EQ(known[violation::capacity], 0u);
  }
  const auto found = tm.read(s, a);
  for (unsigned i = 0; i < n; ++i) EXPECT_EQ(found[n + i], 3) << i;
}
/// Writes a row of numbers; from iteration `from` on each one takes its own from the beginning of the row.
struct late_reader {
  array<int> row;
  int from;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    int v = 0;
    if (i >= from) {
      GPUTM_TRY(v, it.load(row[static_cast<unsigned>(i - from)]));
    }
    GPUTM_TRY(it.store(row[static_cast<unsigned>(i)], v + 1));
    return gputm::commit;
  }
};
TEST(loops, a_window_that_overlaps_commits_begins_anew_if_it_needs_them) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto row = tm.allocate<int>(320);  // in ranges of 16
  const auto run = [&](int from, bool overlap) {
    tm.write(s, row, std::vector<int>(320));
    return speculate(s, tm, n, late_reader{row, from},
                     {.blocks = 1, .threads = 16, .window = 25, .adapt = false, .overlap = overlap});
  };
  for (const bool overlap : {true, false}) {
    const loop_statistics alone = run(n, overlap), late = run(50, overlap);
    EXPECT_EQ(alone.rounds, 4u);
    EXPECT_EQ(alone.re_executed(), 0u);
    EXPECT_EQ(late.rounds, overlap ? 5u : 4u);          // the third window begins again, and the fourth waits
    EXPECT_EQ(late.re_executed(), overlap ? 16u : 0u);  // each thread stops
    const auto found = tm.read(s, row);
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(found[i], i < 50 ? 1 : 2) << i;
  }
}
TEST(loops, windows_of_a_loop_are_equally_large) {
  device on = host_device();
  memory<speculation::gpu_tls> tm{on};
  const auto window = [&](std::uint64_t iterations) {
    return detail::plan_loop({}, speculation::gpu_tls::loop, tm.core(), iterations, 64).limits.window;
  };
  EXPECT_EQ(window(0), 1u);
  EXPECT_EQ(window(16384), 16384u);
  EXPECT_EQ(window(16385), 129u * 64);  // two, each of whole rounds of the grid
  EXPECT_EQ(window(40000), 209u * 64);  // three
}
TEST(loops, a_range_is_a_part_of_one_array) {
  device on = host_device();
  memory<speculation::gpu_tls> tm{on};
  const std::uint32_t lengths[] = {1, 5, 100'000, 64, 70'000};
  for (const std::uint32_t length : lengths) (void)tm.allocate<std::uint8_t>(length);
  const auto ranges = detail::plan_loop({}, speculation::gpu_tls::loop, tm.core(), 1, 64).ranges;
  EXPECT_EQ(ranges.shift, 13u);  // 1 + 2 + 14 + 2 + 10, wherever they begin; half as long they would be 46
  EXPECT_TRUE(ranges.movable);
  for (const std::uint32_t offset : {0u, 1u, 5000u, (1u << 13) - 1}) {
    std::uint32_t seen = 0;
    for (std::uint32_t r = 0; r < std::size(lengths); ++r) {
      std::uint32_t of_this = 0;
      for (std::uint32_t index = 0; index < lengths[r]; ++index) {
        const std::uint32_t range = ranges.of(r, index, offset);
        of_this |= range;
        const auto e = ranges.elements_of(range, offset);
        ASSERT_EQ(e.region, r);
        ASSERT_TRUE(e.begin <= index && index < e.end) << "element " << index << " of array " << r;
      }
      EXPECT_EQ(of_this & seen, 0u) << "array " << r << ", offset " << offset;
      seen |= of_this;
    }
    EXPECT_EQ(seen & ~parts::element_ranges::all, 0u);
  }
}
TEST(loops, a_range_may_begin_at_any_index) {
  parts::element_ranges ranges;
  ranges.shift = 6;
  for (const std::uint32_t index : {0u, 1u, 63u, 64u, 65u, 1000u}) {
    const std::uint32_t offset = ranges.offset_for(index);
    EXPECT_LT(offset, 64u);
    if (index != 0) {
      EXPECT_NE(ranges.of(0, index - 1, offset), ranges.of(0, index, offset));
    }
    EXPECT_EQ(ranges.of(0, index, offset), ranges.of(0, index + 63, offset));
  }
}
TEST(loops, ranges_that_cannot_move_are_short) {
  device on = host_device();
  memory<speculation::gpu_tls> tm{on};
  for (std::uint32_t r = 0; r < max_regions; ++r) (void)tm.allocate<std::uint8_t>(1000);
  const auto ranges = detail::plan_loop({}, speculation::gpu_tls::loop, tm.core(), 1, 64).ranges;
  EXPECT_FALSE(ranges.movable);  // each array would have two at least
  EXPECT_EQ(ranges.shift, 10u);
}
TEST(loops, after_a_calm_one_windows_are_large_from_the_beginning) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto a = tm.allocate<int>(n), b = tm.allocate<int>(n, 1);
  auto w = make_loop_workspace<turning>(s, tm, n, {.blocks = 2, .threads = 16, .first_window = 32});
  const auto rounds = [&](int both) {
    speculate_async(s, tm, w, n, turning{a, b, both});
    return w.collect(s, tm).rounds;
  };
  EXPECT_EQ(rounds(n), 2u);
  EXPECT_EQ(rounds(n), 1u);
  EXPECT_GT(rounds(0), 1u);  // begins again, since it stores to what it has read without a log
  EXPECT_EQ(rounds(n), 2u);
  EXPECT_EQ(rounds(n), 1u);
}
/// Rounds of a first loop of `m` iterations without dependences, in a workspace made for `n`.
template <LoopEngine E>
std::uint64_t rounds_of_first_loop(std::int64_t m, loop_config config) {
  device on = host_device();
  stream s{on};
  memory<E> tm{on};
  auto a = tm.template allocate<int>(n), b = tm.template allocate<int>(n, 1);
  config.blocks = 2;
  config.threads = 16;
  auto w = make_loop_workspace<turning>(s, tm, n, config);
  speculate_async(s, tm, w, m, turning{a, b, n});
  return w.collect(s, tm).rounds;
}
TEST(loops, a_first_window_is_all_of_a_loop_if_one_window_can_be) {
  using speculation::gpu_tls;
  EXPECT_EQ(rounds_of_first_loop<gpu_tls>(n, {}), 1u);
  EXPECT_EQ(rounds_of_first_loop<gpu_tls>(n / 2, {.window = n / 2}), 1u);
  EXPECT_EQ(rounds_of_first_loop<gpu_tls>(n, {.first_window = 32}), 2u);
  // 32 iterations, one for each thread, and then two windows: a loop of several of them finds out first where it stores
  EXPECT_EQ(rounds_of_first_loop<gpu_tls>(n, {.window = n / 2}), 3u);
  EXPECT_EQ(rounds_of_first_loop<gpu_tls>(n, {.window = n / 2, .first_window = n / 2}), 2u);
  // who does not repair runs more of a large window again
  EXPECT_EQ(rounds_of_first_loop<gpu_tls>(n, {.repairs = 0}), 2u);
  EXPECT_EQ(rounds_of_first_loop<speculation::gpu_tls_no_repair>(n, {}), 2u);
}
/// Each iteration adds up a row of elements to which no iteration stores.
struct adds_up_a_row {
  array<int> a, b;
  const int* index;
  std::uint32_t count;
  std::uint32_t* runs;  ///< of each iteration
  struct total {
    int sum = 0;
    GPUTM_FN void add(std::uint32_t, int value) { sum += value; }
    GPUTM_FN void merge(const total& other) { sum += other.sum; }
  };
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    simt::atomic(runs[i]).fetch_add(1, simt::order::relaxed);
    GPUTM_TRY(const total all, it.reduce_each(count, gather(b, index), total{}));
    GPUTM_TRY(it.store(a[static_cast<unsigned>(i)], all.sum));
    return gputm::commit;
  }
};
TEST(loops, where_rows_are_very_long_each_position_of_a_window_has_a_thread) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto a = tm.allocate<int>(n), b = tm.allocate<int>(n, 2);
  const buffer index = conformance::values_on(s, std::vector<int>(20, 7));
  std::vector<std::uint32_t> runs(n);
  const auto rounds = [&](std::uint32_t count, bool adapt) {
    const buffer counted = conformance::values_on(s, std::vector<std::uint32_t>(n));
    const loop_config config{.capacity = {.reads = 20, .writes = 1},
                             .blocks = 1,
                             .threads = 32,
                             .window = 68,
                             .first_window = 32,
                             .adapt = adapt,
                             .in_place = false};
    const adds_up_a_row body{a, b, index.as<int>(), count, counted.as<std::uint32_t>()};
    const std::uint64_t all = speculate(s, tm, n, body, config).rounds;
    on->copy_from_device(s.handle(), runs.data(), counted.as<void>(), n * sizeof runs[0]);
    s.synchronize();
    return all;
  };
  static_assert(n == 100);
  EXPECT_EQ(rounds(7, true), 2u);   // 32 and 68
  EXPECT_EQ(rounds(20, true), 4u);  // 32 each
  // in each window all warps have loaded some rows: who asks for that runs again
  for (int first = 0; first < n; first += 32)
    EXPECT_GT(*std::max_element(runs.begin() + first, runs.begin() + std::min(first + 32, n)), 1u) << first;
  EXPECT_EQ(tm.read(s, a), std::vector<int>(n, 40));
  EXPECT_EQ(rounds(20, false), 2u);
}

}  // namespace
}  // namespace gputm
