// Loops most iterations of which access nothing: what a user sees of it.
#include <gtest/gtest.h>

#include <memory>

#include "speculation/fixture.hpp"

namespace gputm {
namespace {

using speculation::gpu_tls;

/// Iterations with a flag add 1 to the element of their number; one may end the loop, with or without an access, and
/// one may retry without one.
struct flagged {
  array<int> a;
  const bool* flags;
  int last = -1, wrong = -1, retries = -1;
  std::uint32_t* runs = nullptr;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    if (runs != nullptr) simt::atomic(*runs).fetch_add(1, simt::order::relaxed);
    if (i == last) it.break_loop();
    if (i == retries) return gputm::retry;
    if (!flags[i]) return i % 2 == 0 ? gputm::commit : gputm::cancel;
    const unsigned k = i == wrong ? a.size() : static_cast<unsigned>(i);
    GPUTM_TRY(const int x, it.load(a[k]));
    GPUTM_TRY(it.store(a[k], x + 1));
    return gputm::commit;
  }
};
class idle : public testing::Test {
 protected:
  static constexpr int n = 3000;
  device on = host_device();
  stream s{on};
  memory<gpu_tls> tm{on};
  array<int> a = tm.allocate<int>(n);
  bool flags[n] = {};
  loop_config config = {.capacity = {.reads = 1, .writes = 1}, .blocks = 2, .threads = 32, .skip_idle_from = 1};

