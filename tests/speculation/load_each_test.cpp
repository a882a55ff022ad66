// load_each in iterations, under every engine.
#include "speculation/fixture.hpp"

namespace gputm {
namespace {

using conformance::require_throws;

template <class E>
using load_each_in_loops = loop_fixture<E>;
TYPED_TEST_SUITE(load_each_in_loops, loop_engines);

constexpr int n = 100, bad = 57;

/// Loads elements together, some of them from another array.
struct together {
  array<int> a, other;
  std::uint32_t count, from_other;  ///< from which one on
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    int sum = 0;
    if (i == bad)
      GPUTM_TRY(it.load_each(
          count, [this](std::uint32_t k) { return k < from_other ? a[100 + k] : other[k]; },
          [&sum](std::uint32_t k, int value) { sum = sum * 2 + static_cast<int>(k) * value; }));
    GPUTM_TRY(it.store(a[static_cast<unsigned>(i)], i + sum));
    return gputm::commit;
  }
  /// What iteration `bad` adds to its number, if the elements of the arrays are `x` and `y`.
  int sum(int x, int y) const {
    int sum = 0;
    for (std::uint32_t k = 0; k < count; ++k) sum = sum * 2 + static_cast<int>(k) * (k < from_other ? x : y);
    return sum;
  }
};
TYPED_TEST(load_each_in_loops, elements_are_loaded_together_in_their_order) {
  auto a = this->tm.template allocate<int>(300, 1), other = this->tm.template allocate<int>(300, 3);
  this->config.capacity.reads = 20;
  for (const std::uint32_t count : {0u, 1u, 2u, 15u, 20u})
    for (const std::uint32_t from_other : {0u, 1u, 7u, 20u}) {
      const together body{a, other, count, from_other};
      speculate(this->s, this->tm, n, body, this->config);
      const auto values = this->tm.read(this->s, a);
      for (int i = 0; i < n; ++i) ASSERT_EQ(values[static_cast<unsigned>(i)], i == bad ? i + body.sum(1, 3) : i);
    }
}
TYPED_TEST(load_each_in_loops, elements_loaded_together_that_are_not_there) {
  auto a = this->tm.template allocate<int>(300, -1), few = this->tm.template allocate<int>(7, 1, "few numbers");
  memory<TypeParam> second{this->on};
  auto foreign = second.template allocate<int>(300);
  require_throws<index_out_of_range>(
      [&] {
        speculate(this->s, this->tm, n, together{a, few, 9, 4}, this->config);
      },
      {"index 7", "'few numbers'", "iteration 57"});
  require_throws<invalid_argument>(
      [&] {
        speculate(this->s, this->tm, n, together{a, foreign, 9, 4}, this->config);
      },
      {"another memory", "iteration 57"});
  this->config.longest_iteration = 151;  // no multiple of a group's size
  require_throws<no_progress>(
      [&] {
        speculate(this->s, this->tm, n, together{a, few, 160, 200}, this->config);
      },
      {"151 loads and stores", "iteration 57"});
  const auto values = this->tm.read(this->s, a);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(values[static_cast<unsigned>(i)], i < bad ? i : -1) << "element " << i;
}

/// How many, and what their sum is.
struct total {
  int sum = 0;
  std::uint32_t added = 0;
  GPUTM_FN void add(std::uint32_t k, int value) {
    sum += static_cast<int>(k + 1) * value;
    ++added;
  }
  GPUTM_FN void merge(const total& other) {
    sum += other.sum;
    added += other.added;
  }
};
/// Iteration `bad` adds up elements, those that are listed, or in turn; others add up none.
struct adds_up {
  array<int> a;
  const int* index;
  std::uint32_t count;
  bool listed;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    total all;
    const std::uint32_t some = i == bad ? count : 0;
    if (listed) {
      GPUTM_TRY(all, it.reduce_each(some, gather(a, index), total{}));
    } else {
      GPUTM_TRY(all, it.reduce_each(
                         some, [this](std::uint32_t k) { return a[100 + k]; }, total{}));
    }
    GPUTM_TRY(it.store(a[static_cast<unsigned>(i)], i + all.sum + static_cast<int>(all.added)));
    return gputm::commit;
  }
};
TYPED_TEST(load_each_in_loops, elements_are_added_up) {
  auto a = this->tm.template allocate<int>(300);
  std::vector<int> values(300), index(90);
  for (int k = 0; k < 300; ++k) values[static_cast<unsigned>(k)] = k % 17;
  for (int k = 0; k < 90; ++k) index[static_cast<unsigned>(k)] = 299 - k;
  const buffer there = conformance::values_on(this->s, index);
  this->config.capacity.reads = 90;
  for (const std::uint32_t count : {0u, 1u, 9u, 90u})
    for (const bool listed : {false, true}) {
      this->tm.write(this->s, a, values);
      speculate(this->s, this->tm, n, adds_up{a, there.template as<int>(), count, listed}, this->config);
      int sum = bad + static_cast<int>(count);
      for (int k = 0; k < static_cast<int>(count); ++k)
        sum += (k + 1) * values[static_cast<unsigned>(listed ? 299 - k : 100 + k)];
      EXPECT_EQ(this->tm.read(this->s, a, static_cast<unsigned>(bad)), sum) << count << (listed ? " listed" : "");
    }
}

/// Iterations of the upper half read, at once, what those of the lower half write.
struct two_halves {
  array<int> a;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<unsigned>(i);
    int sum = 1;
    if (i >= n / 2)
      GPUTM_TRY(it.load_each(
          8, [&](std::uint32_t j) { return a[(k + j) % (n / 2)]; }, [&sum](std::uint32_t, int v) { sum += v; }));
    GPUTM_TRY(it.store(a[k], sum));
    return gputm::commit;
  }
};
TEST(load_each, a_repair_finds_what_is_loaded_together) {
  device on = host_device();
  stream s{on};
  memory<speculation::gpu_tls> tm{on};
  auto a = tm.allocate<int>(n);
  const loop_config config = {
      .capacity = {.reads = 8, .writes = 1}, .blocks = 2, .threads = 16, .first_window = n, .smallest_window = 1};
  const loop_statistics stats = speculate(s, tm, n, two_halves{a}, config);
  EXPECT_EQ(stats.rounds, 1u);
  EXPECT_EQ(stats.serial, 0u);
  EXPECT_EQ(stats[violation::raw], static_cast<unsigned>(n / 2));
  const auto found = tm.read(s, a);
  for (int i = 0; i < n; ++i) EXPECT_EQ(found[static_cast<unsigned>(i)], i < n / 2 ? 1 : 9) << i;
}
TEST(load_each, doall_loads_several_elements_at_once) {
  device on = host_device();
  stream s{on};
  memory<speculation::doall> tm{on};
  auto a = tm.allocate<int>(300, 1), other = tm.allocate<int>(300, 3);
  const together body{a, other, 15, 7};
  speculate(s, tm, n, body, {});
  EXPECT_EQ(tm.read(s, a, static_cast<unsigned>(bad)), bad + body.sum(1, 3));
}

}  // namespace
}  // namespace gputm
