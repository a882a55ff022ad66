// Memories and arrays: what is refused, and with what words.
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"

namespace gputm::api_test {
namespace {

struct memories : testing::Test {
  device d = host_device();
  stream s{d};
  memory<stm> tm{d};
};

TEST_F(memories, an_array_has_elements) {
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.allocate<int>(0); }, {"0 elements", "at least one"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.allocate<int>(0, 0, "stock"); }, {"'stock'", "0 elements"}));
}

TEST_F(memories, an_array_has_a_largest_size) {
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.allocate<int>(std::uint64_t{1} << 40, 0, "stock"); },
                                       {"'stock'", "1099511627776 elements", "4.0 TiB", "4294967295"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.allocate<char>(std::uint64_t{1} << 32); }, {"4294967296 elements"}));
}

TEST_F(memories, a_memory_has_a_largest_number_of_arrays) {
  std::vector<array<int>> arrays;
  for (int k = 0; k < 16; ++k) arrays.push_back(tm.allocate<int>(2, k));
  EXPECT_TRUE(
      throws<invalid_argument>([&] { tm.allocate<int>(2, 0, "one too many"); }, {"'one too many'", "16 arrays"}));
  for (int k = 0; k < 16; ++k) EXPECT_EQ(tm.read(s, arrays[static_cast<std::size_t>(k)], 1), k);
}

TEST_F(memories, words_per_lock_is_a_power_of_two) {
  EXPECT_TRUE(throws<invalid_argument>([&] { memory<stm>(d, {.words_per_lock = 3}); },
                                       {"words_per_lock", "3", "power of two"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { memory<stm>(d, {.words_per_lock = 0}); },
                                       {"words_per_lock", "0", "power of two"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { memory<stm>(d, {.words_per_lock = 12}); }, {"words_per_lock", "12"}));
  for (std::uint32_t n : {1u, 2u, 1024u, 1u << 31}) {
    memory<stm> m(d, {.words_per_lock = n});
    auto a = m.allocate<long>(5, 3L);
    EXPECT_EQ(run(s, m, std::vector<long>{4}, add_to{a}).stats.commits, 1u);
    EXPECT_EQ(m.read(s, a, 0), 7);
  }
}

TEST_F(memories, arrays_belong_to_their_memory) {
  memory<stm> other(d);
  auto mine = tm.allocate<int>(3, 1), theirs = other.allocate<int>(3, 2);
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.read(s, theirs); }, {"reading", "another memory"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.read(s, theirs, 1); }, {"another memory"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.fill(s, theirs, 5); }, {"writing", "another memory"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.read(s, array<int>{}, 0); }, {"another memory"}));
  EXPECT_EQ(tm.read(s, mine), std::vector<int>(3, 1));
  EXPECT_EQ(other.read(s, theirs), std::vector<int>(3, 2));
}

TEST_F(memories, host_access_stays_within_the_array) {
  auto a = tm.allocate<int>(10, 0, "stock");
  const std::vector<int> three{1, 2, 3};
  EXPECT_TRUE(throws<index_out_of_range>([&] { tm.read(s, a, 10); }, {"'stock'", "[10, 11)"}));
  EXPECT_TRUE(throws<index_out_of_range>([&] { tm.write(s, a, three, 8); }, {"[8, 11)", "'stock'", "has 10"}));
  EXPECT_TRUE(throws<index_out_of_range>([&] { tm.write(s, a, three, ~std::uint64_t{0}); }, {"'stock'"}));
  tm.write(s, a, three, 7);
  EXPECT_EQ(tm.read(s, a), (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1, 2, 3}));
  tm.write(s, a, std::vector<int>{}, 10);  // nothing, at the end
}

TEST_F(memories, memory_of_the_callers_is_used_and_left_alone) {
  std::vector<long> mine{40, 50};
  {
    memory<stm> m(d);
    auto a = m.adopt(mine.data(), mine.size(), "mine");
    run(s, m, std::vector<long>{2, 3}, add_to{a});
    EXPECT_EQ(m.read(s, a, 0), 45);
  }
  EXPECT_EQ(mine, (std::vector<long>{45, 50}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.adopt<long>(nullptr, 2); }, {"null"}));
  struct eight_letters {
    char text[8];
  };
  const auto letters = reinterpret_cast<eight_letters*>(reinterpret_cast<char*>(mine.data()) + 3);
  EXPECT_TRUE(
      throws<invalid_argument>([&] { tm.adopt(letters, 1); }, {"3 bytes beyond a multiple of 8", "of 8 bytes"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.adopt(mine.data(), 0); }, {"0 elements"}));
}

