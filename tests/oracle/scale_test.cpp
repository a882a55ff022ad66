// Large histories, by all ways through the checker. The limit, in processor time, allows for builds without
// optimisation and with sanitizers: it tells linear from quadratic, no more.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "histories.hpp"
#include "random_histories.hpp"

namespace gputm::history::test {
namespace {

verdict timed_check(const history& h, level at) {
  const std::clock_t start = std::clock();
  verdict v = check(h, {.level = at});
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ::testing::Test::RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
  EXPECT_LT(seconds, 30);
  return v;
}

TEST(Scale, ManyShortTransactions) {
  std::mt19937_64 random(1);
  const history h = executed(
      {.transactions = 100'000, .elements = 10'000, .accesses = 8, .spread = 500, .final_values = true}, random);
  const verdict v = timed_check(h, level::opaque);
  EXPECT_TRUE(v.ok) << v.what;
}

TEST(Scale, FewLongTransactions) {
  std::mt19937_64 random(2);
  const history h = executed(
      {.transactions = 10'000, .elements = 20'000, .accesses = 200, .spread = 50, .final_values = true}, random);
  const verdict v = timed_check(h, level::opaque);
  EXPECT_TRUE(v.ok) << v.what;
}

TEST(Scale, OneElementThatAllIncrement) {
  history h;
  for (std::uint64_t i = 0; i < 100'000; ++i)
    h.transactions.push_back(committed(2 * i, 2 * i + 100, {r(0, i), w(0, i + 1)}));
  EXPECT_TRUE(timed_check(h, level::strict).ok);
  // A stale read at the very end closes a cycle as long as the history, whose short cut the report must find.
  h.transactions.push_back(committed(300'000, 300'001, {r(0, 5)}));
  const verdict v = timed_check(h, level::strict);
  EXPECT_EQ(v.found, finding::violation);
  EXPECT_EQ(v.culprits.size(), 2u) << v.what;
  EXPECT_TRUE(timed_check(h, level::serialisable).ok);
}

TEST(Scale, StaleReadAmongBlindWrites) {
  std::mt19937_64 random(3);
  history h = executed({.transactions = 20'000, .elements = 2'000, .spread = 300, .blind_percent = 100}, random);
  h.initial[{5000, 0}] = 1;
  const std::uint64_t last = 4 * 30'000;
  h.transactions.push_back(committed(last, last + 1, {{5000, 0, 1, false}, {5000, 0, 2, true}}));
  h.transactions.push_back(committed(last + 2, last + 3, {{5000, 0, 1, false}}));
  EXPECT_EQ(timed_check(h, level::strict).found, finding::violation);
  const verdict v = timed_check(h, level::serialisable);
  EXPECT_TRUE(v.ok) << v.what;
}

TEST(Scale, BlindWritersThatAllWaitForEachOther) {
  // All write one element blindly, at once; who reads the i-th value also reads what the next writer writes elsewhere.
  constexpr std::uint32_t n = 8000;
  history h;
  for (std::uint32_t i = 0; i < n; ++i) {
    h.transactions.push_back(committed(0, 10 + n - i, {w(0, i + 1)}));
    h.transactions.back().accesses.push_back({1, i, 0, false});
    h.transactions.back().accesses.push_back({1, i, i + 1, true});
    if (i == 0) continue;
    h.transactions.push_back(committed(0, 10 * n, {r(0, i)}));
    h.transactions.back().accesses.push_back({1, i, i + 1, false});
  }
  EXPECT_TRUE(timed_check(h, level::strict).ok);
}

}  // namespace
}  // namespace gputm::history::test
