// The cache itself, and that what goes wrong with one is noticed.
#include <gtest/gtest.h>

#include <functional>

#include "cache_replay.hpp"
#include "gputm/algorithm/pr_stm.hpp"
#include "gputm/algorithm/sequential.hpp"
#include "gputm/algorithm/unsafe.hpp"
#include "memcached.hpp"

namespace gputm::workloads_test {
namespace {

using namespace gputm::workloads;

// ---- the checks of a cache at rest

/// A full cache of 2 sets of 2, each item put by a PUT with the number of its slot + 1.
struct states : testing::Test {
  static constexpr std::uint32_t sets = 2, ways = 2;
  cache_state s{ways, std::vector<item_info>(4), std::vector<cache_key>(4), std::vector<cache_value>(4)};
  std::vector<std::uint32_t> ids;

  states() {
    for (std::uint32_t slot = 0; slot < sets * ways; ++slot) put(slot, unused(slot / ways), slot + 1);
  }
  /// A key of this set that is nowhere yet.
  std::uint32_t unused(std::uint32_t set) {
    std::uint32_t id = ids.empty() ? 0 : ids.back() + 1;
    while (cache::set_of(key_of(id), sets) != set) ++id;
    ids.push_back(id);
    return id;
  }
  void put(std::uint32_t slot, std::uint32_t id, std::uint64_t number) {
    s.info[slot] = {cache::tag_of(key_of(id)), 0};
    s.keys[slot] = key_of(id);
    s.values[slot] = value_of(key_of(id), number);
  }
  cache_report look() const {
    return inspect(s, [&](const cache_key& key, std::uint64_t number) {
      return number >= 1 && number <= ids.size() && key.is(key_of(ids[number - 1]));
    });
  }
};

TEST_F(states, a_right_one) {
  EXPECT_TRUE(look().ok()) << look().text();
  EXPECT_EQ(look().items, 4u);
  s.info[1] = {};
  s.keys[1] = {};
  s.values[1] = {};
  EXPECT_TRUE(look().ok()) << look().text();
  EXPECT_EQ(look().items, 3u);
}
TEST_F(states, a_key_twice) {
  put(1, ids[0], 1);
  EXPECT_EQ(look().twice, 1u);
  EXPECT_FALSE(look().ok());
  EXPECT_NE(look().text().find("1 with a key that its set has twice"), std::string::npos);
}
TEST_F(states, a_key_in_another_set) {
  std::swap(s.info[0], s.info[2]);
  std::swap(s.keys[0], s.keys[2]);
  std::swap(s.values[0], s.values[2]);
  EXPECT_EQ(look().misplaced, 2u);
}
TEST_F(states, a_key_under_another_tag) {
  s.info[3].tag ^= 1;
  EXPECT_EQ(look().misplaced, 1u);
}
TEST_F(states, every_bit_of_a_value_counts) {
  for (std::size_t bit = 64; bit < 256; ++bit) {
    cache_value v = s.values[2];
    reinterpret_cast<std::uint64_t*>(&v)[bit / 64] ^= std::uint64_t{1} << bit % 64;
    std::swap(v, s.values[2]);
    EXPECT_EQ(look().torn, 1u) << bit;
    std::swap(v, s.values[2]);
  }
  s.values[2].number ^= 1;  // the number alone is another writer's
  EXPECT_EQ(look().torn, 1u);
}
TEST_F(states, a_value_of_another_key) {
  std::swap(s.values[0], s.values[1]);
  EXPECT_EQ(look().torn, 2u);
}
TEST_F(states, halves_of_two_values) {
  cache_value other = value_of(s.keys[0], 99);
  other.first = s.values[0].first;
  s.values[0] = other;
  EXPECT_EQ(look().torn, 1u);
}
TEST_F(states, an_item_from_nowhere) {
  s.values[0] = value_of(s.keys[0], 77);
  EXPECT_EQ(look().nowhere, 1u);
  s.values[0] = value_of(s.keys[0], 2);  // whole, but PUT 2 was of another key
  EXPECT_EQ(look().nowhere, 1u);
  EXPECT_EQ(look().torn, 0u);
}
TEST_F(states, gaps_and_halves) {
  s.info[0] = {};
  EXPECT_EQ(look().gaps, 1u);
  EXPECT_EQ(look().halves, 1u);
}

// ---- the cache under one transaction after another

/// One operation after another on a cache of one set.
struct one_set : testing::Test {
  static constexpr std::uint32_t ways = 3;
  device d = host_device();
  stream s{d};
  memory<algorithm::sequential> tm{d};
  buffer touched{d, ways * sizeof(std::uint32_t)};
  cache items{tm.allocate<item_info>(ways),
              tm.allocate<cache_key>(ways),
              tm.allocate<cache_value>(ways),
              touched.as<std::uint32_t>(),
              1,
              ways};