TEST_F(memories, no_element_has_two_names) {
  std::vector<long> mine(10);
  tm.adopt(mine.data() + 4, 3, "the middle");
  for (const std::uint64_t first : {2, 4, 5, 6})
    EXPECT_TRUE(throws<invalid_argument>([&] { tm.adopt(mine.data() + first, 3, "another"); },
                                         {"'another'", "'the middle'", "use that array for both"}));
  tm.adopt(mine.data(), 4);
  tm.adopt(mine.data() + 7, 3);
}

struct toggle {
  array<bool> a;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, int i) const {
    GPUTM_TRY(const bool was, tx.load(a[i]));
    GPUTM_TRY(tx.store(a[i], !was));
    return gputm::commit;
  }
};

TEST_F(memories, booleans_are_elements) {
  auto a = tm.allocate<bool>(4, true);
  run(s, tm, std::vector<int>{1, 3}, toggle{a}, {.reads = 1, .writes = 1});
  EXPECT_EQ(tm.read(s, a), (std::vector<bool>{true, false, true, false}));
  tm.fill(s, a, 1);  // whatever converts to one
  EXPECT_EQ(tm.read(s, a), std::vector<bool>(4, true));
}

struct either_way {
  array<int> a;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, int i) const {
    if (i % 2 == 0)
      GPUTM_TRY(tx.store(a[0], i));
    else
      GPUTM_TRY(tx.store(a[1], i));
    return gputm::commit;
  }
};

TEST_F(memories, a_try_is_one_statement) {
  auto a = tm.allocate<int>(2);
  for (int i = 1; i <= 4; ++i) run(s, tm, std::vector<int>{i}, either_way{a}, {.reads = 0, .writes = 1});
  EXPECT_EQ(tm.read(s, a), (std::vector<int>{4, 3}));
}

struct in_the_middle {
  const std::function<void()>* act;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx&, long) const {
    (*act)();
    return gputm::commit;
  }
};

TEST_F(memories, a_host_device_has_one_launch_at_a_time) {
  auto a = tm.allocate<long>(1);
  std::string message;
  const std::function<void()> again = [&] {
    try {
      run(s, tm, std::vector<long>{1}, add_to{a});
    } catch (const error& e) {
      message = e.what();
    }
  };
  const std::function<void()> elsewhere = [&] { std::thread(again).join(); };
  run(s, tm, std::vector<long>{1}, in_the_middle{&elsewhere});
  EXPECT_NE(message.find("host_device() of its own"), std::string::npos) << message;
}

TEST_F(memories, a_memory_moves) {
  auto a = tm.allocate<long>(2, 5L);
  memory<stm> moved(std::move(tm));
  EXPECT_EQ(run(s, moved, std::vector<long>{1}, add_to{a}).results[0], 5);
  memory<stm> again(d);
  again = std::move(moved);
  EXPECT_EQ(again.read(s, a, 0), 6);
}

