// Data races under weak memory: each kind is found and names both lines; ordered accesses are left alone.
#include <vector>

#include "support.hpp"

namespace gputm::simt_test {
namespace {

constexpr order relaxed = order::relaxed, acquire = order::acquire, release = order::release;

class races : public litmus {
 protected:
  void lock() {
    for (std::uint32_t free = 0; !atomic(m.y).compare_exchange(free, 1, acquire); free = 0) backoff();
  }
  void unlock() { atomic(m.y).store(0, release); }
};

TEST_F(races, write_and_read) {
  const unsigned line = __LINE__ + 1;
  const auto write = [&] { plain_store(m.x, 1u); };
  const auto read = [&] { (void)plain_load(m.x); };
  const report r = first_failure(placed::apart, {write, read});
  EXPECT_TRUE(says(r, verdict::race, "data race: "));
  EXPECT_TRUE(says(r, verdict::race, "block 0 thread 0: plain store at " + place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::race, "block 1 thread 0: plain load at " + place(__FILE__, line + 1)));
}

TEST_F(races, in_both_orders) {
  // A read that comes first races with the write just as well.
  unsigned write_last = 0, read_last = 0;
  executor device;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const report r = device.run(exploring(scheduler::random, true, seed), 2, 1, [&] {
      if (block_rank() == 0)
        plain_store(m.x, 1u);
      else
        (void)plain_load(m.x);
    });
    ASSERT_EQ(r.result, verdict::race);
    write_last += r.what.find("data race: block 0") == 0;
    read_last += r.what.find("data race: block 1") == 0;
  }
  EXPECT_GT(write_last, 0u);
  EXPECT_GT(read_last, 0u);
}

TEST_F(races, write_and_write) {
  const auto write = [&] { plain_store(m.x, 1u); };
  EXPECT_TRUE(says(first_failure(placed::together, {write, write}), verdict::race, "plain store"));
}

TEST_F(races, streaming_accesses_are_plain_ones) {
  const unsigned line = __LINE__ + 1;
  const auto write = [&] { streaming_store(m.x, 1u); };
  const auto read = [&] { (void)streaming_load(m.x); };
  const report r = first_failure(placed::apart, {write, read});
  EXPECT_TRUE(says(r, verdict::race, "block 0 thread 0: plain store at " + place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::race, "block 1 thread 0: plain load at " + place(__FILE__, line + 1)));
  EXPECT_OK(first_failure(placed::apart, {read, read}));
}

TEST_F(races, plain_and_atomic) {
  const auto load = [&] { (void)atomic(m.x).load(acquire); };
  const auto add = [&] { (void)atomic(m.x).fetch_add(1, relaxed); };
  const auto plain_read = [&] { (void)plain_load(m.x); };
  const auto plain_write = [&] { plain_store(m.x, 1u); };
  EXPECT_TRUE(says(first_failure(placed::apart, {load, plain_write}), verdict::race, "plain store"));
  EXPECT_TRUE(says(first_failure(placed::apart, {add, plain_write}), verdict::race, "read-modify-write"));
  EXPECT_TRUE(says(first_failure(placed::apart, {add, plain_read}), verdict::race, "plain load"));
  EXPECT_OK(first_failure(placed::apart, {load, plain_read}));
  EXPECT_OK(first_failure(placed::apart, {plain_read, plain_read}));
  EXPECT_OK(first_failure(placed::apart, {load, add}));
}

TEST_F(races, having_read_a_value_is_not_enough) {
  // The reader has seen the store, but with a relaxed load: nothing orders its plain load.
  const report r = first_failure(placed::apart, {[&] { atomic(m.x).store(1, relaxed); },
                                                 [&] {
                                                   while (atomic(m.x).load(relaxed) == 0) backoff();
                                                   (void)plain_load(m.x);
                                                 }});
  EXPECT_TRUE(says(r, verdict::race, "plain load"));
}

TEST_F(races, every_earlier_writer_counts_not_only_the_last) {
  const report r = first_failure(placed::apart, {[&] { atomic(m.x).store(1, relaxed); },
                                                 [&] {
                                                   while (atomic(m.x).load(relaxed) == 0) backoff();
                                                   atomic(m.x).store(2, relaxed);
                                                   atomic(m.y).store(1, release);
                                                 },
                                                 [&] {
                                                   while (atomic(m.y).load(acquire) == 0) backoff();
                                                   (void)plain_load(m.x);
                                                 }});
  EXPECT_TRUE(says(r, verdict::race, "block 0 thread 0: store"));
}

TEST_F(races, write_after_read_needs_the_readers_release) {
  const auto run = [&](order o) {
    return first_failure(placed::apart, {[&] { (void)plain_load(m.x), atomic(m.y).store(1, o); },
                                         [&] {
                                           while (atomic(m.y).load(acquire) == 0) backoff();
                                           plain_store(m.x, 1u);
                                         }});
  };
  EXPECT_OK(run(release));
  EXPECT_TRUE(says(run(relaxed), verdict::race, "not ordered after block 0 thread 0: plain load"));
}

TEST_F(races, a_plain_access_is_remembered_beside_an_atomic_one) {
  const report r = first_failure(placed::apart, {[&] {
                                                   (void)plain_load(m.x);
                                                   (void)atomic(m.x).load(relaxed);
                                                   atomic(m.z).store(1, relaxed);
                                                 },
                                                 [&] {
                                                   while (atomic(m.z).load(relaxed) == 0) backoff();
                                                   atomic(m.x).store(1, relaxed);
                                                 }});
  EXPECT_TRUE(says(r, verdict::race, "not ordered after block 0 thread 0: plain load"));
}

TEST_F(races, a_lock_orders_what_it_guards) {
  const auto add = [&] {
    for (int i = 0; i < 4; ++i) {
      lock();
      plain_store(m.x, plain_load(m.x) + 1);
      unlock();
    }
  };
  EXPECT_EQ(count(
                placed::apart, {add, add, add}, [&] { return m.x != 12; }, 300),
            0u);
}

TEST_F(races, a_lock_with_a_relaxed_end_does_not) {
  const auto add = [&](order take, order give) {
    return [this, take, give] {
      for (std::uint32_t free = 0; !atomic(m.y).compare_exchange(free, 1, take); free = 0) backoff();
      plain_store(m.x, plain_load(m.x) + 1);
      atomic(m.y).store(0, give);
    };
  };
  const auto both = [&](order take, order give) {
    return first_failure(placed::apart, {add(take, give), add(take, give)});
  };
  EXPECT_OK(both(acquire, release));
  EXPECT_EQ(both(acquire, relaxed).result, verdict::race);
  EXPECT_EQ(both(relaxed, release).result, verdict::race);
}

TEST_F(races, fences_order_plain_data) {
  const auto run = [&](bool fenced) {
    return first_failure(placed::apart, {[&, fenced] {
                                           plain_store(m.x, 1u);
                                           if (fenced) fence(release);
                                           atomic(m.y).store(1, relaxed);
                                         },
                                         [&] {
                                           while (atomic(m.y).load(relaxed) == 0) backoff();
                                           fence(acquire);
                                           check(plain_load(m.x) == 1, "the value");
                                         }});
  };
  EXPECT_OK(run(true));
  EXPECT_EQ(run(false).result, verdict::race);
}

TEST_F(races, a_word_initialised_plainly_and_released_is_fine) {
  EXPECT_OK(first_failure(placed::apart, {[&] {
                                            plain_store(m.x, 1u);
                                            atomic(m.x).store(2, release);
                                            atomic(m.y).store(1, release);
                                          },
                                          [&] {
                                            while (atomic(m.y).load(acquire) == 0) backoff();
                                            check(atomic(m.x).load(relaxed) == 2, "the value");
                                          }}));
}

TEST_F(races, a_thread_does_not_race_with_itself) {
  EXPECT_OK(first_failure(placed::apart, {[&] {
                            plain_store(m.x, 1u);
                            (void)atomic(m.x).fetch_add(1, relaxed);
                            check(plain_load(m.x) == 2, "the value");
                          }}));
}

TEST_F(races, memory_on_a_threads_stack_is_its_own) {
  // Threads run on one another's stacks; their variables have nothing to do with each other.
  const auto body = [] {
    std::uint32_t log[16];
    for (std::uint32_t& word : log) plain_store(word, grid_thread_rank());
    backoff();
    for (const std::uint32_t& word : log) check(plain_load(word) == grid_thread_rank(), "its own");
    std::uint64_t wider = 1;
    check(atomic(wider).fetch_add(1, relaxed) == 1 && plain_load(wider) == 2, "its own");
  };
  executor device;
  config c = exploring(scheduler::random, true);
  for (const double p : {0.0, 0.1, 1.0}) {
    c.switch_probability = p;
    for (const unsigned resident : {0u, 1u}) {
      c.max_resident_blocks = resident;
      EXPECT_OK(device.run(c, 5, 3, body));
    }
  }
}

TEST_F(races, host_code_before_and_after_a_run_is_ordered_with_it) {
  executor device;
  m.x = 41;
  EXPECT_OK(device.run(exploring(scheduler::random, true), 1, 1, [&] { plain_store(m.x, plain_load(m.x) + 1); }));
  EXPECT_EQ(m.x, 42u);
  m.x = 1;
  EXPECT_OK(device.run(exploring(scheduler::random, true), 2, 1, [&] { check(plain_load(m.x) == 1, "host's"); }));
}

TEST_F(races, different_sizes_on_the_same_bytes_are_reported) {
  alignas(8) std::uint32_t w[2] = {};
  const unsigned line = __LINE__ + 2;
  const report r = first_failure(placed::apart, {[&] {
                                   (void)atomic(w[1]).load(relaxed);
                                   (void)atomic(reinterpret_cast<std::uint64_t&>(w)).load(relaxed);
                                 }});
  EXPECT_TRUE(says(r, verdict::check_failed, "different sizes"));
  EXPECT_TRUE(says(r, verdict::check_failed, "4 bytes, load at " + place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::check_failed, "8 bytes, block 0 thread 0: load at " + place(__FILE__, line + 1)));
}

TEST_F(races, neighbours_of_different_sizes_are_fine) {
  struct alignas(8) {
    std::uint32_t a;
    std::uint16_t b;
    std::uint8_t c, d;
  } w{1, 2, 3, 4};
  EXPECT_OK(first_failure(placed::apart, {[&] {
                            (void)atomic(w.a).fetch_add(1, relaxed);
                            (void)atomic(w.d).fetch_add(1, relaxed);
                            (void)atomic(w.b).fetch_add(1, relaxed);
                            (void)atomic(w.c).fetch_add(1, relaxed);
                          }},
                          1));
  EXPECT_EQ(w.a, 2u);
  EXPECT_EQ(w.b, 3u);
  EXPECT_EQ(w.c, 4u);
  EXPECT_EQ(w.d, 5u);
}

TEST_F(races, writing_behind_the_models_back_is_reported) {
  const unsigned line = __LINE__ + 4;
  const report r = first_failure(placed::apart, {[&] {
                                   plain_store(m.x, 1u);
                                   m.x = 7;
                                   (void)plain_load(m.x);
                                 }});
  EXPECT_TRUE(says(r, verdict::check_failed, "something other than atomic_ref or plain_store"));
  EXPECT_TRUE(says(r, verdict::check_failed, "plain load at " + place(__FILE__, line)));
  EXPECT_TRUE(says(r, verdict::check_failed, "last store at " + place(__FILE__, line - 2)));
}

}  // namespace
}  // namespace gputm::simt_test
