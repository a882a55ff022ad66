// What speculate() accepts, refuses and reports, under every engine.
#include <gtest/gtest.h>

#include "speculation/fixture.hpp"
#include "speculation/turning.hpp"

namespace gputm {
namespace {

using conformance::require_throws;

template <class E>
using loop_interface = loop_fixture<E>;
TYPED_TEST_SUITE(loop_interface, loop_engines);

/// a[i] = i, and at iteration `bad` what the test is about.
enum class trouble { none, index, reads, writes, retry, conflict, runaway, endless, other_memory, cancels, breaks };
struct troubled {
  array<int> a, other;
  int bad;
  trouble what;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(it.store(a[static_cast<unsigned>(i)], i));
    if (i != bad) return gputm::commit;
    switch (what) {
      case trouble::index: GPUTM_TRY(it.store(a[a.size() + 3], 1)); break;
      case trouble::reads:
        for (unsigned k = 0; k < 9; ++k) {
          GPUTM_TRY(const int v, it.load(a[200 + k]));
          if (v == 12345) return gputm::cancel;
        }
        break;
      case trouble::writes:
        for (unsigned k = 0; k < 6; ++k) GPUTM_TRY(it.store(a[200 + k], 1));
        break;
      case trouble::retry: return gputm::retry;
      case trouble::conflict: return outcome::conflict;
      case trouble::runaway:
        for (unsigned k = 0; k < 1000; ++k) GPUTM_TRY(it.store(a[200], 1));
        break;
      case trouble::endless:
        for (;;) GPUTM_TRY(it.store(a[200], 1));
      case trouble::other_memory: {
        GPUTM_TRY(const int v, it.load(other[0]));
        if (v == 1) return gputm::cancel;
        break;
      }
      case trouble::cancels: return gputm::cancel;
      case trouble::breaks: it.break_loop(); break;
      default: break;
    }
    return gputm::commit;
  }
};
constexpr int n = turning::n, bad = 57;

/// Iterations below `bad` have taken effect, it and those above have not.
template <class Fixture, class Error>
void fails_cleanly(Fixture& f, stream& s, auto& tm, loop_config config, trouble what,
                   std::initializer_list<std::string> parts) {
  static_cast<void>(f);
  auto a = tm.template allocate<int>(300, -1, "numbers");
  const auto fail = [&] {
    try {
      speculate(s, tm, n, troubled{a, {}, bad, what}, config);
    } catch (const error& e) {
      EXPECT_EQ(e.iteration(), static_cast<unsigned>(bad));
      throw;
    }
  };
  require_throws<Error>(fail, parts);
  const auto values = tm.read(s, a);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(values[static_cast<unsigned>(i)], i < bad ? i : -1) << "element " << i;
}

TYPED_TEST(loop_interface, an_index_out_of_range) {
  fails_cleanly<decltype(*this), index_out_of_range>(*this, this->s, this->tm, this->config, trouble::index,
                                                     {"index 303", "'numbers'", "300", "iteration 57"});
}
TYPED_TEST(loop_interface, more_writes_than_capacity) {
  fails_cleanly<decltype(*this), capacity_exceeded>(*this, this->s, this->tm, this->config, trouble::writes,
                                                    {"write", "'numbers'", "capacity is 4", "iteration 57"});
}
TYPED_TEST(loop_interface, a_retry) {
  fails_cleanly<decltype(*this), no_progress>(*this, this->s, this->tm, this->config, trouble::retry,
                                              {"retry", "iteration 57"});
}
TYPED_TEST(loop_interface, a_conflict_of_the_body_itself) {
  fails_cleanly<decltype(*this), no_progress>(*this, this->s, this->tm, this->config, trouble::conflict,
                                              {"conflict", "iteration 57"});
}
TYPED_TEST(loop_interface, a_runaway) {
  this->config.longest_iteration = 500;
  fails_cleanly<decltype(*this), no_progress>(*this, this->s, this->tm, this->config, trouble::runaway,
                                              {"more than 500 loads and stores", "iteration 57", "longest_iteration"});
  fails_cleanly<decltype(*this), no_progress>(*this, this->s, this->tm, this->config, trouble::endless,
                                              {"500 loads and stores", "iteration 57"});
}
TYPED_TEST(loop_interface, an_array_of_another_memory) {
  memory<TypeParam> second{this->on};
  auto a = this->tm.template allocate<int>(300, -1);
  auto other = second.template allocate<int>(1);
  require_throws<invalid_argument>(
      [&] {
        speculate(this->s, this->tm, n, troubled{a, other, bad, trouble::other_memory}, this->config);
      },
      {"iteration 57", "another memory"});
}
TYPED_TEST(loop_interface, more_reads_than_capacity_only_cost_time) {
  for (const std::uint32_t stretch : {0u, 16u}) {
    this->config.stretch = stretch;
    auto a = this->tm.template allocate<int>(300, -1);
    const auto stats = speculate(this->s, this->tm, n, troubled{a, {}, bad, trouble::reads}, this->config);
    EXPECT_EQ(stats.iterations, 100u);
    const auto values = this->tm.read(this->s, a);
    for (int i = 0; i < n; ++i) EXPECT_EQ(values[static_cast<unsigned>(i)], i);
  }
}
TYPED_TEST(loop_interface, a_cancelled_iteration_changes_nothing) {
  auto a = this->tm.template allocate<int>(300, -1);
  const auto stats = speculate(this->s, this->tm, n, troubled{a, {}, bad, trouble::cancels}, this->config);
  EXPECT_EQ(stats.iterations, 100u);
  const auto values = this->tm.read(this->s, a);
  for (int i = 0; i < n; ++i) EXPECT_EQ(values[static_cast<unsigned>(i)], i == bad ? -1 : i);
}
TYPED_TEST(loop_interface, a_break_ends_the_loop) {
  auto a = this->tm.template allocate<int>(300, -1);
  const auto stats = speculate(this->s, this->tm, n, troubled{a, {}, bad, trouble::breaks}, this->config);
  EXPECT_EQ(stats.iterations, 58u);
  const auto values = this->tm.read(this->s, a);
  for (int i = 0; i < n; ++i) EXPECT_EQ(values[static_cast<unsigned>(i)], i <= bad ? i : -1);
}
TYPED_TEST(loop_interface, no_iterations_and_too_many) {
  auto a = this->tm.template allocate<int>(4);
  const troubled body{a, {}, -1, trouble::none};
  EXPECT_EQ(speculate(this->s, this->tm, 0, body).iterations, 0u);
  require_throws<invalid_argument>([&] { speculate(this->s, this->tm, -1, body); }, {"-1 iterations"});
  require_throws<invalid_argument>([&] { speculate(this->s, this->tm, std::int64_t{1} << 31, body); },
                                   {"2147483648", "2^31 - 1"});
}
TYPED_TEST(loop_interface, impossible_configurations) {
  auto a = this->tm.template allocate<int>(4);
  const auto run = [&](const loop_config& c) {
    speculate(this->s, this->tm, 4, troubled{a, {}, -1, trouble::none}, c);
  };
  if (TypeParam::loop.table) {
    require_throws<invalid_argument>([&] { run({.table_slots = 3}); }, {"3 slots", "power of two"});
    require_throws<invalid_argument>([&] { run({.window = 1u << 24}); }, {"16777216", "limit"});
  }
  require_throws<invalid_argument>([&] { run({.capacity = {.reads = 1u << 23}}); }, {"8388608", "limit"});
  require_throws<invalid_argument>([&] { run({.smallest_window = 0}); }, {"smallest_window"});
  require_throws<invalid_argument>([&] { run({.longest_iteration = 0}); }, {"longest_iteration is 0"});
  require_throws<invalid_argument>([&] { run({.tags = 2}); }, {"tags is 2"});
  require_throws<invalid_argument>([&] { run({.repairs = 1u << 19}); }, {"repairs is 524288", "524287"});
  require_throws<invalid_argument>([&] { run({.threads = TypeParam::loop.one_thread ? 0 : 2048u, .tags = 2}); }, {});
}
TYPED_TEST(loop_interface, a_log_that_cannot_be) {
  struct large {
    double values[1024];
  };
  [[maybe_unused]] auto a = this->tm.template allocate<large>(1);
  auto b = this->tm.template allocate<int>(4);
  require_throws<invalid_argument>(
      [&] {
        speculate(this->s, this->tm, 4, troubled{b, {}, -1, trouble::none}, {.capacity = {.writes = 1u << 22}});
      },
      {"4299161", "2^32 - 1", "smaller capacity"});
}
TYPED_TEST(loop_interface, a_workspace_serves_many_loops) {
  std::vector<int> data(300, -1);
  auto a = this->tm.adopt(data.data(), 300);
  auto w = make_loop_workspace<troubled>(this->s, this->tm, n, this->config);
  for (int round = 0; round < 3; ++round) {
    speculate_async(this->s, this->tm, w, n, troubled{a, {}, bad, trouble::index});
    require_throws<index_out_of_range>([&] { w.collect(this->s, this->tm); }, {"iteration 57"});
    speculate_async(this->s, this->tm, w, 2 * n, troubled{a, {}, -1, trouble::none});
    EXPECT_EQ(w.collect(this->s, this->tm).iterations, 200u);
    EXPECT_EQ(std::accumulate(data.begin(), data.begin() + 200, 0), 199 * 100);
    std::fill(data.begin(), data.end(), -1);
  }
}

TYPED_TEST(loop_interface, a_workspace_that_was_moved_from_is_refused) {
  auto a = this->tm.template allocate<int>(300);
  auto w = make_loop_workspace<troubled>(this->s, this->tm, n, this->config);
  auto moved = std::move(w);
  speculate_async(this->s, this->tm, moved, n, troubled{a, {}, -1, trouble::none});
  EXPECT_EQ(moved.collect(this->s, this->tm).iterations, static_cast<unsigned>(n));
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  require_throws<invalid_argument>([&] { w.collect(this->s, this->tm); }, {"moved from"});
  require_throws<invalid_argument>(
      [&] {
        speculate_async(this->s, this->tm, w, n, troubled{a, {}, -1, trouble::none});
      },
      {"moved from"});
  // NOLINTEND(bugprone-use-after-move)
}

/// Each iteration reads twenty elements of its own and writes one of them.
struct wide {
  array<int> a;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const unsigned own = static_cast<unsigned>(i) * 20;
    int sum = 0;
    for (unsigned k = 0; k < 20; ++k) {
      GPUTM_TRY(const int x, it.load(a[own + k]));
      sum += x;
    }
    GPUTM_TRY(it.store(a[own], sum));
    return gputm::commit;
  }
};
TYPED_TEST(loop_interface, no_iteration_runs_again_where_nothing_depends) {
  constexpr int length = 4000;
  auto a = this->tm.allocate(length * 20, 1);
  for (const bool hashed : {false, true}) {
    const std::optional<std::uint64_t> marks = hashed ? std::optional<std::uint64_t>{0} : std::nullopt;
    const loop_statistics done =
        speculate(this->s, this->tm, length, wide{a}, {.capacity = {.reads = 20, .writes = 1}, .marks_bytes = marks});
    EXPECT_EQ(done.re_executed(), 0u) << "hashed: " << hashed;
    EXPECT_EQ(done[violation::crowded], 0u) << "hashed: " << hashed;
  }
}