  one_set() { d->fill_zero(s.handle(), touched.as<void>(), touched.size()); }
  void put(std::uint32_t id, std::uint32_t number) {
    const std::vector<put_order> orders{{key_of(id), number, number}};
    run(s, tm, orders, cache_put{items}, {.reads = cache_reads(ways), .writes = cache_put::writes});
  }
  /// The number of the PUT whose value it is; 0 if there is none. Stamps with `now`.
  std::uint64_t get(std::uint32_t id, std::uint32_t now) {
    const std::vector<cache_key> keys{key_of(id)};
    const cache_hit h = run(s, tm, keys, cache_get{items}, {.reads = cache_reads(ways)}).results[0];
    if (!h.hit) return 0;
    EXPECT_TRUE(is_whole(keys[0], h.value));
    items.touch(h.slot, now);
    return h.value.number;
  }
};

TEST_F(one_set, gets_what_was_put) {
  EXPECT_EQ(get(5, 0), 0u);
  put(5, 1);
  EXPECT_EQ(get(5, 0), 1u);
  EXPECT_EQ(get(6, 0), 0u);
  put(5, 2);
  EXPECT_EQ(get(5, 0), 2u);
  EXPECT_EQ(tm.read(s, items.info, 1).tag, 0u);  // the second one took the place of the first
}
TEST_F(one_set, the_one_that_was_put_first_goes) {
  for (std::uint32_t id = 0; id < 4; ++id) put(id, id + 1);
  EXPECT_EQ(get(0, 9), 0u);
  for (std::uint32_t id = 1; id < 4; ++id) EXPECT_EQ(get(id, 9), id + 1);
}
TEST_F(one_set, a_get_keeps_an_item) {
  for (std::uint32_t id = 0; id < 3; ++id) put(id, id + 1);
  EXPECT_EQ(get(0, 4), 1u);
  put(3, 5);
  EXPECT_EQ(get(0, 6), 1u);
  EXPECT_EQ(get(1, 6), 0u);
}
TEST_F(one_set, stamps_may_wrap_and_be_ahead) {
  const std::uint32_t late = ~0u - 1;
  put(0, late);
  put(1, late + 1);
  put(2, late + 3);  // 1: after the wrap
  EXPECT_EQ(get(0, late + 20), late);
  put(3, late + 4);  // 2; the stamp of key 0 is ahead of it
  EXPECT_EQ(get(1, late + 21), 0u);
  EXPECT_EQ(get(0, late + 22), late);
}

// ---- what nothing isolates is caught

recording_options contended(std::uint64_t seed) {
  recording_options o;
  o.seed = seed;
  o.launch.blocks = 2;
  o.launch.threads = 4;
  o.launch.history_words = 1 << 13;
  return o;
}

TEST(broken_runs, of_unsafe_are_found) {
  unsigned found = 0;
  for (std::uint32_t k = 0; k < 100; ++k) {
    host::config base;
    base.stack_bytes = 128 * 1024;
    const host::config schedule = host::portfolio(base, 3, k);
    found += !judge(record_cache<algorithm::unsafe>(host_device(schedule), contended(k))).empty();
  }
  EXPECT_GT(found, 20u);
}
TEST(broken_runs, of_unsafe_are_found_by_the_invariants_alone) {
  unsigned found = 0;
  for (std::uint32_t k = 0; k < 200; ++k) {
    host::config base;
    base.stack_bytes = 128 * 1024;
    memcached_options o;
    o.items = 2;
    o.ways = 2;
    o.keys = 4;
    o.get = 30;
    o.seed = k;
    o.amount.transactions = 40;
    o.launch.blocks = 2;
    o.launch.threads = 4;
    found += !memcached<algorithm::unsafe>(host_device(host::portfolio(base, 3, k)), o).run().ok;
  }
  EXPECT_GT(found, 20u);
}

/// A right run with something changed.
struct tampered : testing::Test {
  recorded_cache r = record_cache<algorithm::pr_stm>(host_device(), contended(5));
  bool change(const std::function<bool(cache_hit&)>& act) {
    for (cache_hit& h : r.got)
      if (act(h)) return true;
    return false;
  }
  void expect_found(const std::string& part) {
    const std::string what = judge(r);
    EXPECT_NE(what.find(part), std::string::npos) << what;
  }
};

TEST_F(tampered, nothing) { EXPECT_EQ(judge(r), ""); }
TEST_F(tampered, a_hit_that_was_none) {
  ASSERT_TRUE(change([](cache_hit& h) { return h.hit && !(h.hit = false); }));
  expect_found("misses, and should hit");
}
TEST_F(tampered, a_value_of_another_put) {
  ASSERT_TRUE(change([](cache_hit& h) {
    if (h.hit) ++h.value.number;
    return h.hit;
  }));
  expect_found("not whole");
}
TEST_F(tampered, a_stale_value) {
  // a GET that returned a later value of the same key is told to have returned an earlier one
  for (std::uint32_t k = 0; k < r.got.size(); ++k) {
    cache_hit& h = r.got[k];
    const cache_operation o = r.program(k / r.program.operations, k % r.program.operations);
    for (std::uint32_t other = 0; h.hit && other < r.got.size(); ++other) {
      const cache_operation p = r.program(other / r.program.operations, other % r.program.operations);
      if (p.is_get() || p.id != o.id || p.number == h.value.number) continue;
      h.value = value_of(key_of(o.id), p.number);
      expect_found("and should that of PUT");
      return;
    }
  }
  FAIL() << "no GET of a key that was put twice: choose another seed";
}
TEST_F(tampered, the_end) {
  std::swap(r.last.values[0], r.last.values[1]);
  expect_found("not whole");
}

}  // namespace
}  // namespace gputm::workloads_test
