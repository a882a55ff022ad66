// What `check` explores under each schedule: small runs on the host device whose every step is a scheduling
// point. The bank keeps histories, and each is held against what the algorithm promises.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cache_replay.hpp"
#include "random.hpp"
#include "registry.hpp"

namespace gputm::cli {

/// A balance and who wrote it: the history checker knows writers by their values.
struct account {
  std::int32_t balance;
  std::uint32_t writer;
};

struct tagged_order {
  std::uint32_t from, to;
  std::int32_t amount;
  std::uint32_t number;  ///< of the transaction; from 1 on
};

struct tagged_transfer {
  array<account> accounts;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const tagged_order& o) const {
    GPUTM_TRY(account from, tx.load(accounts[o.from]));
    GPUTM_TRY(account to, tx.load(accounts[o.to]));
    GPUTM_TRY(tx.store(accounts[o.from], {from.balance - o.amount, o.number}));
    GPUTM_TRY(tx.store(accounts[o.to], {to.balance + o.amount, o.number}));
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const tagged_order& o) const {
    touch(accounts[o.from]);
    touch(accounts[o.to]);
  }
};

struct tagged_audit {
  static constexpr bool read_only = true;
  using result_type = std::int64_t;
  array<account> accounts;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t first) const {
    std::int64_t sum = 0;
    for (std::uint32_t k = 0; k < accounts.size(); ++k) {
      GPUTM_TRY(account a, tx.load(accounts[(first + k) % accounts.size()]));
      sum += a.balance;
    }
    tx.result(sum);
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    for (std::uint32_t k = 0; k < accounts.size(); ++k) touch(accounts[k]);
  }
};

/// The kernel: every thread runs a few transfers and audits.
struct tagged_client {
  array<account> accounts;
  std::uint32_t transactions;
  std::uint64_t seed;
  std::int64_t total;
  std::uint64_t* wrong_sums;

  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    workloads::generator random(seed, ctx.rank());
    for (std::uint32_t n = 0; n < transactions; ++n) {
      if (random.below(3) == 0) {
        std::int64_t sum = total;
        ctx.transact_into(simt::full_mask, sum, tagged_audit{accounts}, random.below(accounts.size()));
        if (sum != total) simt::atomic(*wrong_sums).fetch_add(1, simt::order::relaxed);
        continue;
      }
      tagged_order o;
      o.from = random.below(accounts.size());
      o.to = (o.from + 1 + random.below(accounts.size() - 1)) % accounts.size();
      o.amount = 1 + static_cast<std::int32_t>(random.below(8));
      o.number = ctx.rank() * transactions + n + 1;
      (void)ctx.transact(simt::full_mask, tagged_transfer{accounts}, o);
    }
  }
};

/// What a schedule runs on.
struct tiny_grid {
  std::uint32_t blocks, threads;
};
inline tiny_grid grid_of(std::uint64_t index) {
  static constexpr tiny_grid grids[] = {{2, 4}, {1, 4}, {2, 2}, {4, 1}, {2, 3}, {1, 3}, {1, 2}};
  return grids[index % std::size(grids)];
}

/// The level that an algorithm promises.
template <Algorithm A>
constexpr history::level promised = A::traits.opaque ? history::level::opaque : history::level::strict;

inline history::location at(const array<account>& a, std::uint32_t i) { return {a.handle() & 255u, i}; }
inline std::uint64_t word_of(const account& a) {
  return std::uint64_t{a.writer} << 32 | static_cast<std::uint32_t>(a.balance);
}

/// What is wrong with the end of a run, and with the history that led there; empty if nothing is. Compiled,
/// in exploration.cpp.
std::string judge(const std::vector<account>& last, std::int64_t total, std::uint64_t wrong_sums,
                  const history::history& record, history::level level);
/// Whether `run` gets through; else what stopped it.
std::string failure_of(const std::function<void()>& run);

