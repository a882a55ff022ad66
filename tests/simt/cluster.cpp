// Clusters: blocks that reach each other's shared memory, in every mode.
#include "support.hpp"

namespace gputm::simt_test {
namespace {

constexpr std::uint32_t blocks = 6;

class clusters : public in_every_mode {
 protected:
  void SetUp() override {
    settings.cluster_blocks = 3;
    settings.dynamic_shared_bytes = 16;
  }
  std::uint32_t arrived = 0;

  /// One thread of each block: waits for those of all others.
  void meet(std::uint32_t times) {
    atomic(arrived).fetch_add(1, order::acq_rel);  // acq_rel, and the acquire: a barrier
    (void)await_at_least(arrived, times * blocks);
  }
  static std::uint32_t rank() { return block_rank() % 3; }
  static std::uint32_t& word_of(std::uint32_t rank) {
    return *reinterpret_cast<std::uint32_t*>(dynamic_shared_of(rank));
  }
};
GPUTM_IN_EVERY_MODE(clusters);

TEST_P(clusters, share_the_memory_of_their_blocks) {
  EXPECT_OK(run(blocks, 1, [&] {
    check(&word_of(rank()) == static_cast<void*>(dynamic_shared()), "a block's own");
    plain_store(word_of(rank()), 100 * block_rank());
    meet(1);
    for (std::uint32_t r = 0; r < 3; ++r) atomic(word_of(r)).fetch_add(1, order::relaxed);
    meet(2);
    for (std::uint32_t r = 0; r < 3; ++r)
      check(plain_load(word_of(r)) == 100 * (block_rank() - rank() + r) + 3, "each of the cluster was here");
    meet(3);
  }));
}

TEST_P(clusters, may_be_started_one_block_after_another) {
  EXPECT_OK(run(blocks, 2, [&] {  // who asks first waits for the others
    check(dynamic_shared_of(2) != dynamic_shared_of(1), "of different blocks");
    sync_block();
    if (thread_rank() == 0) meet(1);
  }));
}

TEST_P(clusters, have_so_many_blocks) {
  const report r = run(blocks, 1, [] { (void)dynamic_shared_of(3); });
  EXPECT_TRUE(says(r, verdict::check_failed, "shared memory of block 3 of a cluster of 3"));
  settings.cluster_blocks = 1;
  EXPECT_TRUE(says(run(2, 1, [] { (void)dynamic_shared_of(1); }), verdict::check_failed, "cluster of 1"));
}

TEST_P(clusters, are_as_long_there_as_their_blocks) {
  std::uint32_t later = 0;
  const report r = run(3, 1, [&] {
    if (rank() == 0) return;
    for (int i = 0; i < 10'000; ++i) {
      (void)dynamic_shared_of(0);
      progress();
      backoff();
      atomic(later).fetch_add(1, order::relaxed);
    }
  });
  EXPECT_TRUE(says(r, verdict::check_failed, "shared memory of block 0, which has ended"));
}

class clusters_under_weak_memory : public testing::Test {
 protected:
  /// What comes of two blocks, of which the first stores to a word of its own, and the second runs `act` on it.
  static report second(void (*act)(std::uint32_t& word, const std::uint32_t& stored), bool first_waits) {
    config c = exploring(scheduler::random, true);
    c.cluster_blocks = 2;
    c.dynamic_shared_bytes = 4;
    std::uint32_t stored = 0, done = 0;
    executor device;
    return device.run(c, 2, 1, [&] {
      auto& word = *reinterpret_cast<std::uint32_t*>(dynamic_shared_of(0));
      if (block_rank() == 0) {
        atomic(word).store(1, order::relaxed);
        atomic(stored).store(1, order::release);  // pairs with the acquire in act()
        while (first_waits && atomic(done).load(order::acquire) == 0) backoff();
      } else {
        act(word, stored);
        atomic(done).store(1, order::release);
      }
    });
  }
};

TEST_F(clusters_under_weak_memory, the_word_has_an_owner_that_must_not_end_before_the_last_access) {
  const auto load = [](std::uint32_t& word, const std::uint32_t& stored) {
    (void)await_at_least(const_cast<std::uint32_t&>(stored), 1);
    for (int i = 0; i < 100; ++i) check(atomic(word).load(order::relaxed) == 1, "the value that was stored");
  };
  EXPECT_OK(second(load, true));
  EXPECT_TRUE(says(second(load, false), verdict::check_failed, "shared memory of a block that has ended"));
}

TEST_F(clusters_under_weak_memory, so_has_one_that_nobody_has_accessed_before) {
  config c = exploring(scheduler::random, true);
  c.cluster_blocks = 2;
  c.dynamic_shared_bytes = 64;
  // With two blocks at once another one begins where that has ended.
  for (const auto& [resident, blocks] : {std::pair{0u, 2u}, {2u, 4u}}) {
    c.max_resident_blocks = resident;
    std::uint32_t found = 0, over = 0;
    const report r = executor().run(c, blocks, 1, [&] {
      auto* const own = reinterpret_cast<std::uint32_t*>(dynamic_shared());
      if (block_rank() == 0) {
        auto* const word = reinterpret_cast<std::uint32_t*>(dynamic_shared_of(1)) + 3;
        atomic(found).store(1, order::release);
        for (int i = 0; i < 100; ++i) backoff();
        atomic(*word).store(7, order::relaxed);
        atomic(over).store(1, order::release);
      } else if (block_rank() == 1) {
        (void)await_at_least(found, 1);
      } else if (block_rank() == 2) {
        (void)await_at_least(over, 1);
        check(atomic(own[3]).load(order::relaxed) != 7, "its own");
      }
    });
    EXPECT_TRUE(says(r, verdict::check_failed, "shared memory of a block that has ended"));
  }
}

TEST_F(clusters_under_weak_memory, block_scope_does_not_reach_another_block) {
  const auto load = [](std::uint32_t& word, const std::uint32_t&) {
    (void)atomic<scope::block>(word).load(order::relaxed);
  };
  EXPECT_TRUE(says(second(load, true), verdict::race, "scope too narrow"));
}

}  // namespace
}  // namespace gputm::simt_test
