// Loops in place (in_place_pass.hpp): which loops run so, and what becomes of them.
#include <gtest/gtest.h>

#include "speculation/fixture.hpp"

namespace gputm {
namespace {

template <class Word, unsigned N>
struct words {
  Word w[N];
};
/// Iteration i adds to its own elements; one may end the loop.
template <class T>
struct adds_to_its_own {
  array<T> a;
  std::uint32_t end;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(2 * i);
    for (std::uint32_t j = k; j < k + 2; ++j) {
      GPUTM_TRY(T v, it.load(a[j]));
      for (auto& word : v.w) word = static_cast<std::decay_t<decltype(word)>>(word + j);
      GPUTM_TRY(it.store(a[j], v));
    }
    if (static_cast<std::uint32_t>(i) == end) it.break_loop();
    return commit;
  }
};
/// How many iterations of the last of some loops were in place. One more loop ends early, so that it cannot be.
/// `planned`: iterations that their workspace has been made for; 0: as many.
template <class Word, unsigned N>
std::uint64_t last_in_place(const loop_config& c, std::uint32_t n, std::uint32_t planned = 0) {
  using element_type = words<Word, N>;
  constexpr std::uint32_t loops = 4;
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  adds_to_its_own<element_type> body{tm.allocate<element_type>(2 * n), n};
  auto w = make_loop_workspace<adds_to_its_own<element_type>>(s, tm, planned != 0 ? planned : n, c);
  std::uint64_t in_place = 0;
  for (std::uint32_t k = 0; k <= loops; ++k) {
    if (k == loops) body.end = n / 2;
    speculate_async(s, tm, w, static_cast<int>(n), body);
    const loop_statistics done = w.collect(s, tm);
    EXPECT_EQ(done.iterations, k == loops ? n / 2 + 1 : n);
    if (k < loops)
      in_place = done.in_place;
    else
      EXPECT_EQ(done.in_place, 0u);
  }
  const std::vector<element_type> result = tm.read(s, body.a);
  for (std::uint32_t j = 0; j < 2 * n; ++j)
    for (const Word word : result[j].w) EXPECT_EQ(word, static_cast<Word>((loops + (j / 2 <= n / 2)) * j));
  return in_place;
}

/// Iteration i stores to element n + i, its own, and one in 16 of those from `astray` on to what iteration i - 8 has
/// read, or, if `to` is n, owns.
struct strays_and_may_stop {
  array<std::uint64_t> a;
  std::uint32_t n, astray;
  const std::uint32_t* stops_at;  ///< where this stops the launch
  std::uint32_t to = 0;

  GPUTM_INLINE bool strays(std::uint32_t i) const { return i >= astray && i % 16 == 15; }
  template <Transaction It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    GPUTM_TRY(const std::uint64_t v, it.load(a[i]));
    GPUTM_TRY(it.store(a[n + i], v + i));
    if (strays(i)) GPUTM_TRY(it.store(a[to + i - 8], 3 * v));
    simt::check(i != *stops_at, "as it should");
    return commit;
  }
  void run(std::vector<std::uint64_t>& x) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      x[n + i] = x[i] + i;
      if (strays(i)) x[to + i - 8] = 3 * x[i];
    }
  }
};
TEST(in_place, a_pass_in_place_that_nobody_ends_is_forgotten) {
  constexpr std::uint32_t n = 300, never = ~0u;
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  std::uint32_t stops_at = never;
  strays_and_may_stop body{tm.allocate<std::uint64_t>(2 * n), n, 0, &stops_at};
  auto w = make_loop_workspace<strays_and_may_stop>(s, tm, n, {.capacity = {.reads = 2, .writes = 2}, .threads = 8});
  std::vector<std::uint64_t> expected(2 * n);
  const auto learn = [&] {
    for (std::uint32_t i = 0; i < 2 * n; ++i) expected[i] = i * i;
    tm.write(s, body.a, expected);
    std::uint64_t in_place = 0;
    for (int loop = 0; loop < 4; ++loop) {
      speculate_async(s, tm, w, n, body);
      in_place = w.collect(s, tm).in_place;
      body.run(expected);
      EXPECT_EQ(tm.read(s, body.a), expected);
    }
    return in_place;
  };
  EXPECT_EQ(learn(), n);
  stops_at = n - 2;  // some have strayed before
  EXPECT_THROW(speculate_async(s, tm, w, n, body), schedule_failed);
  conformance::require_throws<error>([&] { w.collect(s, tm); }, {"has not been launched"});
  stops_at = never;
  body.astray = n / 2;  // and do not now
  EXPECT_EQ(learn(), n);
}

