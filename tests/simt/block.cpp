// The block barrier and shared memory, in every mode.
#include <cstring>

#include "support.hpp"

namespace gputm::simt_test {
namespace {

struct table {
  std::uint32_t v[96];
};
struct first_name;
struct second_name;

class barrier : public in_every_mode {};
GPUTM_IN_EVERY_MODE(barrier);

TEST_P(barrier, separates_what_is_before_from_what_is_after) {
  EXPECT_OK(run(2, 96, [] {
    auto& t = shared<first_name, table>();
    for (std::uint32_t round = 0; round < 4; ++round) {
      plain_store(t.v[thread_rank()], round + thread_rank());
      sync_block();
      const std::uint32_t other = (thread_rank() + 17) % 96;
      check(plain_load(t.v[other]) == round + other, "the value from before the barrier");
      sync_block();
    }
  }));
}

TEST_P(barrier, counts_predicates) {
  EXPECT_OK(run(2, 50, [] {
    for (std::uint32_t k : {0u, 1u, 33u, 50u}) check(sync_block_count(thread_rank() < k) == k, "count");
  }));
}

TEST_P(barrier, does_not_wait_for_threads_that_have_returned) {
  std::uint32_t after = 0;
  EXPECT_OK(run(1, 40, [&] {
    if (thread_rank() % 4 == 3) return;
    sync_block();
    check(sync_block_count(1) == 30, "those who stay");
    atomic(after).fetch_add(1, order::relaxed);
  }));
  EXPECT_EQ(after, 30u);
}

class shared_storage : public in_every_mode {};
GPUTM_IN_EVERY_MODE(shared_storage);

TEST_P(shared_storage, starts_poisoned_in_every_block_and_run) {
  settings.dynamic_shared_bytes = 64;
  settings.max_resident_blocks = 2;  // so that later blocks inherit the memory of earlier ones
  for (int again = 0; again < 2; ++again)
    EXPECT_OK(run(6, 2, [] {
      auto& t = shared<first_name, table>();
      auto& d = *reinterpret_cast<std::uint32_t*>(dynamic_shared());
      if (thread_rank() == 0) {
        check(plain_load(t.v[3]) == 0xCDCDCDCDu && plain_load(d) == 0xCDCDCDCDu, "not initialised");
        plain_store(t.v[3], 1u);
        plain_store(d, 2u);
      }
      sync_block();
      check(plain_load(t.v[3]) == 1 && plain_load(d) == 2, "one object for the block");
    }));
}

TEST_P(shared_storage, objects_are_told_apart_by_name_and_type) {
  EXPECT_OK(run(2, 1, [] {
    auto& a = shared<first_name, table>();
    auto& b = shared<second_name, table>();
    (void)shared<first_name, char>();
    auto& c = shared<first_name, std::uint64_t>();
    check(&a != &b && static_cast<void*>(&a) != &c, "different objects");
    check(&a == &(shared<first_name, table>()), "the same object again");
    check(reinterpret_cast<std::uintptr_t>(&c) % alignof(std::uint64_t) == 0, "aligned");
    check(reinterpret_cast<std::uintptr_t>(dynamic_shared()) % 16 == 0, "dynamic memory is aligned");
  }));
}

TEST_P(shared_storage, blocks_do_not_share) {
  EXPECT_OK(run(4, 1, [] {
    auto& own = shared<first_name, std::uint32_t>();
    plain_store(own, block_rank());
    for (int i = 0; i < 10; ++i) backoff();
    check(plain_load(own) == block_rank(), "nobody else's");
  }));
}

template <std::size_t Bytes>
struct lump {
  std::byte bytes[Bytes];
};

TEST_P(shared_storage, holds_48_kb_of_named_objects_and_no_more) {
  EXPECT_OK(run(1, 1, [] { std::memset(&shared<first_name, lump<48 * 1024>>(), 0, 48 * 1024); }));
  const unsigned line = __LINE__ + 3;
  const report r = run(1, 1, [] {
    shared<first_name, lump<40'000>>();
    shared<second_name, lump<9'153>>();  // one byte too many
  });
  EXPECT_TRUE(says(r, verdict::check_failed, place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::check_failed, "9153 bytes"));
  EXPECT_TRUE(says(r, verdict::check_failed, "40000 of 49152 bytes"));
}

TEST_P(shared_storage, holds_227_kb_in_all) {
  settings.dynamic_shared_bytes = 227 * 1024;
  EXPECT_OK(run(1, 1, [] { std::memset(dynamic_shared(), 0, 227 * 1024); }));
  EXPECT_TRUE(says(run(1, 1, [] { shared<first_name, std::uint32_t>(); }), verdict::check_failed, "232448"));
}

}  // namespace
}  // namespace gputm::simt_test
