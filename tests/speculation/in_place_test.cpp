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

/// Iteration i stores to an element of its own, and one in 16 of those from `astray` on to what iteration i - 8 has
/// read.
struct strays_and_may_stop {
  array<std::uint64_t> a;
  std::uint32_t n, astray;
  const std::uint32_t* stops_at;  ///< where this stops the launch

  GPUTM_INLINE bool strays(std::uint32_t i) const { return i >= astray && i % 16 == 15; }
  template <Transaction It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    GPUTM_TRY(const std::uint64_t v, it.load(a[i]));
    GPUTM_TRY(it.store(a[n + i], v + i));
    if (strays(i)) GPUTM_TRY(it.store(a[i - 8], 3 * v));
    simt::check(i != *stops_at, "as it should");
    return commit;
  }
  void run(std::vector<std::uint64_t>& x) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      x[n + i] = x[i] + i;
      if (strays(i)) x[i - 8] = 3 * x[i];
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
  stops_at = never;
  body.astray = n / 2;  // and do not now
  EXPECT_EQ(learn(), n);
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
TEST(in_place, loops_of_several_windows_that_stray_are_not) {
  constexpr std::uint32_t n = 300;
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  const std::uint32_t never = ~0u;
  strays_and_may_stop body{tm.allocate<std::uint64_t>(2 * n), n, 0, &never};
  auto w = make_loop_workspace<strays_and_may_stop>(
      s, tm, n, {.capacity = {.reads = 2, .writes = 2}, .threads = 8, .window = 100});
  std::vector<std::uint64_t> expected(2 * n, 1);
  tm.write(s, body.a, expected);
  for (std::uint32_t loop = 0; loop < 6; ++loop) {
    body.astray = loop >= 2 && loop < 5 ? n : 0;
    speculate_async(s, tm, w, n, body);
    const loop_statistics done = w.collect(s, tm);
    body.run(expected);
    EXPECT_EQ(tm.read(s, body.a), expected) << "loop " << loop;
    EXPECT_EQ(done.in_place, loop == 3 || loop == 4 ? n : 0) << "loop " << loop;
    if (loop == 5) {
      EXPECT_GE(done.executed, 2 * n) << "it has been tried";
    }
  }
}

}  // namespace
}  // namespace gputm