/// Iteration `writer` stores to an element, and a later one may stop the launch.
struct stores_once_and_may_stop {
  array<int> a;
  int writer, value;
  bool stops;
  template <Transaction It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    if (i == writer) {
      GPUTM_TRY(it.store(a[0], value));
      GPUTM_TRY([[maybe_unused]] const int other, it.load(a[1]));
    }
    simt::check(!stops || i != 15, "as it should");
    return commit;
  }
};

TEST(in_place, marks_of_a_window_that_nobody_ends_are_forgotten) {
  device on = host_device();
  stream s{on};
  for (const std::uint32_t slots : {0u, 64u}) {
    memory<speculation::gpu_tls> tm{on};
    const auto a = tm.allocate<int>(4);
    loop_config c{.capacity = {.reads = 2, .writes = 2}, .blocks = 1, .threads = 8};
    c.table_slots = slots;
    auto w = make_loop_workspace<stores_once_and_may_stop>(s, tm, 16, c);
    EXPECT_THROW(speculate_async(s, tm, w, 16, stores_once_and_may_stop{a, 3, 111, true}), schedule_failed);
    conformance::require_throws<error>([&] { w.collect(s, tm); }, {"has not been launched"});
    tm.fill(s, a, 0);
    speculate_async(s, tm, w, 16, stores_once_and_may_stop{a, 2, 222, false});
    EXPECT_EQ(w.collect(s, tm).iterations, 16u);
    EXPECT_EQ(tm.read(s, a, 0), 222) << slots << " slots";

    w = make_loop_workspace<stores_once_and_may_stop>(s, tm, 64, c);  // one takes another one's place
    speculate_async(s, tm, w, 64, stores_once_and_may_stop{a, 60, 333, false});
    EXPECT_EQ(w.collect(s, tm).iterations, 64u);
    EXPECT_EQ(tm.read(s, a, 0), 333);
  }
}

