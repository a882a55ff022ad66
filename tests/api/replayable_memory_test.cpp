// Memory of explorations: a seed replays a schedule in another process only if what algorithms hash is the same there.
#include "gputm/host/replayable_memory.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "support.hpp"

namespace {

using gputm::host::replayable_memory;

std::uintptr_t at(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

TEST(replayable_memory, addresses_follow_from_the_order_of_calls) {
  std::vector<std::uintptr_t> before;
  for (int round = 0; round < 3; ++round) {
    replayable_memory memory;
    std::vector<void*> taken;
    for (std::size_t bytes : {100u, 1u, 5'000'000u, 256u}) taken.push_back(memory.allocate(bytes));
    const bool ranged = memory.holds(taken[0]);
    std::vector<std::uintptr_t> now;
    for (void* p : taken) now.push_back(at(p));
    EXPECT_GE(memory.size(taken[2]), 5'000'000u);
    for (void* p : taken) memory.free(p);
    if (!ranged) GTEST_SKIP() << "no range of addresses to be had, as with a sanitizer";
    if (round == 0) before = now;
    EXPECT_EQ(before, now);
    // the same in another process, which has its heap elsewhere
    EXPECT_EQ(now[0] % (std::uintptr_t{4} << 30), 0u);
    EXPECT_EQ(now[0] >> 36, 0x200u);
    EXPECT_EQ(now[1] - now[0], 256u);
  }
}

TEST(replayable_memory, nothing_is_handed_out_twice) {
  replayable_memory memory, other;
  constexpr std::size_t bytes = 300;
  std::vector<void*> taken;
  for (replayable_memory* m : {&memory, &other, &memory, &other}) {
    taken.push_back(m->allocate(bytes));
    ASSERT_NE(taken.back(), nullptr);
    EXPECT_EQ(at(taken.back()) % 256, 0u);
    std::memset(taken.back(), static_cast<int>(taken.size()), bytes);
  }
  memory.free(taken[0]);  // the one behind it is still in use
  void* const late = memory.allocate(bytes);
  std::memset(late, 9, bytes);
  for (std::size_t i = 1; i < taken.size(); ++i)
    for (std::size_t k = 0; k < bytes; ++k) ASSERT_EQ(static_cast<unsigned char*>(taken[i])[k], i + 1);
  memory.free(taken[2]);
  memory.free(late);
  other.free(taken[1]);
  other.free(taken[3]);
}

TEST(replayable_memory, what_comes_and_goes_takes_no_more_and_more) {
  replayable_memory memory;
  void* const stays = memory.allocate(1000);
  constexpr std::size_t large = std::size_t{100} << 20;
  void* const first = memory.allocate(large);
  std::memset(first, 1, large);
  memory.free(first);
  for (int i = 0; i < 100; ++i) {  // more than the range holds, one behind the other
    void* const again = memory.allocate(large);
    EXPECT_EQ(memory.holds(again), memory.holds(stays));
    EXPECT_TRUE(first == again || !memory.holds(again)) << i;
    memory.free(again);
  }
  memory.free(stays);
}

TEST(replayable_memory, without_a_range_it_is_memory_of_the_heap) {
  std::vector<std::unique_ptr<replayable_memory>> many;
  for (int i = 0; i < 20; ++i) many.push_back(std::make_unique<replayable_memory>());
  void* const p = many.back()->allocate(1000);
  ASSERT_NE(p, nullptr);
  EXPECT_FALSE(many.back()->holds(p));
  EXPECT_GE(many.back()->size(p), 1000u);
  std::memset(p, 1, 1000);
  many.back()->free(p);
  EXPECT_EQ(many.back()->allocate(~std::size_t{0}), nullptr);
}

TEST(replayable_memory, is_what_exploring_devices_have) {
  std::vector<const void*> places;
  for (int round = 0; round < 2; ++round) {
    gputm::host::config c;
    c.schedule = gputm::host::scheduler::random;
    const gputm::device d = gputm::host_device(c);
    void* const p = d->allocate(4096);
    places.push_back(p);
    d->free(p);
    const auto disturbance = std::make_unique<char[]>(100'000);
  }
  if (at(places[0]) >> 36 != 0x200u) GTEST_SKIP() << "no range of addresses to be had, as with a sanitizer";
  EXPECT_EQ(places[0], places[1]);
}

}  // namespace