/// Each iteration needs the one before.
struct chain {
  array<int> a;
  int bad;  ///< where it goes wrong, or nowhere
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(const int x, it.load(a[static_cast<unsigned>(i)]));
    GPUTM_TRY(it.store(a[static_cast<unsigned>(i == bad ? 4096 : i + 1)], x + 1));
    return gputm::commit;
  }
};
TYPED_TEST(loop_interface, tags_run_out_over_many_loops) {
  constexpr int length = 90;
  auto a = this->tm.template allocate<int>(length + 1);
  for (const std::uint32_t tags : {3u, 4u, 5u, 6u, 8u, 9u, 12u})
    for (const std::uint32_t slots : {0u, 256u}) {
      loop_config config = this->config;
      config.tags = tags;
      config.table_slots = slots;
      auto w = make_loop_workspace<chain>(this->s, this->tm, length, config);
      for (int round = 0; round < 12; ++round) {
        const int bad = round % 3 == 2 ? 70 : -1, end = bad < 0 ? length : bad;
        this->tm.fill(this->s, a, round);
        speculate_async(this->s, this->tm, w, length, chain{a, bad});
        if (bad < 0)
          EXPECT_EQ(w.collect(this->s, this->tm).iterations, static_cast<unsigned>(length));
        else
          require_throws<index_out_of_range>([&] { w.collect(this->s, this->tm); }, {"iteration 70"});
        for (int i = 0; i <= length; ++i)
          ASSERT_EQ(this->tm.read(this->s, a, static_cast<unsigned>(i)), i <= end ? round + i : round)
              << "tags " << tags << ", round " << round << ", element " << i;
      }
    }
}
TYPED_TEST(loop_interface, a_loop_knows_what_the_one_before_it_has_stored_to) {
  const std::vector<int> start(n, 1);
  auto a = this->tm.template allocate<int>(n), b = this->tm.template allocate<int>(n);
  auto w = make_loop_workspace<turning>(this->s, this->tm, n, this->config);
  for (const int both : {n, n, 0, n, 50, 20, n, n, n, 99}) {
    this->tm.write(this->s, a, start);
    this->tm.write(this->s, b, start);
    speculate_async(this->s, this->tm, w, n, turning{a, b, both});
    EXPECT_EQ(w.collect(this->s, this->tm).iterations, static_cast<unsigned>(n));
    std::vector<int> in_a = start, in_b = start;
    for (int i = 0; i < n; ++i) {
      const int x = in_a[static_cast<unsigned>(i)] = in_b[static_cast<unsigned>(i * 7 % n)];
      if (i >= both) in_b[static_cast<unsigned>(i)] = x + i;
    }
    EXPECT_EQ(this->tm.read(this->s, a), in_a) << both;
    EXPECT_EQ(this->tm.read(this->s, b), in_b) << both;
  }
}
TYPED_TEST(loop_interface, an_array_made_after_the_workspace) {
  [[maybe_unused]] auto a = this->tm.template allocate<int>(300);
  auto w = make_loop_workspace<troubled>(this->s, this->tm, n, this->config);
  auto b = this->tm.template allocate<int>(300);
  require_throws<invalid_argument>(
      [&] {
        speculate_async(this->s, this->tm, w, n, troubled{b, {}, -1, trouble::none});
      },
      {"2 arrays", "had 1", "after the arrays"});
}
TYPED_TEST(loop_interface, a_workspace_of_another_memory) {
  auto a = this->tm.template allocate<int>(3);
  auto w = make_loop_workspace<troubled>(this->s, this->tm, n, this->config);
  auto other = std::decay_t<decltype(this->tm)>(this->tm.on());
  const auto longer = other.template allocate<int>(300);
  require_throws<invalid_argument>(
      [&] {
        speculate_async(this->s, other, w, n, troubled{longer, {}, -1, trouble::none});
      },
      {"workspace of memory number", "make one for each memory"});
  require_throws<invalid_argument>([&] { w.collect(this->s, other); }, {"workspace of memory number"});
  EXPECT_EQ(this->tm.read(this->s, a), std::vector<int>(3));
}

