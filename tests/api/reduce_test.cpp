// reduce_each in transactions: a body that does both, transaction or iteration, needs no other one.
#include "conformance/values_on.hpp"
#include "support.hpp"

namespace gputm::api_test {
namespace {

/// How many, and what their sum is.
struct total {
  long sum = 0, added = 0;
  GPUTM_FN void add(std::uint32_t k, long value) {
    sum += (k + 1) * value;
    ++added;
  }
  GPUTM_FN void merge(const total& other) {
    sum += other.sum;
    added += other.added;
  }
};

/// Adds up the elements that are listed, or as many in turn.
struct adds_up {
  static constexpr bool read_only = true;
  using result_type = long;
  array<long> a;
  const int* index;
  std::uint32_t count;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, bool listed) const {
    total all;
    if (listed) {
      GPUTM_TRY(all, tx.reduce_each(count, gather(a, index), total{}));
    } else {
      GPUTM_TRY(all, tx.reduce_each(
                         count, [this](std::uint32_t k) { return a[k]; }, total{}));
    }
    tx.result(all.sum + 1000 * all.added);
    return commit;
  }
};

TEST(reduce_each, transactions_add_up_elements) {
  device d = host_device();
  stream s{d};
  memory<stm> tm{d};
  constexpr std::uint32_t n = 40;
  const auto a = tm.allocate<long>(n);
  std::vector<long> values(n);
  std::vector<int> index(n);
  for (std::uint32_t k = 0; k < n; ++k) {
    values[k] = k * k;
    index[k] = static_cast<int>(n - 1 - k);
  }
  tm.write(s, a, values);
  const buffer there = conformance::values_on(s, index);
  for (const std::uint32_t count : {0u, 1u, 17u, n}) {
    long in_turn = 1000 * static_cast<long>(count), listed = in_turn;
    for (std::uint32_t k = 0; k < count; ++k) {
      in_turn += (k + 1) * values[k];
      listed += (k + 1) * values[n - 1 - k];
    }
    const auto done = run(s, tm, std::vector<char>{0, 1}, adds_up{a, there.as<int>(), count}, {.reads = n});
    EXPECT_EQ(done.results[0], in_turn) << count;
    EXPECT_EQ(done.results[1], listed) << count;
  }
}

}  // namespace
}  // namespace gputm::api_test
