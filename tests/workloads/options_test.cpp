// Keys by Zipf's law, and options that make no sense.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "memcached.hpp"

namespace gputm::workloads_test {
namespace {

using namespace gputm::workloads;

// ---- Zipf's law

TEST(zipf, draws_what_the_law_says) {
  constexpr std::uint32_t n = 50, draws = 400'000;
  for (const double s : {0.0, 0.5, 0.99, 1.0, 2.5}) {
    const zipf_table table(n, s);
    std::vector<double> drawn(n);
    for (std::uint64_t k = 0; k < draws; ++k) ++drawn[table.view().draw(random_word(1, 2, k))];
    double total = 0;
    for (std::uint32_t k = 0; k < n; ++k) total += std::pow(k + 1, -s);
    for (std::uint32_t k = 0; k < n; ++k) {
      const double p = std::pow(k + 1, -s) / total, deviation = std::sqrt(draws * p * (1 - p)) + 1;
      EXPECT_LT(std::abs(drawn[k] - draws * p), 5 * deviation) << "rank " << k << " of s " << s;
    }
  }
}
/// Rank k belongs to the words above upper[k - 1], up to upper[k]: the guide must not change that.
TEST(zipf, is_the_inverse_of_its_table) {
  for (const std::uint32_t n : {1u, 2u, 3u, 64u, 1000u})
    for (const double s : {0.0, 1.0, 30.0}) {
      const zipf_table table(n, s);
      const auto& upper = table.upper();
      EXPECT_EQ(table.view().draw(0), 0u);
      EXPECT_EQ(upper.back(), ~std::uint64_t{0});
      for (std::uint32_t k = 0; k < n; ++k) {
        const std::uint32_t at = table.view().draw(upper[k]);
        EXPECT_TRUE(at == k || (at < k && upper[at] == upper[k])) << k;  // ranks that are never drawn
        if (upper[k] != ~std::uint64_t{0}) {
          EXPECT_GT(table.view().draw(upper[k] + 1), k);
        }
      }
    }
}
TEST(zipf, the_same_seed_draws_the_same) {
  const zipf_table table(1000, 0.99);
  const stream s(host_device());
  const zipf_on_device copy(s, table);
  for (std::uint64_t k = 0; k < 1000; ++k) {
    EXPECT_EQ(table.view().draw(random_word(7, 3, k)), copy.view().draw(random_word(7, 3, k)));
    EXPECT_NE(random_word(7, 3, k), random_word(8, 3, k));
    EXPECT_NE(random_word(7, 3, k), random_word(7, 4, k));
  }
}

// ---- options

/// The message of the refusal; empty if it is none.
std::string refusal(const memcached_options& o) {
  try {
    (void)checked(o);
    return "";
  } catch (const invalid_argument& e) {
    return e.what();
  }
}
TEST(options, that_make_sense) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.items = 1, .ways = 1}), "");
  EXPECT_EQ(refusal({.items = 256, .ways = 256, .get = 100, .zipf = 0}), "");
  const memcached_options o = checked({.items = 512, .ways = 256});
  EXPECT_EQ(o.keys, 512u);
  EXPECT_EQ(o.launch.capacity.reads, 265u);
  EXPECT_EQ(o.launch.capacity.writes, 3u);
}
TEST(options, that_make_none) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal({.items = 0}).find("0 items"), std::string::npos);
  EXPECT_NE(refusal({.items = std::uint64_t{1} << 40}).find("1099511627776 items"), std::string::npos);
  EXPECT_NE(refusal({.items = 64, .ways = 0}).find("sets of 0"), std::string::npos);
  EXPECT_NE(refusal({.items = 64, .ways = 128}).find("sets of 128: the limit is 64"), std::string::npos);
  EXPECT_NE(refusal({.items = 64, .ways = 5}).find("would have 4; 60 items fill whole sets"), std::string::npos);
  EXPECT_NE(refusal({.items = 1 << 23, .ways = 1 << 22}).find("the limit is 4194288"), std::string::npos);
  for (const double get : {-1.0, 100.5, nan, infinite}) EXPECT_NE(refusal({.get = get}), "") << get;
  for (const double s : {-0.5, 101.0, nan, infinite}) EXPECT_NE(refusal({.zipf = s}), "") << s;
  EXPECT_NE(refusal({.keys = std::uint64_t{1} << 40}).find("1099511627776 keys"), std::string::npos);
}

}  // namespace
}  // namespace gputm::workloads_test
