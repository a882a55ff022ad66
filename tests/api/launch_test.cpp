// Launches: grids, capacities, devices that do not fit; counters' names.
#include <cstring>

#include "gputm/algorithm/locks.hpp"
#include "gputm/algorithm/sequential.hpp"
#include "gputm/speculation/doall.hpp"
#include "gputm/speculation/gpu_tls.hpp"
#include "support.hpp"

namespace gputm::api_test {
namespace {

const std::vector<long> some_inputs(100, 1);

struct launches : testing::Test {
  device d = host_device();
  stream s{d};
  memory<stm> tm{d};
  array<long> a = tm.allocate<long>(4, 0L, "a");

  auto go(const launch_config& c, gputm::capacity sizes = {}) { return run(s, tm, some_inputs, add_to{a}, sizes, c); }
};

TEST_F(launches, zeros_are_chosen) {
  EXPECT_EQ(go({}).stats.commits, 100u);
  EXPECT_EQ(go({.blocks = 3}).stats.commits, 100u);
  EXPECT_EQ(go({.threads = 7}).stats.commits, 100u);
  EXPECT_EQ(go({.blocks = 1, .threads = 1}).stats.commits, 100u);
  EXPECT_EQ(go({.blocks = 5, .threads = 1024}).stats.commits, 100u);
}

TEST_F(launches, blocks_have_a_largest_size) {
  EXPECT_TRUE(throws<invalid_argument>([&] { go({.blocks = 1, .threads = 1025}); }, {"1025", "1024"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { go({.threads = 1u << 31}); }, {"2147483648", "1024"}));
  EXPECT_EQ(tm.read(s, a, 0), 0);
}

TEST_F(launches, grids_are_resident) {
  host::config c;
  c.max_resident_blocks = 2;
  const device small = host_device(c);
  memory<stm> m(small);
  const stream on(small);
  auto b = m.allocate<long>(1);
  EXPECT_TRUE(throws<grid_not_resident>([&] { run(on, m, some_inputs, add_to{b}, {}, {.blocks = 3, .threads = 4}); },
                                        {"3 blocks of 4 threads", "limit", "2 blocks"}));
  EXPECT_EQ(run(on, m, some_inputs, add_to{b}, {}, {.blocks = 2, .threads = 4}).stats.commits, 100u);
  EXPECT_EQ(run(on, m, some_inputs, add_to{b}).stats.commits, 100u);  // gputm chooses no more than fit
  EXPECT_EQ(m.read(on, b, 0), 200);
}

TEST_F(launches, ranks_have_a_limit) {
  auto f = std::make_shared<frugal>();
  EXPECT_TRUE(
      throws<grid_not_resident>([&] { go({.blocks = 4000, .threads = 1024}); }, {"4000 blocks of 1024 threads"}));
  EXPECT_EQ(tm.read(s, a, 0), 0);
}

TEST_F(launches, capacities_have_a_limit) {
  EXPECT_TRUE(throws<invalid_argument>([&] { go({}, {.reads = (1u << 22) + 1}); }, {"4194305", "4194304"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { go({}, {.reads = 1, .writes = ~0u}); }, {"4294967295", "4194304"}));
  struct large {
    char bytes[400];
  };
  tm.allocate<large>(2, {}, "large");
  EXPECT_TRUE(throws<invalid_argument>([&] { go({.blocks = 1, .threads = 1}, {.writes = 1u << 22}); },
                                       {"4194304 writes", "400 bytes"}));
}

TEST_F(launches, a_capacity_of_nothing_is_exceeded_at_once) {
  EXPECT_TRUE(throws<capacity_exceeded>([&] { go({.blocks = 1, .threads = 1}, {.reads = 0, .writes = 0}); },
                                        {"'a'", "capacity is 0"}));
  EXPECT_EQ(tm.read(s, a, 0), 0);
  EXPECT_EQ(go({}, {.reads = 1, .writes = 1}).stats.commits, 100u);
}

/// Two loads in one line.
struct swap_sides {
  array<long> a;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long) const {
    // clang-format off
    GPUTM_TRY(long left, tx.load(a[0])); GPUTM_TRY(long right, tx.load(a[1]));
    GPUTM_TRY(tx.store(a[0], right)); GPUTM_TRY(tx.store(a[1], left));
    // clang-format on
    return gputm::commit;
  }
};

TEST_F(launches, several_tries_fit_into_one_line) {
  tm.write(s, a, std::vector<long>{1, 2, 3, 4});
  EXPECT_EQ(run(s, tm, std::vector<long>(1), swap_sides{a}).stats.commits, 1u);
  EXPECT_EQ(tm.read(s, a, 0), 2);
  EXPECT_EQ(tm.read(s, a, 1), 1);
}

/// Of several words, so that a batch has many keys.
struct add_to_four {
  array<long> a;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long in) const {
    for (std::uint64_t k = 0; k < 4; ++k) {
      GPUTM_TRY(long x, tx.load(a[k]));
      GPUTM_TRY(tx.store(a[k], x + in));
    }
    return gputm::commit;
  }
};

TEST_F(launches, servers_fit_into_blocks_of_any_size) {
  memory<algorithm::csmv_sh> m(d);
  auto b = m.allocate<long>(4);
  for (const std::uint32_t threads : {1u, 33u, 1024u})
    run(s, m, some_inputs, add_to_four{b}, {.reads = 64, .writes = 64}, {.blocks = 1, .threads = threads});
  EXPECT_EQ(m.read(s, b, 3), 300);
}

template <class A>
void several_servers(const device& d, const stream& s) {
  for (const std::uint32_t servers : {1u, 2u, 3u}) {
    memory<A> m(d, {.record_entries = 8, .servers = servers});
    auto b = m.template allocate<long>(4);
    for (const std::uint32_t blocks : {1u, 5u})
      run(s, m, some_inputs, add_to_four{b}, {.reads = 4, .writes = 4}, {.blocks = blocks, .threads = 40});
    EXPECT_EQ(m.read(s, b, 0), 200);
  }
}
TEST_F(launches, there_may_be_several_servers) {
  several_servers<algorithm::csmv_replicated>(d, s);
  several_servers<algorithm::csmv_partitioned>(d, s);
  EXPECT_TRUE(throws<invalid_argument>([&] { memory<algorithm::csmv_replicated>(d, {.servers = 0}); }, {"0 servers"}));
}

/// What a launch of so many client blocks and servers looks like on a device that has room for `resident` blocks.
template <class A>
launch_shape shape_on(std::uint32_t resident, std::uint32_t blocks, std::uint32_t servers, bool clusters = true) {
  host::config c;
  c.max_resident_blocks = resident;
  const device small = host_device(c);
  const stream on(small);
  memory<A> m(small, {.record_entries = 8, .servers = servers});
  auto b = m.template allocate<long>(1);
  const launch_config grid{.capacity = {4, 4}, .blocks = blocks, .threads = 4, .clusters = clusters};
  EXPECT_EQ(run(on, m, some_inputs, add_to{b}, grid.capacity, grid).stats.commits, 100u);
  EXPECT_EQ(m.read(on, b, 0), 100);
  return make_workspace<add_to, long>(on, m, 1000, grid).shape();
}
/// Its input is an index.
struct load_at {
  array<long> a;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long i) const {
    GPUTM_TRY(tx.load(a[i]));
    return commit;
  }
};
TEST_F(launches, a_workspace_is_for_one_memory) {
  auto w = make_workspace<load_at, long>(s, tm, 1, {.blocks = 1, .threads = 1});
  memory<stm> other(d);
  const auto b = other.allocate<long>(1);
  const long index = 99;
  const bulk<long, gputm::detail::result_of<load_at>::type> far{&index, 1};
  run_async(s, tm, w, load_at{a}, far);
  EXPECT_TRUE(throws<invalid_argument>([&] { run_async(s, other, w, load_at{b}, far); },
                                       {"workspace of memory number", "make one for each memory"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { w.collect(s, other); }, {"workspace of memory number"}));
  EXPECT_TRUE(throws<index_out_of_range>([&] { w.collect(s, tm); }, {"99"}));  // nobody has forgotten that
  const memory<stm> moved(std::move(tm));
  EXPECT_TRUE(throws<invalid_argument>([&] { w.collect(s, tm); }, {}));
}
struct wide {
  long x[10];
};
TEST_F(launches, a_workspace_is_for_elements_no_larger_than_when_it_was_made) {
  auto w = make_workspace<load_at, long>(s, tm, 1, {.blocks = 1, .threads = 1});
  const long index = 0;
  const bulk<long, gputm::detail::result_of<load_at>::type> one{&index, 1};
  tm.allocate<int>(1);
  run_async(s, tm, w, load_at{a}, one);
  w.collect(s, tm);
  tm.allocate<wide>(1);
  EXPECT_TRUE(throws<invalid_argument>([&] { run_async(s, tm, w, load_at{a}, one); },
                                       {"elements of 80 bytes", "more than 8", "after the arrays"}));
}
TEST_F(launches, a_stream_of_another_device_is_refused) {
  auto w = make_workspace<load_at, long>(s, tm, 1, {.blocks = 1, .threads = 1});
  const long index = 0;
  const bulk<long, gputm::detail::result_of<load_at>::type> one{&index, 1};
  const device another = host_device();
  const stream theirs{another};
  EXPECT_TRUE(throws<invalid_argument>([&] { run_async(theirs, tm, w, load_at{a}, one); }, {"memory's device"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { w.collect(theirs, tm); }, {"memory's device"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { w.reset(theirs); }, {"memory's device"}));
  EXPECT_TRUE(throws<invalid_argument>(
      [&] { (void)make_workspace<load_at, long>(theirs, tm, 1, {.blocks = 1, .threads = 1}); }, {"memory's device"}));
  history::history recorded;
  auto r = make_workspace<load_at, long, with_history>(s, tm, 1, {.blocks = 1, .threads = 1});
  EXPECT_TRUE(throws<invalid_argument>([&] { r.take_history(theirs, recorded); }, {"memory's device"}));
  run_async(s, tm, w, load_at{a}, one);
  EXPECT_EQ(w.collect(s, tm).commits, 1u);
}
TEST_F(launches, servers_may_be_a_cluster) {
  using partitioned = algorithm::csmv_partitioned;
  const launch_shape s = shape_on<partitioned>(0, 5, 4);
  EXPECT_EQ(s.cluster, 4u);
  EXPECT_EQ(s.first_server(), 8u);  // clusters of clients are filled up
  EXPECT_EQ(s.blocks(), 12u);
  EXPECT_EQ(shape_on<partitioned>(0, 4, 4).blocks(), 8u);
  const launch_shape apart = shape_on<partitioned>(0, 5, 4, false);
  EXPECT_EQ(apart.cluster, 1u);
  EXPECT_EQ(apart.blocks(), 9u);
  EXPECT_EQ(shape_on<partitioned>(0, 5, 3).cluster, 1u);
  EXPECT_EQ(shape_on<partitioned>(0, 2, 8).cluster, 8u);
  EXPECT_EQ(shape_on<partitioned>(0, 2, 16).cluster, 1u);
  EXPECT_EQ(shape_on<partitioned>(0, 2, 1).cluster, 1u);
  EXPECT_EQ(shape_on<algorithm::csmv_replicated>(0, 5, 4).cluster, 1u);
}
TEST_F(launches, a_grid_that_does_not_fit_in_clusters_has_none) {
  using partitioned = algorithm::csmv_partitioned;
  EXPECT_EQ(shape_on<partitioned>(11, 4, 4).cluster, 4u);
  EXPECT_EQ(shape_on<partitioned>(11, 5, 4).cluster, 1u);
  EXPECT_EQ(shape_on<partitioned>(7, 0, 4).cluster, 1u);
  EXPECT_TRUE(throws<grid_not_resident>([] { shape_on<partitioned>(11, 8, 4); }, {"8 blocks", "limit", "7 blocks"}));
  EXPECT_TRUE(throws<grid_not_resident>([] { shape_on<partitioned>(4, 1, 4); }, {"beside 4 servers"}));
}
TEST_F(launches, gputm_chooses_whole_clusters) {
  const launch_shape s = shape_on<algorithm::csmv_partitioned>(11, 0, 4);
  EXPECT_EQ(s.cluster, 4u);
  EXPECT_LE(s.blocks(), 8u);
}

/// The grid that gputm chooses for a kernel of which `of_multiprocessor` threads fit onto each of two multiprocessors.
template <unsigned of_multiprocessor>
launch_config chosen(bool large_blocks, std::uint32_t most_threads, std::uint64_t work, launch_config given = {}) {
  auto gpu = std::make_shared<frugal>();
  gpu->claims = device_kind::cuda;
  memory<stm> m{device(gpu)};
  gputm::detail::grid_needs needs{};
  needs.algorithm = "some kernel";
  needs.large_blocks = large_blocks;
  needs.most_threads = most_threads;
  needs.shape_of = &gputm::detail::shape_of<stm>;
  needs.resident_blocks = [](const device& d, const launch_shape& shape) {
    return of_multiprocessor / shape.threads * d->multiprocessors();
  };
  return gputm::detail::choose_grid(needs, m.core(), given, work);
}
TEST_F(launches, some_kernels_have_large_blocks_where_they_fill_a_gpu) {
  EXPECT_EQ(chosen<768>(true, 0, 100000).threads, 768u);
  EXPECT_EQ(chosen<768>(true, 0, 100000).blocks, 2u);
  EXPECT_EQ(chosen<2048>(true, 0, 100000).threads, 1024u);
  EXPECT_EQ(chosen<2048>(true, 0, 100000).blocks, 4u);
  EXPECT_EQ(chosen<768>(true, 0, 1500).threads, 128u);
  EXPECT_EQ(chosen<768>(false, 0, 100000).threads, 128u);
  EXPECT_EQ(chosen<768>(false, 0, 100000).blocks, 12u);
}
TEST_F(launches, some_kernels_leave_multiprocessors_with_few_threads) {
  for (const std::uint64_t work : {1024, 100000}) {
    EXPECT_EQ(chosen<768>(true, 512, work).threads, 512u);
    EXPECT_EQ(chosen<768>(true, 512, work).blocks, 2u);
    EXPECT_EQ(chosen<2048>(true, 512, work).threads, 512u);
    EXPECT_EQ(chosen<2048>(true, 512, work).blocks, 2u);
    EXPECT_EQ(chosen<2048>(false, 512, work).threads, 128u);
    EXPECT_EQ(chosen<2048>(false, 512, work).blocks, 8u);
  }
  EXPECT_EQ(chosen<768>(true, 512, 1000).threads, 128u);
  EXPECT_EQ(chosen<768>(true, 512, 1000).blocks, 8u);
  EXPECT_EQ(chosen<384>(true, 512, 100000).threads, 384u) << "no more fit";
  EXPECT_EQ(chosen<768>(true, 64, 100000).blocks, 2u) << "one block of 128 threads is the least";
  EXPECT_EQ(chosen<2048>(true, 512, 100000, {.threads = 128}).blocks, 32u) << "the caller has chosen";
  EXPECT_EQ(chosen<2048>(true, 512, 100000, {.blocks = 30}).blocks, 30u);
}
TEST_F(launches, loops_with_many_accesses_have_few_threads) {
  using launching::most_threads;
  EXPECT_EQ(most_threads<speculation::gpu_tls>({.reads = 16, .writes = 16}), 512u);
  EXPECT_EQ(most_threads<speculation::gpu_tls>({.reads = 31, .writes = 0}), 0u);
  EXPECT_EQ(most_threads<speculation::doall>({.reads = 64, .writes = 64}), 0u);
  EXPECT_EQ(most_threads<stm>({.reads = 64, .writes = 64}), 0u);
}

struct far_away {
  array<long> a;
  long index;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long) const {
    GPUTM_TRY([[maybe_unused]] long x, tx.load(a[static_cast<std::uint64_t>(index)]));
    return gputm::commit;
  }
};

TEST_F(launches, indices_are_named) {
  const auto at = [&](long i) { return [this, i] { run(s, tm, std::vector<long>{1}, far_away{a, i}); }; };
  EXPECT_TRUE(throws<index_out_of_range>(at(4), {"index 4", "'a'", "4 elements", "input or call 0 of thread 0"}));
  EXPECT_TRUE(throws<index_out_of_range>(at(0xfffffffe), {"index 4294967294"}));
  EXPECT_TRUE(throws<index_out_of_range>(at(-1), {"index -1 in"}));
  EXPECT_TRUE(throws<index_out_of_range>(at(1L << 32), {"index 4294967296 in"}));
  EXPECT_NO_THROW(at(3)());
}

TEST_F(launches, an_array_of_nothing_is_of_another_memory) {
  EXPECT_TRUE(throws<invalid_argument>(
      [&] {
        run(s, tm, some_inputs, far_away{array<long>{}, 0});
      },
      {"no memory has allocated"}));
}

TEST_F(launches, a_workspace_has_one_thread_where_the_algorithm_runs_on_one) {
  memory<algorithm::sequential> one(d);
  EXPECT_TRUE(throws<invalid_argument>([&] { workspace<algorithm::sequential>(s, one, {.blocks = 2, .threads = 4}); },
                                       {"sequential runs on one thread", "2 blocks of 4;", "1 block of 1 thread"}));
}

TEST(clocks, start_over_between_launches_alone) {
  const device d = host_device();
  const stream s{d};
  memory<algorithm::pr_stm_opaque> tm(d);
  const auto a = tm.allocate<long>(1);
  const launch_config c{.capacity = {2, 2}, .blocks = 1, .threads = 1};
  workspace<algorithm::pr_stm_opaque> first(s, tm, c), second(s, tm, c);
  auto& clock = *reinterpret_cast<std::uint64_t*>(tm.core().globals());
  constexpr std::uint64_t late = (std::uint64_t{1} << 39) + 1;
  clock = late;
  const long one = 1;
  for (auto* w : {&first, &second}) run_async(s, tm, *w, add_to{a}, bulk<long, long>{&one, 1});
  second.collect(s, tm);
  EXPECT_GT(clock, late) << "the first one may be under way";
  first.collect(s, tm);
  EXPECT_LT(clock, 10u);
  EXPECT_EQ(tm.read(s, a, 0), 2);
}

/// Adds to an element and cancels, or fails.
struct adds_and {
  array<long> a;
  bool cancels;
  using result_type = long;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, long) const {
    touch(a[0]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long in) const {
    tx.result(in);
    if (cancels) return gputm::cancel;
    GPUTM_TRY(const long x, tx.load(a[0]));
    GPUTM_TRY(tx.store(a[0], x + in));
    GPUTM_TRY(tx.store(a[a.size()], in));
    return gputm::commit;
  }
};

TEST_F(launches, a_transaction_that_fails_does_not_run_again) {
  memory<algorithm::locks> in_place(d);
  const auto b = in_place.allocate<long>(1);
  EXPECT_THROW(run(s, in_place, std::vector<long>{1}, adds_and{b, false}), index_out_of_range);
  EXPECT_EQ(in_place.read(s, b, 0), 1) << "stores in place stay, once";
}

TEST_F(launches, what_does_not_commit_has_no_result) {
  long kept = 0;
  long* const out = &kept;
  launch(s, tm, {.blocks = 1, .threads = 1}, [out, body = adds_and{a, true}](auto& ctx) {
    long result = 42;
    (void)ctx.transact_into(1u, result, body, 5L);
    *out = result;
  });
  EXPECT_EQ(kept, 42);
}

TEST(counters, have_names_and_sums) {
  statistics s;
  for (std::size_t r = 0; r < abort_reasons; ++r) {
    s.aborts[r] = 1;
    EXPECT_STRNE(name(static_cast<abort_reason>(r)), "");
  }
  EXPECT_EQ(s[abort_reason::lock_stolen], 1u);
  EXPECT_EQ(s.conflicts(), abort_reasons - 2);  // neither cancelled nor retry is a conflict
  EXPECT_EQ(s.aborts_per_commit(), 0.0);
  s.commits = 2;
  EXPECT_EQ(s.aborts_per_commit(), static_cast<double>(abort_reasons - 2) / 2);
}

}  // namespace
}  // namespace gputm::api_test
