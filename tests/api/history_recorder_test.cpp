// The history recorder: its capacity, and what it keeps of large elements.
#include <set>

#include "support.hpp"

namespace gputm::api_test {
namespace {

void run_recorded(const launch_config& c, history::history& h) {
  memory<stm> tm(host_device());
  const auto a = tm.allocate<long>(1);
  run<with_history>(stream{tm.on()}, tm, std::vector<long>(100, 1), add_to{a}, {}, c, &h);
}

TEST(history_recorder, says_when_it_is_full) {
  history::history h;
  launch_config c{.blocks = 1, .threads = 4};
  c.history_words = 50;
  EXPECT_TRUE(throws<capacity_exceeded>([&] { run_recorded(c, h); }, {"50 words", "history_words"}));
  c.history_words = 1000;
  run_recorded(c, h);
  std::size_t committed = 0;
  for (const auto& t : h.transactions) committed += t.how == history::transaction::ended::committed;
  EXPECT_EQ(committed, 100u);
}

TEST(history_recorder, needs_words_and_they_have_a_limit) {
  history::history h;
  launch_config c{.blocks = 1, .threads = 4};
  EXPECT_TRUE(throws<capacity_exceeded>([&] { run_recorded(c, h); }, {"0 words", "history_words"}));
  c.history_words = (std::uint64_t{1} << 61) + 1;
  EXPECT_TRUE(
      throws<invalid_argument>([&] { run_recorded(c, h); }, {"2305843009213693953", "1099511627776 words a thread"}));
}

TEST(history_recorder, digests_tell_large_elements_apart) {
  struct two {
    std::uint64_t a, b;
  };
  struct odd {
    char of[19];
  };
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 64; ++a)
    for (std::uint64_t b = 0; b < 64; ++b) seen.insert(history_recorder::digest(two{a, b}));
  EXPECT_EQ(seen.size(), 64u * 64u);
  EXPECT_EQ(history_recorder::digest(two{0, 0}), 0u);
  EXPECT_EQ(history_recorder::digest(odd{}), 0u);
  for (int k = 0; k < 19; ++k) {
    odd one{};
    one.of[k] = 1;
    seen.insert(history_recorder::digest(one));
  }
  EXPECT_GE(seen.size(), 64u * 64u + 16);  // {1, 0} and {0, 1} may be among the first
  EXPECT_EQ(history_recorder::digest(std::int32_t{-5}), 0xfffffffbu);
}

}  // namespace
}  // namespace gputm::api_test
