#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "histories.hpp"
#include "random_histories.hpp"

namespace gputm::history::test {
namespace {

std::string text_of(const history& h) {
  std::ostringstream out;
  write(out, h);
  return out.str();
}

shape random_shape(std::mt19937_64& random) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  };
  shape s;
  s.transactions = pick(2, 6);
  s.elements = pick(1, 4);
  s.accesses = pick(1, 4);
  s.spread = pick(0, 6);
  s.write_percent = pick(20, 80);
  s.blind_percent = pick(0, 1) ? 100 : pick(0, 100);
  s.final_values = pick(0, 1);
  return s;
}

/// How often each answer came up, to show that a comparison compared something.
struct tally {
  int yes = 0, no = 0;
};

void compare(const history& h, level at, tally& seen) {
  const bool expected = explained_by_some_order(h, at);
  const verdict v = check(h, {.level = at});
  ++(expected ? seen.yes : seen.no);
  ASSERT_EQ(v.ok, expected) << v.what << '\n' << text_of(h);
  ASSERT_EQ(v.found, expected ? finding::consistent : finding::violation) << v.what << '\n' << text_of(h);
}

TEST(RandomHistories, ExecutedOnesPassAtAllLevels) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    std::mt19937_64 random(seed);
    shape s = random_shape(random);
    s.transactions *= 1 + seed % 40;
    const history h = executed(s, random);
    for (level at : all_levels) {
      const verdict v = check(h, {.level = at});
      ASSERT_TRUE(v.ok) << "seed " << seed << ": " << v.what << '\n' << text_of(h);
    }
  }
}

TEST(RandomHistories, OneReadMutatedAgreesWithAllPermutations) {
  tally seen[3];
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    std::mt19937_64 random(seed);
    history h = executed(random_shape(random), random);
    if (!mutate_read(h, random)) continue;
    for (level at : all_levels) {
      compare(h, at, seen[static_cast<std::size_t>(at)]);
      if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
  }
  for (const tally& t : seen) {
    EXPECT_GT(t.yes, 500);
    EXPECT_GT(t.no, 500);
  }
}

TEST(RandomHistories, OtherTimesAgreeWithAllPermutations) {
  tally seen[3];
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    std::mt19937_64 random(seed);
    history h = executed(random_shape(random), random);
    scramble_time(h, random);
    for (level at : all_levels) {
      compare(h, at, seen[static_cast<std::size_t>(at)]);
      if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
  }
  EXPECT_EQ(seen[0].no, 0);
  EXPECT_GT(seen[1].no, 500);
  EXPECT_GT(seen[2].no, seen[1].no);
}

TEST(RandomHistories, ArbitraryOnesAgreeWithAllPermutations) {
  tally seen[3];
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    std::mt19937_64 random(seed);
    const history h = arbitrary(random_shape(random), random);
    for (level at : all_levels) {
      compare(h, at, seen[static_cast<std::size_t>(at)]);
      if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
  }
  for (const tally& t : seen) {
    EXPECT_GT(t.yes, 500);
    EXPECT_GT(t.no, 500);
  }
}

}  // namespace
}  // namespace gputm::history::test