TEST_F(memories, what_has_been_moved_from_is_refused) {
  auto a = tm.allocate<long>(2, 5L);
  const memory<stm> moved(std::move(tm));
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  EXPECT_TRUE(throws<invalid_argument>([&] { run(s, tm, std::vector<long>{1}, add_to{a}); }, {"moved from"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { (void)tm.read(s, a); }, {"moved from"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { (void)tm.allocate<long>(2); }, {"moved from"}));
  memory<algorithm::jvstm_gpu> versions{d};
  auto v = versions.allocate<long>(2);
  const memory<algorithm::jvstm_gpu> of_versions(std::move(versions));
  EXPECT_TRUE(throws<invalid_argument>([&] { versions.fill(s, v, 1L); }, {"moved from"}));
  memory<stm> full{d};
  for (std::uint32_t k = 0; k < max_regions; ++k) full.allocate<int>(1);
  const memory<stm> of_full(std::move(full));
  EXPECT_TRUE(throws<invalid_argument>([&] { full.allocate<int>(1); }, {"moved from"}));
  stream gone{d};
  const stream queue(std::move(gone));
  EXPECT_TRUE(throws<invalid_argument>([&] { (void)moved.read(gone, a); }, {"moved from"}));
  device other = host_device();
  const device kept = std::move(other);
  EXPECT_TRUE(throws<invalid_argument>([&] { memory<stm>{other}; }, {"moved from"}));
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(moved.read(s, a, 0), 5);
}

TEST_F(memories, a_stream_of_another_device_is_refused) {
  auto a = tm.allocate<long>(2, 5L);
  const device another = host_device();
  const stream theirs{another};
  EXPECT_TRUE(throws<invalid_argument>([&] { (void)tm.read(theirs, a); }, {"another one", "memory's device"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.write(theirs, a, std::vector<long>{1}); }, {"memory's device"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { tm.fill(theirs, a, 1L); }, {"memory's device"}));
  EXPECT_TRUE(throws<invalid_argument>([&] { run(theirs, tm, std::vector<long>{}, add_to{a}); }, {"memory's device"}));
  EXPECT_EQ(tm.read(s, a, 0), 5);
}

TEST_F(memories, arrays_are_filled) {
  auto a = tm.allocate<std::uint8_t>(9'000'001, 7);  // more than one portion
  std::uint64_t sum = 0;
  for (std::uint8_t x : tm.read(s, a)) sum += x;
  EXPECT_EQ(sum, 7u * 9'000'001);
}

/// Linux would hand it out, and end the process when it is used.
TEST(memory_shortage, the_host_gives_no_more_than_there_is) {
  std::ifstream info("/proc/meminfo");
  std::string what;
  std::size_t kib = 0;
  if (!(info >> what >> kib) || what != "MemTotal:") GTEST_SKIP() << "nobody says how much there is";
  const device d = host_device();
  const std::size_t third = kib / 3 * 1024;
  std::vector<buffer> some;
  EXPECT_TRUE(throws<out_of_memory>(
      [&] {
        for (int k = 0; k < 4; ++k) some.emplace_back(d, third);
      },
      {std::to_string(third) + " bytes", "smaller"}));
  EXPECT_LT(some.size(), 4u);
  some.clear();
  buffer fits(d, std::size_t{1} << 20);
}

/// Whatever runs out of memory, and when, nothing is leaked and what was there before still works.
TEST(memory_shortage, leaks_nothing) {
  auto f = std::make_shared<frugal>();
  const device d{f};
  const stream s{d};
  {
    memory<stm> tm(d);
    const std::size_t before = f->live;
    EXPECT_GT(before, 0u);
    f->budget = 5000;
    EXPECT_TRUE(throws<out_of_memory>([&] { tm.allocate<int>(4000, 0, "large"); }, {"bytes"}));
    EXPECT_EQ(f->live, before);
    auto a = tm.allocate<int>(10, 3);
    EXPECT_EQ(tm.read(s, a, 9), 3);
    for (std::size_t budget = 0; budget < 60'000; budget += 3000) {
      const std::size_t live = f->live;
      f->budget = budget;
      try {
        const auto w = make_workspace<add_to, long>(s, tm, 100, {.capacity = {.reads = 8, .writes = 8}});
        EXPECT_GT(f->live, live);
      } catch (const out_of_memory&) {
      }
      EXPECT_EQ(f->live, live) << "with " << budget << " bytes";
    }
    f->budget = std::size_t{1} << 30;
  }
  EXPECT_EQ(f->live, 0u);
}

/// What a transaction finds in an adopted array of which the owner has changed two elements.
template <class A>
long found_by(bool says_so) {
  const device d = host_device();
  const stream s{d};
  memory<A> tm(d);
  std::vector<long> mine{5, 6};
  const auto a = tm.adopt(mine.data(), mine.size(), "mine");
  run(s, tm, std::vector<long>{1}, add_to{a});
  EXPECT_EQ(mine[0], 6);
  mine[0] = 100;
  if (says_so) tm.changed(s, a, 0, 2);
  return run(s, tm, std::vector<long>{1}, add_to{a}).results[0];
}

TEST_F(memories, an_owner_says_what_it_has_changed_where_there_are_versions) {
  EXPECT_EQ(found_by<stm>(false), 100);
  EXPECT_EQ(found_by<stm>(true), 100);
  EXPECT_EQ(found_by<algorithm::jvstm_gpu>(true), 100);
  EXPECT_EQ(found_by<algorithm::csmv_sh>(true), 100);
  const auto a = tm.allocate<long>(3, 0L, "ours");
  EXPECT_TRUE(throws<index_out_of_range>([&] { tm.changed(s, a, 2, 2); }, {"changing", "'ours'", "has 3"}));
}

}  // namespace
}  // namespace gputm::api_test
