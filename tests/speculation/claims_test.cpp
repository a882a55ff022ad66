// Passes in place by claims (claimed_access.hpp): which loops have them, what loops behind them go by, and what becomes
// of those in which two iterations want the same element.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "speculation/fixture.hpp"

namespace gputm {
namespace {

constexpr std::uint32_t n = 3000, never = ~0u;

/// Iteration i stores to the `homes` elements from `at[i]` on, and loads element `at[n + i]`, or the first of its own.
/// One may access a home of another one besides.
struct scattered {
  array<std::uint64_t> a;
  const std::uint32_t* at;
  std::uint32_t homes = 1;
  bool updates = false;
  std::uint32_t reader = never, writer = never, other = 0, home = 0;
  std::uint32_t end = never, twice = never;
  std::uint32_t depends = never;  // one iteration in so many stores to the home of the one `below` it
  std::uint32_t below = 1;
  std::uint32_t greedy = never;        // loads two more that nobody stores to
  std::uint32_t loads = 0;             // so many more of these are loaded by each
  std::uint32_t chain = 0, links = 0;  // so many iterations behind that one load the home of the one before them

  GPUTM_INLINE bool follows(std::uint32_t i) const { return depends != never && i % depends == 1 && i >= below; }
  GPUTM_INLINE bool is_link(std::uint32_t i) const { return i > chain && i - chain <= links; }

  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    GPUTM_TRY(std::uint64_t v, it.load(a[at[updates ? i : n + i]]));
    if (i == reader) {
      GPUTM_TRY(const std::uint64_t more, it.load(a[at[other] + home]));
      v += more;
    }
    if (is_link(i)) {
      GPUTM_TRY(const std::uint64_t before, it.load(a[at[i - 1]]));
      v += before;
    }
    if (i == greedy)
      for (const std::uint32_t k : {n + i - 1, n + i - 2}) {
        GPUTM_TRY(const std::uint64_t more, it.load(a[at[k]]));
        v += more;
      }
    for (std::uint32_t k = 0; k < loads; ++k) {
      GPUTM_TRY(const std::uint64_t more, it.load(a[at[n + (i + k) % n]]));
      v += more;
    }
    for (std::uint32_t k = 0; k < homes; ++k) GPUTM_TRY(it.store(a[at[i] + k], 3 * v + i + k));
    if (i == twice) {
      GPUTM_TRY(const std::uint64_t mine, it.load(a[at[i]]));
      GPUTM_TRY(it.store(a[at[i]], mine + 5));
    }
    if (i == writer) GPUTM_TRY(it.store(a[at[other] + home], v));
    if (follows(i)) GPUTM_TRY(it.store(a[at[i - below]], v + 9));
    if (i == end) it.break_loop();
    return commit;
  }
  std::uint32_t run(std::vector<std::uint64_t>& x) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint64_t v = x[at[updates ? i : n + i]];
      if (i == reader) v += x[at[other] + home];
      if (is_link(i)) v += x[at[i - 1]];
      for (std::uint32_t k = 0; k < loads; ++k) v += x[at[n + (i + k) % n]];
      if (i == greedy) v += x[at[n + i - 1]] + x[at[n + i - 2]];
      for (std::uint32_t k = 0; k < homes; ++k) x[at[i] + k] = 3 * v + i + k;
      if (i == twice) x[at[i]] += 5;
      if (i == writer) x[at[other] + home] = v;
      if (follows(i)) x[at[i - below]] = v + 9;
      if (i == end) return i + 1;
    }
    return n;
  }
};

class claims : public testing::Test {
 protected:
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  loop_config config = {.capacity = {.reads = 4, .writes = 2}, .blocks = 2, .threads = 32};
  std::vector<std::uint64_t> expected;
  std::vector<std::uint32_t> at = std::vector<std::uint32_t>(2 * n);