TYPED_TEST(loop_interface, a_stream_of_another_device) {
  auto a = this->tm.template allocate<int>(300);
  auto w = make_loop_workspace<troubled>(this->s, this->tm, n, this->config);
  const device another = host_device();
  const stream theirs{another};
  const troubled body{a, {}, -1, trouble::none};
  require_throws<invalid_argument>([&] { speculate_async(theirs, this->tm, w, n, body); }, {"memory's device"});
  require_throws<invalid_argument>([&] { w.collect(theirs, this->tm); }, {"memory's device"});
  require_throws<invalid_argument>([&] { (void)speculate(theirs, this->tm, 0, body); }, {"memory's device"});
  EXPECT_EQ(this->tm.read(this->s, a), std::vector<int>(300));
}

/// Each iteration adds to one of few elements.
struct histogram {
  array<int> h;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    auto e = h[static_cast<unsigned>(i) * 2654435761u % 300];
    GPUTM_TRY(const int v, it.load(e));
    GPUTM_TRY(it.store(e, v + 1));
    return gputm::commit;
  }
};
TEST(loops, writers_are_listed_where_there_is_room_for_one_write) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto h = tm.allocate<int>(300);
  const auto executed = [&](std::uint32_t writes) {
    return speculate(s, tm, 5000, histogram{h},
                     {.capacity = {.reads = 1, .writes = writes}, .blocks = 8, .threads = 32, .patience = 0})
        .executed;
  };
  const std::uint64_t one = executed(1), several = executed(2);
  EXPECT_LE(one, several + several / 4);
}
TEST(loops, doall_runs_loops_without_dependences) {
  device on = host_device();
  stream s{on};
  memory<speculation::doall> tm{on};
  auto a = tm.allocate<int>(300, -1, "numbers");
  EXPECT_EQ(speculate(s, tm, n, troubled{a, {}, -1, trouble::none}).iterations, 100u);
  EXPECT_EQ(tm.read(s, a, 99), 99);
  require_throws<invalid_argument>(
      [&] {
        speculate(s, tm, n, troubled{a, {}, bad, trouble::breaks});
      },
      {"iteration 57", "ended a loop"});
  require_throws<index_out_of_range>(
      [&] {
        speculate(s, tm, n, troubled{a, {}, bad, trouble::index});
      },
      {"index 303", "iteration 57"});
}
TEST(loops, a_stream_of_another_device) {
  device one = host_device(), two = host_device();
  stream s{two};
  memory<speculation::gpu_tls> tm{one};
  auto a = tm.allocate<int>(4);
  require_throws<invalid_argument>([&] { speculate(s, tm, 4, troubled{a, {}, -1, trouble::none}); }, {"stream"});
}
TEST(loops, counters_tell_what_happened) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto a = tm.allocate<int>(1000);
  const auto clean =
      speculate(s, tm, 1000, troubled{a, {}, -1, trouble::none}, {.blocks = 2, .threads = 16, .first_window = 32});
  EXPECT_EQ(clean.iterations, 1000u);
  EXPECT_EQ(clean.re_executed(), 0u);
  EXPECT_EQ(clean.serial, 0u);
  EXPECT_GE(clean.rounds, 2u);
  EXPECT_LE(clean.rounds, 6u);
  EXPECT_STREQ(name(violation::raw), "raw");
}
#if defined(__CUDACC__)
TEST(loops_gpu, a_grid_that_fills_the_device_has_large_blocks) {
  conformance::on_gpu([](const conformance::venue& v) {
    stream s{v.on};
    memory<speculation::gpu_tls> tm{v.on};
    (void)tm.allocate<int>(100);
    const launch_shape many = make_loop_workspace<troubled>(s, tm, 1 << 22).shape();
    const launch_shape few = make_loop_workspace<troubled>(s, tm, 1000).shape();
    const launch_shape light =
        make_loop_workspace<troubled>(s, tm, 1 << 22, {.capacity = {.reads = 1, .writes = 1}}).shape();
    conformance::require_equal(few.threads, 128u, "threads of a block where the grid is small");
    conformance::require(many.threads >= 256, "blocks are small where the grid is large");
    conformance::require(many.clients % v.on->multiprocessors() == 0, "multiprocessors have unequally many blocks");
    conformance::require(many.clients / v.on->multiprocessors() * many.threads <= 512,
                         "many threads where iterations have room for many accesses");
    conformance::require(light.clients * light.threads >= many.clients * many.threads,
                         "fewer threads where iterations have room for few accesses");
  });
}
#endif

}  // namespace
}  // namespace gputm