template <Algorithm A>
finding explore_bank(const host::config& schedule, std::uint64_t index) {
  constexpr std::int32_t initial = 1000;
  device d = host_device(schedule);
  stream s(d);
  memory<A> tm(d, {.words_per_lock = index % 4 == 3 ? 2u : 1u});
  const std::uint32_t n = 2 + static_cast<std::uint32_t>(index / 2 % 5);
  const auto accounts = tm.template allocate<account>(n, {initial, 0}, "accounts");
  buffer wrong(d, sizeof(std::uint64_t));
  d->fill_zero(s.handle(), wrong.as<void>(), wrong.size());
  const tagged_client client{accounts, 3, schedule.seed, std::int64_t{n} * initial, wrong.as<std::uint64_t>()};
  launch_config shape;
  shape.capacity = {.reads = n, .writes = 2};
  shape.blocks = grid_of(index).blocks;
  shape.threads = grid_of(index).threads;
  shape.history_words = 1 << 13;
  auto w = make_launch_workspace<with_history>(s, tm, shape, client);
  finding f;
  f.what = failure_of([&] {
    launch_async(s, tm, w, client);
    w.collect(s, tm);
  });
  f.stale_reads = last_report(d).stale_reads;
  if (!f.what.empty()) return f;
  w.take_history(s, f.record);
  const std::vector<account> last = tm.read(s, accounts);
  for (std::uint32_t i = 0; i < n; ++i) {
    f.record.initial[at(accounts, i)] = word_of({initial, 0});
    f.record.final[at(accounts, i)] = word_of(last[i]);
  }
  f.what = judge(last, client.total, *wrong.as<std::uint64_t>(), f.record, promised<A>);
  return f;
}

template <Algorithm A>
finding explore_producer_consumer(const host::config& schedule, std::uint64_t index) {
  workloads::producer_consumer_options o;
  o.producers = 1 + index % 3;
  o.consumers = 1 + index / 3 % 3;
  o.values = 2;
  o.buffer = 1 + index / 2 % 3;
  o.memory.words_per_lock = index % 4 == 3 ? 2u : 1u;
  o.launch.threads = 1 + index % 4;
  device d = host_device(schedule);
  workloads::measurement m;
  finding f;
  f.what = failure_of([&] { m = workloads::producer_consumer<A>(d, o).run(); });
  if (f.what.empty() && !m.ok) f.what = m.invariant;
  f.stale_reads = last_report(d).stale_reads;
  return f;
}

/// A recorded run whose GETs are held against a sequential cache; by turns the kernel of `bench`.
template <Algorithm A>
finding explore_memcached(const host::config& schedule, std::uint64_t index) {
  const std::uint32_t sets = 1 + index % 2, ways = 1 + static_cast<std::uint32_t>(index / 2 % 4);
  device d = host_device(schedule);
  finding f;
  if (index % 4 == 3) {
    workloads::memcached_options o;
    o.items = std::uint64_t{sets} * ways;
    o.ways = ways;
    o.keys = o.items + 2;
    o.get = 50;
    o.seed = schedule.seed;
    o.memory.words_per_lock = index % 8 == 3 ? 2u : 1u;
    o.amount.transactions = 24;
    o.launch.blocks = grid_of(index).blocks;
    o.launch.threads = grid_of(index).threads;
    workloads::measurement m;
    f.what = failure_of([&] { m = workloads::memcached<A>(d, o).run(); });
    if (f.what.empty() && !m.ok) f.what = m.invariant;
  } else {
    workloads::recording_options o;
    o.sets = sets;
    o.ways = ways;
    o.keys = 2 + static_cast<std::uint32_t>(index / 3 % 6);
    o.seed = schedule.seed;
    o.launch.blocks = grid_of(index).blocks;
    o.launch.threads = grid_of(index).threads;
    o.launch.history_words = 1 << 13;
    workloads::recorded_cache r;
    f.what = failure_of([&] { r = workloads::record_cache<A>(d, o); });
    if (f.what.empty()) f.what = workloads::judge(r);
    f.record = std::move(r.record);
  }
  f.stale_reads = last_report(d).stale_reads;
  return f;
}

/// Where the algorithm can run it.
template <Algorithm A>
bool explore_producer_consumer_of(std::string_view name) {
  if constexpr (!A::traits.one_thread)
    return add(exploration_entry{name, "producer_consumer", explore_producer_consumer<A>});
  return true;
}

}  // namespace gputm::cli
