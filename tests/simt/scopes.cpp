// Litmus tests of scopes, barriers and warp collectives: who orders whom.
#include "support.hpp"

namespace gputm::simt_test {
namespace {

constexpr order relaxed = order::relaxed, acquire = order::acquire, release = order::release, seq_cst = order::seq_cst;

class scopes : public litmus {
 protected:
  bool passed_stale() const { return m.r[0] == 1 && m.r[1] == 0; }

  /// Message passing whose flag and fences have these scopes.
  template <scope Flag, scope Write, scope Read>
  unsigned mp_fenced(placed where) {
    return count(where,
                 {[&] {
                    atomic(m.x).store(1, relaxed);
                    fence<Write>(release);
                    atomic<Flag>(m.y).store(1, relaxed);
                  },
                  [&] {
                    m.r[0] = atomic<Flag>(m.y).load(relaxed);
                    fence<Read>(acquire);
                    m.r[1] = atomic(m.x).load(relaxed);
                  }},
                 [&] { return passed_stale(); });
  }
  template <scope First, scope Second>
  unsigned sb_fenced(placed where) {
    return count(where,
                 {[&] { atomic(m.x).store(1, relaxed), fence<First>(seq_cst), m.r[0] = atomic(m.y).load(relaxed); },
                  [&] { atomic(m.y).store(1, relaxed), fence<Second>(seq_cst), m.r[1] = atomic(m.x).load(relaxed); }},
                 [&] { return m.r[0] == 0 && m.r[1] == 0; });
  }
};

TEST_F(scopes, block_scope_suffices_within_a_block) {
  EXPECT_EQ(count(placed::together,
                  {[&] { atomic<scope::block>(m.x).store(1, relaxed), atomic<scope::block>(m.y).store(1, release); },
                   [&] {
                     m.r[0] = atomic<scope::block>(m.y).load(acquire);
                     m.r[1] = atomic<scope::block>(m.x).load(relaxed);
                   }},
                  [&] { return passed_stale(); }),
            0u);
}

TEST_F(scopes, an_access_of_block_scope_across_blocks_is_reported) {
  const unsigned line = __LINE__ + 1;
  const auto store = [&] { atomic<scope::block>(m.y).store(1, release); };
  const auto load = [&] { (void)atomic(m.y).load(acquire); };
  const report r = first_failure(placed::apart, {store, load});
  EXPECT_TRUE(says(r, verdict::race, "scope too narrow: "));
  EXPECT_TRUE(says(r, verdict::race, "store at " + place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::race, "load at " + place(__FILE__, line + 1)));
  EXPECT_TRUE(says(r, verdict::race, "block 1 thread 0"));
}

TEST_F(scopes, whoever_comes_second_an_access_of_block_scope_is_reported) {
  const report r = first_failure(placed::apart, {[&] {
                                                   atomic<scope::block>(m.y).store(1, relaxed);
                                                   atomic(m.z).store(1, relaxed);
                                                 },
                                                 [&] {
                                                   while (atomic(m.z).load(relaxed) == 0) backoff();
                                                   (void)atomic(m.y).load(relaxed);
                                                 }});
  EXPECT_TRUE(says(r, verdict::race, "scope too narrow: block 1 thread 0: load"));
}

TEST_F(scopes, a_reader_of_block_scope_across_blocks_is_reported) {
  const report r = first_failure(placed::apart, {[&] { (void)atomic(m.y).fetch_add(1, relaxed); },
                                                 [&] { (void)atomic<scope::block>(m.y).load(relaxed); }});
  EXPECT_TRUE(says(r, verdict::race, "scope too narrow: "));
}

TEST_F(scopes, system_scope_is_at_least_device_scope) {
  EXPECT_EQ((mp_fenced<scope::system, scope::device, scope::system>(placed::apart)), 0u);
}

TEST_F(scopes, a_fence_of_block_scope_orders_within_a_block_only) {
  EXPECT_EQ((mp_fenced<scope::device, scope::device, scope::device>(placed::apart)), 0u);
  EXPECT_GT((mp_fenced<scope::device, scope::block, scope::device>(placed::apart)), 0u);
  EXPECT_GT((mp_fenced<scope::device, scope::device, scope::block>(placed::apart)), 0u);
  EXPECT_EQ((mp_fenced<scope::device, scope::block, scope::block>(placed::together)), 0u);
  EXPECT_EQ((mp_fenced<scope::block, scope::block, scope::device>(placed::together)), 0u);
}

TEST_F(scopes, seq_cst_fences_meet_only_if_their_scopes_hold_both_threads) {
  EXPECT_EQ((sb_fenced<scope::device, scope::device>(placed::apart)), 0u);
  EXPECT_GT((sb_fenced<scope::block, scope::device>(placed::apart)), 0u);
  EXPECT_GT((sb_fenced<scope::block, scope::block>(placed::apart)), 0u);
  EXPECT_EQ((sb_fenced<scope::block, scope::block>(placed::together)), 0u);
  EXPECT_EQ((sb_fenced<scope::block, scope::device>(placed::together)), 0u);
}

TEST_F(scopes, a_release_sequence_keeps_the_scope_of_its_release) {
  // Thread 0 releases for its block; thread 2, in another one, continues the sequence; thread 3 is in the
  // block of thread 2, and nothing orders it after thread 0.
  const auto stale = [&](auto release_fence) {
    unsigned hits = 0;
    executor device;
    for (unsigned seed = 1; seed <= 2000; ++seed) {
      m = {};
      EXPECT_OK(device.run(exploring(scheduler::random, true, seed), 2, 2, [&] {
        if (grid_thread_rank() == 0) {
          atomic(m.x).store(1, relaxed);
          release_fence();
          atomic(m.y).store(1, relaxed);
        } else if (grid_thread_rank() == 2) {
          (void)atomic(m.y).fetch_add(1, relaxed);
        } else if (grid_thread_rank() == 3) {
          m.r[0] = atomic(m.y).load(acquire);
          m.r[1] = atomic(m.x).load(relaxed);
        }
      }));
      hits += m.r[0] == 2 && m.r[1] == 0;
    }
    return hits;
  };
  EXPECT_EQ(stale([] { fence<scope::device>(release); }), 0u);
  EXPECT_GT(stale([] { fence<scope::block>(release); }), 0u);
}

TEST_F(scopes, an_acquire_of_block_scope_takes_over_nothing_of_another_block) {
  // Thread 0 releases; thread 2, in another block, continues the sequence; thread 3 reads what its neighbour has
  // stored.
  const auto first_failure = [&](auto read) {
    executor device;
    report r;
    for (unsigned seed = 1; seed <= 500 && r; ++seed) {
      m = {};
      r = device.run(exploring(scheduler::random, true, seed), 2, 2, [&] {
        if (grid_thread_rank() == 0) {
          plain_store(m.x, 1u);
          atomic(m.y).store(1, release);
        } else if (grid_thread_rank() == 2) {
          (void)atomic(m.y).fetch_add(1, relaxed);
        } else if (grid_thread_rank() == 3) {
          if (read() == 2) check(plain_load(m.x) == 1, "what was released");
        }
      });
    }
    return r;
  };
  EXPECT_OK(first_failure([&] { return atomic(m.y).load(acquire); }));
  EXPECT_TRUE(says(first_failure([&] {
                     const std::uint32_t y = atomic(m.y).load(relaxed);
                     fence<scope::block>(acquire);
                     return y;
                   }),
                   verdict::race, "data race"));
}

// ---- barriers --------------------------------------------------------------------------------

TEST_F(scopes, the_block_barrier_publishes_plain_data) {
  EXPECT_EQ(count(placed::together,
                  {[&] { plain_store(m.x, 1u), sync_block(); }, [&] { sync_block(), m.r[0] = plain_load(m.x); }},
                  [&] { return m.r[0] != 1; }),
            0u);
}

TEST_F(scopes, the_block_barrier_orders_relaxed_accesses) {
  EXPECT_EQ(count(placed::together,
                  {[&] { atomic(m.x).store(1, relaxed), sync_block(), m.r[0] = atomic(m.y).load(relaxed); },
                   [&] { atomic(m.y).store(1, relaxed), sync_block(), m.r[1] = atomic(m.x).load(relaxed); }},
                  [&] { return m.r[0] != 1 || m.r[1] != 1; }),
            0u);
}

TEST_F(scopes, sync_warp_publishes_plain_data) {
  const auto body = [&] {
    if (lane() == 0) plain_store(m.x, 1u);
    sync_warp();
    if (lane() == 1) m.r[0] = plain_load(m.x);
  };
  EXPECT_EQ(count(placed::together, {body, body}, [&] { return m.r[0] != 1; }), 0u);
}

// A relaxed store before `meet` and a relaxed load after it.
template <class Meet>
auto exchange(words& m, Meet meet) {
  return [&m, meet] {
    std::uint32_t& mine = lane() == 0 ? m.x : m.y;
    std::uint32_t& other = lane() == 0 ? m.y : m.x;
    atomic(mine).store(1, relaxed);
    meet();
    m.r[lane()] = atomic(other).load(relaxed);
  };
}

TEST_F(scopes, ballot_and_shfl_order_nothing) {
  const auto stale = [&] { return m.r[0] == 0 || m.r[1] == 0; };
  const auto with = [&](auto meet) {
    const auto body = exchange(m, meet);
    return count(placed::together, {body, body}, stale);
  };
  EXPECT_EQ(with([] { sync_warp(); }), 0u);
  EXPECT_EQ(with([] { sync_block(); }), 0u);
  EXPECT_GT(with([] { (void)ballot(full_mask, true); }), 0u);
  EXPECT_GT(with([] { (void)shfl(full_mask, 1, 0); }), 0u);
  EXPECT_GT(with([] { (void)match_any(full_mask, 1); }), 0u);
}

TEST_F(scopes, plain_data_across_a_ballot_is_a_race) {
  const auto with = [&](auto meet) {
    const auto body = [this, meet] {
      if (lane() == 0) plain_store(m.x, 1u);
      meet();
      if (lane() == 1) m.r[0] = plain_load(m.x);
    };
    return first_failure(placed::together, {body, body});
  };
  EXPECT_OK(with([] { sync_warp(); }));
  EXPECT_TRUE(
      says(with([] { (void)ballot(full_mask, true); }), verdict::race, "data race: block 0 thread 1: plain load"));
}

TEST_F(scopes, barriers_are_cumulative_with_a_release) {
  const auto kernel = [&](auto publish) {
    return count(
        placed::apart,
        {[&] { plain_store(m.x, 1u), publish(); },
         [&] {
           while (atomic(m.y).load(acquire) == 0) backoff();
           m.r[0] = plain_load(m.x);
         }},
        [&] { return m.r[0] != 1; }, 300);
  };
  EXPECT_EQ(kernel([&] { atomic(m.y).store(1, release); }), 0u);

  // Thread 0 of a block writes, thread 1 of it publishes for both, another block reads.
  executor device;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    m = {};
    const report r = device.run(exploring(scheduler::random, true, seed), 2, 2, [&] {
      if (block_rank() == 0) {
        if (thread_rank() == 0) plain_store(m.x, 1u);
        sync_block();
        if (thread_rank() == 1) atomic(m.y).store(1, release);
      } else if (thread_rank() == 0) {
        while (atomic(m.y).load(acquire) == 0) backoff();
        check(plain_load(m.x) == 1, "the other thread's write");
      }
    });
    ASSERT_EQ(r.result, verdict::ok) << r.what;
  }
}

}  // namespace
}  // namespace gputm::simt_test