  claims() { config.scout_from = n; }
  /// Iterations of so many homes, each of which are neighbours, one iteration's here, the other's there.
  scattered body(std::uint32_t homes = 1) {
    scattered b{tm.allocate<std::uint64_t>(2 * n * homes), at.data(), homes};
    expected.resize(2 * n * homes);
    std::iota(expected.begin(), expected.end(), 1u);
    tm.write(s, b.a, expected);
    shuffle(homes, 7919);
    return b;
  }
  void shuffle(std::uint32_t homes, std::uint32_t factor) {
    for (std::uint32_t k = 0; k < 2 * n; ++k) at[k] = k * factor % (2 * n) * homes;
  }
  loop_statistics run(loop_workspace<speculation::gpu_tls>& w, const scattered& b) {
    speculate_async(s, tm, w, n, b);
    const loop_statistics done = w.collect(s, tm);
    EXPECT_EQ(done.iterations, b.run(expected));
    EXPECT_EQ(tm.read(s, b.a), expected);
    return done;
  }
  void expect_in_place(loop_workspace<speculation::gpu_tls>& w, const scattered& b, std::uint64_t more = 0) {
    const loop_statistics done = run(w, b);
    EXPECT_EQ(done.in_place, n);
    EXPECT_EQ(done.executed, n + more);
    EXPECT_EQ(done.rounds, 1u);
  }
  auto workspace() { return make_loop_workspace<scattered>(s, tm, n, config); }
  void expect_first_in_place(const scattered& b) {
    auto w = workspace();
    expect_in_place(w, b, scouted);
  }
  void expect_first_postponed(const scattered& b) {
    auto w = workspace();
    const loop_statistics done = run(w, b);
    EXPECT_EQ(done.in_place, n);
    EXPECT_GT(done.executed, n + scouted);
    EXPECT_EQ(done.rounds, 1u);
  }
  void expect_first_not_in_place(const scattered& b) {
    auto w = workspace();
    EXPECT_EQ(run(w, b).in_place, 0u);
  }
};