  flagged body(int last = -1, int wrong = -1) const { return {a, flags, last, wrong}; }
  void flag_every(int k, int from = 0) {
    for (int i = from; i < n; i += k) flags[i] = true;
  }
  void expect_done(int end) {
    const std::vector<int> found = tm.read(s, a);
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(found[static_cast<unsigned>(i)], i < end && flags[i] ? 1 : 0) << "element " << i;
  }
};

TEST_F(idle, each_iteration_is_looked_at_once_and_the_busy_ones_are_run) {
  flag_every(100);
  flagged counting = body();
  std::uint32_t runs = 0;
  counting.runs = &runs;
  const loop_statistics done = speculate(s, tm, n, mostly_idle{counting}, config);
  EXPECT_EQ(done.iterations, 3000u);
  EXPECT_EQ(done.executed, 2999u + 31u);  // the last one counts as busy, and nobody has looked at it
  EXPECT_EQ(done.executed, runs);
  EXPECT_EQ(done.rounds, 1u);
  expect_done(n);
}
TEST_F(idle, a_first_window_may_be_all_of_the_list) {
  flag_every(50);
  config.blocks = 1;
  config.threads = 8;
  config.window = 100;
  EXPECT_EQ(speculate(s, tm, n, mostly_idle{body()}, config).rounds, 1u);
  expect_done(n);
}
TEST_F(idle, lists_are_made_under_exploration) {
  static constexpr int many = 1 << 18;  // from where on lists are made unless told otherwise
  host::config c;
  c.schedule = host::scheduler::random;
  const device explored = host_device(c);
  stream on_explored{explored};
  memory<gpu_tls> there{explored};
  const auto b = there.allocate<int>(many);
  const auto all = std::make_unique<bool[]>(many);
  all[5] = all[many / 2] = true;
  const loop_config few = {.capacity = {.reads = 1, .writes = 1}, .blocks = 1, .threads = 1};
  EXPECT_EQ(speculate(on_explored, there, many, mostly_idle{flagged{b, all.get()}}, few).executed, many + 2u);
  EXPECT_EQ(there.read(on_explored, b, many / 2), 1);
}
TEST_F(idle, the_last_of_all_may_be_the_only_one) {
  EXPECT_EQ(speculate(s, tm, n, mostly_idle{body()}, config).iterations, 3000u);
  expect_done(n);
  flags[n - 1] = true;
  EXPECT_EQ(speculate(s, tm, n, mostly_idle{body()}, config).iterations, 3000u);
  expect_done(n);
}
TEST_F(idle, all_may_be_busy) {
  flag_every(1);
  EXPECT_EQ(speculate(s, tm, n, mostly_idle{body()}, config).iterations, 3000u);
  expect_done(n);
}
TEST_F(idle, loops_may_be_of_any_length) {
  for (const int length : {0, 1, 2, 31, 32, 33, 255, 256, 257, 2999}) {
    flag_every(3);
    tm.write(s, a, std::vector<int>(n));
    EXPECT_EQ(speculate(s, tm, length, mostly_idle{body()}, config).iterations, static_cast<unsigned>(length));
    expect_done(length);
  }
}
TEST_F(idle, a_busy_iteration_ends_the_loop) {
  flag_every(50);
  EXPECT_EQ(speculate(s, tm, n, mostly_idle{body(1000)}, config).iterations, 1001u);
  expect_done(1001);
}
TEST_F(idle, an_idle_iteration_ends_the_loop) {
  flag_every(50);
  EXPECT_EQ(speculate(s, tm, n, mostly_idle{body(1001)}, config).iterations, 1002u);
  expect_done(1002);
  tm.write(s, a, std::vector<int>(n));
  EXPECT_EQ(speculate(s, tm, n, mostly_idle{body(n - 1)}, config).iterations, 3000u);
  expect_done(n);
}
TEST_F(idle, errors_tell_the_iteration_of_the_users_loop) {
  flag_every(50);
  for (const std::uint32_t window : {0u, 1u, 7u})
    for (const bool adapt : {false, true}) {
      tm.write(s, a, std::vector<int>(n));
      config.window = window;
      config.adapt = adapt;
      try {
        speculate(s, tm, n, mostly_idle{body(-1, 2050)}, config);
        FAIL() << "an index out of range is an error";
      } catch (const index_out_of_range& e) {
        EXPECT_EQ(e.iteration(), 2050u) << "windows of " << window;
      }
      expect_done(2050);
    }
}
TEST_F(idle, a_retry_without_an_access_is_an_error_too) {
  flag_every(50);
  flagged retrying = body();
  retrying.retries = 77;
  try {
    speculate(s, tm, n, mostly_idle{retrying}, config);
    FAIL() << "loops know no retry";
  } catch (const no_progress& e) {
    EXPECT_EQ(e.iteration(), 77u);
  }
  expect_done(77);
}
/// Members of these names are the body's own.
struct with_names {
  array<int> a;
  std::uint64_t iteration(std::uint64_t k) const { return 1000 * k; }
  int limits() const { return 1; }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(it.store(a[i == 7 ? static_cast<int>(a.size()) : i], 1));
    return gputm::commit;
  }
};
TEST_F(idle, names_of_a_body_are_its_own) {
  try {
    speculate(s, tm, n, with_names{a}, config);
    FAIL() << "an index out of range is an error";
  } catch (const index_out_of_range& e) {
    EXPECT_EQ(e.iteration(), 7u);
  }
  const with_names body{a};
  EXPECT_EQ(body.iteration(7) + static_cast<unsigned>(body.limits()), 7001u);
}
TEST_F(idle, workspaces_are_used_again) {
  flag_every(70, 5);
  auto w = make_loop_workspace<mostly_idle<flagged>>(s, tm, n, config);
  const auto run = [&](int length, const auto& loop) {
    tm.write(s, a, std::vector<int>(n));
    speculate_async(s, tm, w, length, loop);
    EXPECT_EQ(w.collect(s, tm).iterations, static_cast<unsigned>(length));
    expect_done(length);
  };
  run(n, mostly_idle{body()});
  run(100, mostly_idle{body()});
  run(2000, body());  // as any other
  flag_every(30);
  run(n, mostly_idle{body()});
}
TEST_F(idle, a_workspace_is_made_for_the_longest_loop_and_refuses_others_before_it_forgets_anything) {
  flag_every(50);
  auto w = make_loop_workspace<mostly_idle<flagged>>(s, tm, 1000, config);
  speculate_async(s, tm, w, 1000, mostly_idle{body(-1, 500)});
  try {
    speculate_async(s, tm, w, 1001, mostly_idle{body()});
    FAIL() << "there is no memory for the list";
  } catch (const invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("a loop of 1001 iterations, mostly idle, in a workspace made for 1000"),
              std::string::npos)
        << e.what();
  }
  EXPECT_THROW(w.collect(s, tm), index_out_of_range);
  expect_done(500);
}
TEST_F(idle, short_loops_run_as_any_other) {
  flag_every(100);
  config.skip_idle_from = n + 1;
  const loop_statistics done = speculate(s, tm, n, mostly_idle{body()}, config);
  EXPECT_EQ(done.iterations, 3000u);
  EXPECT_EQ(done.executed, 3000u);
  expect_done(n);
}

template <class E>
using idle_loops = loop_fixture<E>;
TYPED_TEST_SUITE(idle_loops, loop_engines);
TYPED_TEST(idle_loops, run_on_all_engines) {
  static constexpr int n = 500;
  bool flags[n] = {};
  for (int i = 3; i < n; i += 40) flags[i] = true;
  auto a = this->tm.template allocate<int>(n);
  this->config.skip_idle_from = 1;
  const auto done = speculate(this->s, this->tm, n, mostly_idle{flagged{a, flags}}, this->config);
  EXPECT_EQ(done.iterations, 500u);
  const std::vector<int> found = this->tm.read(this->s, a);
  for (int i = 0; i < n; ++i) EXPECT_EQ(found[static_cast<unsigned>(i)], flags[i] ? 1 : 0) << i;
}

}  // namespace
}  // namespace gputm