TEST(in_place, a_loop_like_those_before_it_is_in_place) {
  loop_config c{.capacity = {.reads = 2, .writes = 2}, .blocks = 2, .threads = 8};
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint64_t, 3>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint32_t, 1>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint32_t, 3>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint16_t, 3>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint8_t, 5>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 1)), 1u);
  EXPECT_EQ((last_in_place<std::uint64_t, 200>(c, 1)), 1u);
  c.table_slots = 1 << 12;
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 500)), 0u) << "marks are hashed";
  c.table_slots = 0;
  c.in_place = false;
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 500)), 0u);
}
TEST(in_place, loops_of_several_windows_are) {
  loop_config c{.capacity = {.reads = 2, .writes = 2}, .blocks = 2, .threads = 8, .window = 100};
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint64_t, 3>(c, 500)), 500u);
  EXPECT_EQ((last_in_place<std::uint8_t, 5>(c, 450)), 450u);
  c.log_bytes = 500 * 3 * sizeof(std::uint64_t);  // a status and two values for each iteration
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 500)), 500u);
  --c.log_bytes;
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 500)), 0u) << "what is saved has no room";
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 100)), 100u) << "this is one window";
}
TEST(in_place, a_small_last_window_tells_nothing) {
  const loop_config c{.capacity = {.reads = 2, .writes = 2}, .blocks = 2, .threads = 8, .window = 100};
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 425)), 425u);
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 424)), 0u);
}
TEST(in_place, loops_longer_than_planned_are_if_there_is_room) {
  loop_config c{.capacity = {.reads = 2, .writes = 2}, .blocks = 2, .threads = 8, .window = 100};
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 600, 600)), 600u);
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 300, 600)), 300u);
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 50, 600)), 50u);
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 600, 599)), 0u);
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 600, 100)), 0u);
  EXPECT_EQ((last_in_place<std::uint64_t, 1>(c, 100, 50)), 0u) << "windows have 50 iterations";
}
TEST(in_place, loops_of_more_iterations_than_a_host_has_threads_are) {
  constexpr std::uint32_t n = 100'000;  // an iteration or two each would be more stacks than there can be
  EXPECT_EQ((last_in_place<std::uint32_t, 1>({.capacity = {.reads = 2, .writes = 2}}, n)), n);
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  adds_to_its_own<words<std::uint32_t, 1>> body{tm.allocate<words<std::uint32_t, 1>>(2 * n), n};
  const auto first = speculate(s, tm, n, body, {.capacity = {.reads = 2, .writes = 2}, .scout_from = n});
  EXPECT_EQ(first.in_place, n);
  EXPECT_EQ(tm.read(s, body.a, 2 * n - 1).w[0], 2 * n - 1);
}
/// A loop of several windows learns from its last one, and not where strays of others to what nobody owns have gone.
TEST(in_place, loops_of_several_windows_may_stray_to_what_iterations_own) {
  constexpr std::uint32_t n = 300;
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  const std::uint32_t never = ~0u;
  for (const std::uint32_t to : {0u, n}) {
    strays_and_may_stop body{tm.allocate<std::uint64_t>(2 * n), n, 0, &never, to};
    auto w = make_loop_workspace<strays_and_may_stop>(
        s, tm, n, {.capacity = {.reads = 2, .writes = 2}, .threads = 8, .window = 100});
    std::vector<std::uint64_t> expected(2 * n, 1);
    tm.write(s, body.a, expected);
    for (std::uint32_t loop = 0; loop < 6; ++loop) {
      body.astray = to == 0 && loop >= 2 && loop < 5 ? n : 0;
      speculate_async(s, tm, w, n, body);
      const loop_statistics done = w.collect(s, tm);
      body.run(expected);
      EXPECT_EQ(tm.read(s, body.a), expected) << "to " << to << ", loop " << loop;
      const bool is_known = to == 0 ? loop == 3 || loop == 4 : loop >= 2;
      EXPECT_EQ(done.in_place, is_known ? n : 0) << "to " << to << ", loop " << loop;
      if (!is_known && loop == 5) {
        EXPECT_GE(done.executed, 2 * n) << "it has been tried";
      }
    }
  }
}

/// Iteration i adds what it reads to an element that is anywhere; in a loop with `shared`, one in 32 stores to what
/// another one has stored to as well.
struct adds_anywhere {
  array<std::uint64_t> a;
  std::uint32_t n, factor;  ///< n is a prime
  bool shared;

  GPUTM_FN std::uint32_t place(std::uint32_t i) const {
    return n + static_cast<std::uint32_t>(std::uint64_t{factor} * i % n);
  }
  template <Transaction It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    GPUTM_TRY(const std::uint64_t x, it.load(a[i]));
    GPUTM_TRY(const std::uint64_t y, it.load(a[place(i)]));
    GPUTM_TRY(it.store(a[place(i)], 3 * y + x + i));
    if (shared && i % 32 == 31) GPUTM_TRY(it.store(a[place(i - 7)], 5 * x + i));
    return commit;
  }
  void run(std::vector<std::uint64_t>& x) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      x[place(i)] = 3 * x[place(i)] + x[i] + i;
      if (shared && i % 32 == 31) x[place(i - 7)] = 5 * x[i] + i;
    }
  }
};
/// Iteration i stores to so many elements, which are no row.
struct stores_many {
  array<std::uint64_t> a;
  std::uint32_t stores;
  std::uint64_t value = 0;
  GPUTM_FN std::uint32_t place(std::uint32_t k) const {
    return static_cast<std::uint32_t>(std::uint64_t{k} * 7 % 2000);
  }
  template <Transaction It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    for (std::uint32_t k = 0; k < stores; ++k)
      GPUTM_TRY(it.store(a[place(static_cast<std::uint32_t>(i) * stores + k)], value));
    return commit;
  }
};
/// Loops of that kind, one after another in a workspace.
struct loops_anywhere : testing::Test {
  static constexpr std::uint32_t n = 499;
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  adds_anywhere body{tm.allocate<std::uint64_t>(2 * n), n, 7, false};
  std::vector<std::uint64_t> expected = std::vector<std::uint64_t>(2 * n, 1);
  std::optional<loop_workspace<speculation::gpu_tls>> w;

