// What every algorithm must do with memcached; instantiated by files that name the algorithms.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cache_replay.hpp"
#include "memcached.hpp"

namespace gputm::workloads_test {

using namespace gputm::workloads;

template <class A>
struct memcached_of : testing::Test {
  static memcached_options options(std::uint64_t items, std::uint32_t ways, double get, std::uint64_t transactions) {
    memcached_options o;
    o.items = items;
    o.ways = ways;
    o.keys = items * 2;
    o.get = get;
    o.amount.transactions = transactions;
    o.launch.blocks = 2;
    o.launch.threads = 16;
    return o;
  }
  /// A run that must hold.
  static measurement run(const memcached_options& o) {
    const measurement m = memcached<A>(host_device(), o).run();
    EXPECT_TRUE(m.ok) << m.invariant;
    EXPECT_EQ(m.stats.commits, o.amount.transactions);
    const double share = 100 * static_cast<double>(m.stats.read_only_commits) / static_cast<double>(m.stats.commits);
    EXPECT_LE(std::abs(share - o.get), 1) << share << " % of the commits are GETs, wanted " << o.get;
    return m;
  }
};
TYPED_TEST_SUITE_P(memcached_of);

TYPED_TEST_P(memcached_of, keeps_its_invariants) {
  for (const double get : {99.8, 90.0, 50.0, 0.0}) this->run(this->options(256, 4, get, 6400));
}
TYPED_TEST_P(memcached_of, one_set_for_all) {
  this->run(this->options(4, 4, 50, 960));
  this->run(this->options(1, 1, 50, 960));
}
TYPED_TEST_P(memcached_of, many_ways) { this->run(this->options(512, 256, 80, 2000)); }
TYPED_TEST_P(memcached_of, popular_and_uniform_keys) {
  for (const double zipf : {0.0, 2.0}) {
    memcached_options o = this->options(64, 4, 75, 1600);
    o.zipf = zipf;
    this->run(o);
  }
}
TYPED_TEST_P(memcached_of, locks_of_many_words) {
  memcached_options o = this->options(64, 4, 50, 1600);
  o.memory.words_per_lock = 8;
  this->run(o);
}
TYPED_TEST_P(memcached_of, by_time_and_again) {
  memcached_options o = this->options(256, 8, 90, 0);
  for (o.amount.seconds = 0.05;; o.amount.seconds *= 10) {
    memcached<TypeParam> cache(host_device(), o);
    bool gets = true;
    for (int k = 0; k < 2; ++k) {
      const measurement m = cache.run();
      EXPECT_TRUE(m.ok) << m.invariant;
      EXPECT_GE(m.seconds, o.amount.seconds);
      gets = gets && m.stats.read_only_commits > 0;
    }
    if (gets) return;
    ASSERT_LT(o.amount.seconds, 5) << "no GET in so many seconds";  // in fewer a busy machine may run none
  }
}
TYPED_TEST_P(memcached_of, gets_return_what_a_sequential_cache_does) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    recording_options o;
    o.sets = 3;
    o.ways = 4;
    o.keys = 30;
    o.operations = 40;
    o.seed = seed;
    o.launch.blocks = 3;
    o.launch.threads = 16;
    o.launch.history_words = 1 << 16;
    EXPECT_EQ(judge(record_cache<TypeParam>(host_device(), o)), "");
  }
}
TYPED_TEST_P(memcached_of, gets_do_so_under_explored_schedules) {
  for (std::uint32_t k = 0; k < 150; ++k) {
    host::config base;
    base.weak_memory = true;
    base.stack_bytes = 128 * 1024;
    base.warp_width = 4;
    const host::config schedule = host::portfolio(base, 11, k, 2);
    recording_options o;
    o.sets = 1 + k % 2;
    o.ways = 1 + k / 2 % 3;
    o.keys = 2 + k % 5;
    o.seed = k;
    o.memory.versions = 2 + k % 3;
    o.memory.record_entries = 8 + k % 3 * 24;
    o.launch.blocks = 1 + k % 2;
    o.launch.threads = 1 + k / 2 % 4;
    o.launch.history_words = 1 << 13;
    ASSERT_EQ(judge(record_cache<TypeParam>(host_device(schedule), o)), "") << "schedule " << k;
  }
}
REGISTER_TYPED_TEST_SUITE_P(memcached_of, keeps_its_invariants, one_set_for_all, many_ways, popular_and_uniform_keys,
                            locks_of_many_words, by_time_and_again, gets_return_what_a_sequential_cache_does,
                            gets_do_so_under_explored_schedules);

struct by_name {
  template <class A>
  static std::string GetName(int number) {  // variants share a name
    return A::name + ("_" + std::to_string(number));
  }
};

}  // namespace gputm::workloads_test