TEST_F(claims, the_first_loop_is_in_place) {
  scattered b = body();
  expect_first_in_place(b);
  b.twice = 1000;
  expect_first_in_place(b);
}
TEST_F(claims, iterations_may_load_what_they_store_to) {
  scattered b = body();
  b.updates = true;
  expect_first_in_place(b);
  b.twice = 1000;
  expect_first_in_place(b);
}
TEST_F(claims, of_single_loops_too) {
  const scattered b = body();
  EXPECT_EQ(speculate(s, tm, n, b, config).in_place, n);
}
TEST_F(claims, who_wants_what_another_iteration_has_is_postponed) {
  for (const bool updates : {false, true})
    for (const std::uint32_t other : {40u, 2500u}) {
      scattered b = body();
      b.updates = updates;
      b.other = other;
      b.reader = 1500;
      expect_first_postponed(b);
      std::swap(b.reader, b.writer);
      expect_first_postponed(b);
    }
}
TEST_F(claims, what_is_postponed_runs_in_order) {
  scattered b = body();
  b.chain = 700;
  for (const std::uint32_t links : {1u, 2u, 30u}) {
    b.links = links;
    expect_first_postponed(b);
  }
}
TEST_F(claims, what_is_postponed_may_need_more_rounds_than_there_are_tags) {
  scattered b = body();
  b.chain = 700;
  b.links = 30;
  config.tags = 16;
  expect_first_not_in_place(b);
  b.links = 3;
  expect_first_postponed(b);
}
TEST_F(claims, few_are_postponed) {
  scattered b = body();
  b.below = 1000;
  b.depends = 100;
  expect_first_postponed(b);
  b.depends = 5;
  expect_first_not_in_place(b);
}
TEST_F(claims, without_a_log_of_all_reads_nobody_is_postponed) {
  scattered b = body();
  b.other = 40;
  b.writer = 1500;
  config.capacity.reads = 1;
  expect_first_postponed(b);
  b.greedy = 2000;  // a word has room for two
  expect_first_not_in_place(b);
}
TEST_F(claims, an_end_is_found_out) {
  scattered b = body();
  b.end = 1500;
  expect_first_not_in_place(b);
}
TEST_F(claims, few_iterations_run_in_vain) {
  scattered b = body();
  config.in_place = false;
  auto plain = workspace();
  b.below = 20;
  b.depends = 2;
  const std::uint64_t without = run(plain, b).executed;
  config.in_place = true;
  auto w = workspace();
  const loop_statistics done = run(w, b);
  EXPECT_EQ(done.in_place, 0u);
  EXPECT_LT(done.executed, without + scouted + n / 4);
}
TEST_F(claims, nothing_is_claimed_where_probes_find_dependences) {
  scattered b = body();
  b.depends = 16;
  config.in_place = false;
  auto plain = workspace();
  const std::uint64_t without = run(plain, b).executed;
  config.in_place = true;
  auto w = workspace();
  EXPECT_EQ(run(w, b).executed, without + scouted);
}
TEST_F(claims, nothing_is_claimed_where_probes_find_some_far_apart) {
  scattered b = body();
  b.depends = 100;
  b.below = 340;
  expect_first_not_in_place(b);  // probes run iterations 1501 and 1161
  b.below = 400;
  expect_first_postponed(b);  // they do not run 1101
}
TEST_F(claims, iterations_of_many_loads_claim_nothing) {
  scattered b = body();
  config.capacity.reads = 200;
  b.loads = 127;
  expect_first_in_place(b);
  b.loads = 128;
  expect_first_not_in_place(b);
}
TEST_F(claims, later_loops_have_lists) {
  const scattered b = body();
  auto w = workspace();
  expect_in_place(w, b, scouted);
  for (int loop = 0; loop < 3; ++loop) expect_in_place(w, b);
}
TEST_F(claims, lists_that_claims_have_left_end_with_the_tags) {
  config.tags = 20;
  scattered b = body();
  auto w = workspace();
  for (int loop = 0; loop < 8; ++loop) EXPECT_EQ(run(w, b).in_place, n);
  b.end = 0;
  for (int loop = 0; loop < 3; ++loop) EXPECT_EQ(run(w, b).in_place, 0u) << "there are none left, then no lists";
  b.end = never;
  EXPECT_EQ(run(w, b).in_place, 0u) << "it learns";
  expect_in_place(w, b);
}
TEST_F(claims, lists_end_where_claims_do) {
  config.first_window = n;
  scattered b = body(2);
  auto w = workspace();
  speculate_async(s, tm, w, n - 1, b);  // too short for a scout: logs of windows have both homes
  w.collect(s, tm);
  expected = tm.read(s, b.a);
  b.homes = 1;
  b.writer = 7;
  b.other = 9;
  b.home = 1;
  expect_in_place(w, b, scouted);
  expect_in_place(w, b);
  b.reader = 9;
  EXPECT_EQ(run(w, b).in_place, 0u) << "iteration 9 takes the home that it once had for its own";
}
TEST_F(claims, where_addresses_change_they_are_claimed_again) {
  const scattered b = body();
  auto w = workspace();
  expect_in_place(w, b, scouted);
  expect_in_place(w, b);
  shuffle(1, 6133);
  EXPECT_EQ(run(w, b).in_place, 0u) << "lists are those of other addresses";
  for (const std::uint32_t factor : {6133u, 6133u, 7027u, 4999u}) {
    shuffle(1, factor);
    expect_in_place(w, b);
  }
}
TEST_F(claims, a_loop_that_depends_comes_to_its_windows) {
  scattered b = body();
  auto w = workspace();
  expect_in_place(w, b, scouted);
  b.other = 40;
  b.reader = 1500;
  for (int loop = 0; loop < 8; ++loop) EXPECT_EQ(run(w, b).iterations, n);
  b.reader = never;
  for (int loop = 0; loop < 8; ++loop) EXPECT_EQ(run(w, b).iterations, n);
}
TEST_F(claims, later_loops_learn_lists_where_some_were_postponed) {
  scattered b = body();
  b.other = 40;
  b.writer = 1500;
  auto w = workspace();
  EXPECT_EQ(run(w, b).in_place, n);
  EXPECT_EQ(run(w, b).in_place, 0u) << "it learns";
  expect_in_place(w, b);
}
TEST_F(claims, where_lists_do_not_do_some_are_postponed_again) {
  scattered b = body();
  b.other = 40;
  b.reader = 1500;
  auto w = workspace();
  EXPECT_EQ(run(w, b).in_place, n);
  EXPECT_EQ(run(w, b).in_place, 0u) << "it is to learn, and cannot: iteration 1500 has to read what 40 stores";
  for (int loop = 0; loop < 3; ++loop) EXPECT_EQ(run(w, b).in_place, n);
}
TEST_F(claims, loops_of_several_windows_claim_each_time) {
  const scattered b = body();
  config.window = 500;
  auto w = workspace();
  expect_in_place(w, b, scouted);
  for (const std::uint32_t factor : {7919u, 6133u, 7027u}) {
    shuffle(1, factor);
    expect_in_place(w, b);
  }
}
TEST_F(claims, and_postpone_each_time) {
  scattered b = body();
  b.other = 40;
  b.reader = 1500;
  config.window = 500;
  auto w = workspace();
  for (int loop = 0; loop < 3; ++loop) EXPECT_EQ(run(w, b).in_place, n);
}
TEST_F(claims, of_many_elements) {
  config.capacity.writes = 40;
  const scattered b = body(40);
  auto w = workspace();
  expect_in_place(w, b, scouted);
  expect_in_place(w, b);
}
TEST_F(claims, need_room_for_their_keys) {
  const scattered b = body();
  config.window = 500;
  config.log_bytes = n * 8 * (1 + 2);  // of statuses and values
  expect_first_not_in_place(b);
  config.log_bytes = n * 8 * (1 + 2 * 2);
  expect_first_in_place(b);
}

}  // namespace
}  // namespace gputm