  void make(loop_config c) {
    c.capacity = {.reads = 2, .writes = 3};
    c.threads = 8;
    w.emplace(make_loop_workspace<adds_anywhere>(s, tm, n, c));
    tm.write(s, body.a, expected);
  }
  loop_statistics run() {
    speculate_async(s, tm, *w, n, body);
    const loop_statistics done = w->collect(s, tm);
    body.run(expected);
    EXPECT_EQ(tm.read(s, body.a), expected);
    EXPECT_EQ(done.iterations, n);
    return done;
  }
};
TEST_F(loops_anywhere, are_in_place_by_list_from_the_third_one_on) {
  for (const bool shared : {false, true}) {
    body.shared = shared;
    make({});
    EXPECT_EQ(run().in_place, 0u);
    EXPECT_EQ(run().in_place, 0u) << "this one learns";
    for (int k = 0; k < 3; ++k) {
      const loop_statistics done = run();
      EXPECT_EQ(done.in_place, n);
      EXPECT_EQ(done.executed, n);
    }
  }
}
TEST_F(loops_anywhere, that_are_somewhere_else_are_undone_and_learnt_anew_a_few_times) {
  make({});
  int learnt = 0;
  for (body.factor = 2; body.factor < 8; ++body.factor) {
    std::uint64_t in_place = 0;
    for (int k = 0; k < 4; ++k) in_place = run().in_place;
    learnt += in_place == n;
    EXPECT_EQ(in_place, body.factor < 5 ? n : 0) << "factor " << body.factor;
  }
  EXPECT_EQ(learnt, static_cast<int>(parts::in_place_past::most_attempts));
}
TEST_F(loops_anywhere, are_in_place_again_behind_loops_that_have_used_the_logs) {
  make({.tags = 20});  // nine passes, and then marks have to be cleared, which those who run windows do
  std::uint64_t in_place = 0;
  for (int k = 0; k < 60; ++k) {
    const std::uint64_t now = run().in_place;
    if (k >= 40) in_place += now;
  }
  EXPECT_EQ(in_place, 18 * n) << "two of twenty have run windows";
}
TEST_F(loops_anywhere, have_lists_of_the_first_stores_of_an_iteration) {
  constexpr std::uint32_t most = parts::owned_list::most;
  stores_many many{tm.allocate<std::uint64_t>(50 * (most + 8)), most};
  for (; many.stores <= most + 8; many.stores += 8) {
    auto several =
        make_loop_workspace<stores_many>(s, tm, 50, {.capacity = {.reads = 1, .writes = most + 8}, .threads = 8});
    std::uint64_t in_place = 0;
    for (std::uint64_t k = 1; k <= 4; ++k) {
      many.value = k;
      speculate_async(s, tm, several, 50, many);
      in_place = several.collect(s, tm).in_place;
      const std::vector<std::uint64_t> values = tm.read(s, many.a);
      for (std::uint32_t j = 0; j < 50 * many.stores; ++j) EXPECT_EQ(values[many.place(j)], k);
    }
    EXPECT_EQ(in_place, many.stores == most ? 50 : 0) << many.stores << " stores: 8 in 40 are too many strays";
  }
}

}  // namespace
}  // namespace gputm
