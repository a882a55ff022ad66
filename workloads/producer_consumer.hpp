// Producers and consumers (coursework section 4.4): N threads write k values each into a bounded buffer, M
// threads drain it until the producers have finished and it is empty. The buffer and its two counters are
// arrays of different types in one transaction. As there, the buffer is a stack, so that the number of
// values in it is all that says where the next one goes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "gputm/gputm.hpp"
#include "measured_launch.hpp"
#include "random.hpp"

namespace gputm::workloads {

struct producer_consumer_options {
  std::uint32_t producers = 10;
  std::uint32_t consumers = 20;
  std::uint64_t values = 100'000;  ///< of each producer
  std::uint32_t buffer = 64;       ///< values that it holds
  memory_options memory;
  launch_config launch;
};

/// What is passed on. `check` belongs to `value`, so that halves of two values are noticed.
struct parcel {
  std::uint64_t value, check;
};

/// The shared state: counters[in_buffer] values lie in the buffer, counters[finished] producers are done.
struct exchange {
  array<parcel> buffer;
  array<std::uint32_t> counters;
  std::uint32_t producers;
  static constexpr std::uint32_t in_buffer = 0, finished = 1;

  /// For algorithms that must know beforehand what a transaction touches. Which slot it will be is not
  /// known, and need not be: nobody touches a slot without holding the lock of the counter.
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch) const {
    touch(counters[in_buffer]);
    touch(counters[finished]);
  }
};

/// Puts a value into the buffer; waits while it is full. The last one also says so.
struct produce {
  static constexpr unsigned inline_entries = 3;
  using result_type = bool;  ///< whether the counters were as they can be
  exchange shared;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint64_t value, bool last) const {
    GPUTM_TRY(std::uint32_t n, tx.load(shared.counters[exchange::in_buffer]));
    if (n == shared.buffer.size()) return retry;
    bool sound = n < shared.buffer.size();
    if (sound) {
      GPUTM_TRY(tx.store(shared.buffer[n], {value, mix(value)}));
      GPUTM_TRY(tx.store(shared.counters[exchange::in_buffer], n + 1));
    }
    if (last) {
      GPUTM_TRY(std::uint32_t done, tx.load(shared.counters[exchange::finished]));
      sound = sound && done < shared.producers;
      GPUTM_TRY(tx.store(shared.counters[exchange::finished], done + 1));
    }
    tx.result(sound);
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint64_t, bool) const {
    shared.footprint(touch);
  }
};

/// What a consumer found.
struct consumed {
  enum class kind : std::uint32_t { value, end, broken };
  parcel got;
  kind what;
};

/// Takes a value out of the buffer; waits while it is empty and producers are at work.
struct consume {
  static constexpr unsigned inline_entries = 3;
  using result_type = consumed;
  exchange shared;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx) const {
    GPUTM_TRY(std::uint32_t n, tx.load(shared.counters[exchange::in_buffer]));
    if (n == 0) {
      GPUTM_TRY(std::uint32_t done, tx.load(shared.counters[exchange::finished]));
      if (done < shared.producers) return retry;
      tx.result(consumed{{}, done == shared.producers ? consumed::kind::end : consumed::kind::broken});
      return commit;
    }
    if (n > shared.buffer.size()) {
      tx.result(consumed{{}, consumed::kind::broken});
      return commit;
    }
    GPUTM_TRY(parcel p, tx.load(shared.buffer[n - 1]));
    GPUTM_TRY(tx.store(shared.counters[exchange::in_buffer], n - 1));
    tx.result(consumed{p, consumed::kind::value});
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch) const {
    shared.footprint(touch);
  }
};

/// What the threads of one run add up.
struct exchange_tally {
  std::uint64_t consumed, checksum;
  std::uint64_t twice;   ///< values that had been consumed before
  std::uint64_t torn;    ///< values that nobody had produced
  std::uint64_t broken;  ///< transactions that found counters as they cannot be
};

/// The kernel: the first threads produce, the next ones consume, whatever warp they are in; the others of
/// the grid have nothing to do.
struct exchange_client {
  static constexpr unsigned inline_entries = 3;
  exchange shared;
  std::uint32_t consumers;
  std::uint64_t values;
  std::uint32_t* seen;  ///< a bit for each value
  exchange_tally* tally;

  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    if (ctx.rank() < shared.producers)
      as_producer(ctx);
    else if (ctx.rank() < shared.producers + consumers)
      as_consumer(ctx);
  }
  template <class Context>
  GPUTM_INLINE void as_producer(Context& ctx) const {
    const std::uint64_t first = ctx.rank() * values;
    std::uint64_t broken = 0;
    for (std::uint64_t k = 0; k < values; ++k) {
      bool sound = true;
      if (ctx.transact_into(alone(), sound, produce{shared}, first + k, k + 1 == values) != outcome::commit)
        break;  // an error has stopped the launch
      broken += !sound;
      if (k % 64 == 63) simt::backoff(0);  // on the host device the other threads of this OS thread get on
    }
    add(tally->broken, broken);
  }
  template <class Context>
  GPUTM_INLINE void as_consumer(Context& ctx) const {
    exchange_tally mine{};
    for (std::uint64_t n = 1;; ++n) {
      consumed c{};
      if (ctx.transact_into(alone(), c, consume{shared}) != outcome::commit) break;
      if (c.what != consumed::kind::value) {
        mine.broken += c.what == consumed::kind::broken;
        break;
      }
      note(mine, c.got);
      if (n % 64 == 0) simt::backoff(0);
    }
    add(tally->consumed, mine.consumed);
    add(tally->checksum, mine.checksum);
    add(tally->twice, mine.twice);
    add(tally->torn, mine.torn);
    add(tally->broken, mine.broken);
  }

 private:
  /// Lanes of one warp are producers and consumers, and end at different times: none of them waits for the others.
  static GPUTM_INLINE simt::mask_t alone() { return simt::mask_t{1} << simt::lane(); }
  GPUTM_INLINE void note(exchange_tally& mine, const parcel& p) const {
    ++mine.consumed;
    if (p.check != mix(p.value) || p.value >= shared.producers * values) {
      ++mine.torn;
      return;
    }
    mine.checksum += p.value;
    const std::uint32_t bit = 1u << p.value % 32;
    mine.twice += (simt::atomic(seen[p.value / 32]).fetch_or(bit, simt::order::relaxed) & bit) != 0;
  }
  static GPUTM_INLINE void add(std::uint64_t& sum, std::uint64_t n) {
    if (n) simt::atomic(sum).fetch_add(n, simt::order::relaxed);
  }
};

// In the inline namespace: a program may hold this class of nvcc and of another compiler.
inline namespace GPUTM_BUILD {

/// Producers and consumers under algorithm A, ready to run any number of times.
template <Algorithm A>
class producer_consumer {
  producer_consumer_options o_;
  stream stream_;
  memory<A> memory_;
  exchange shared_;
  buffer seen_, tally_;

  /// Fills in the zeros: a thread for each. On the host device over all OS threads.
  static void shape(launch_config& c, const device& d, std::uint64_t workers) {
    const auto share = [&](std::uint64_t parts) { return static_cast<std::uint32_t>((workers + parts - 1) / parts); };
    if (c.threads == 0 && c.blocks != 0)
      c.threads = std::min(1024u, share(c.blocks));
    else if (c.threads == 0)
      c.threads = d.is_host()      ? std::min(32u, share(std::uint64_t{2} * d->multiprocessors()))
                  : workers > 4096 ? 256
                                   : 32;
    if (c.blocks == 0) c.blocks = share(c.threads);
  }
  auto workspace_for(const exchange_client& client) {
    try {
      return make_launch_workspace(stream_, memory_, o_.launch, client);
    } catch (const grid_not_resident& e) {  // the grid follows from these
      throw grid_not_resident(std::to_string(o_.producers) + " producers and " + std::to_string(o_.consumers) +
                              " consumers, each of which needs a thread: " + e.what());
    }
  }
  static producer_consumer_options checked(producer_consumer_options o, const device& d) {
    static_assert(!A::traits.one_thread, "producers and consumers wait for each other: one thread cannot be both");
    const std::uint64_t workers = std::uint64_t{o.producers} + o.consumers, total = o.producers * o.values;
    if (o.producers == 0 || o.consumers == 0)
      throw invalid_argument(std::to_string(o.producers) + " producers and " + std::to_string(o.consumers) +
                             " consumers: it takes at least 1 of each");
    if (o.values == 0 || o.values > most_values || total > most_values)
      throw invalid_argument(std::to_string(o.values) + " values of each of " + std::to_string(o.producers) +
                             " producers: it takes 1 to " + std::to_string(most_values) + " values in total");
    if (o.buffer == 0) throw invalid_argument("a buffer for 0 values: it must hold at least 1");
    shape(o.launch, d, workers);
    if (std::uint64_t{o.launch.blocks} * o.launch.threads < workers)
      throw invalid_argument(std::to_string(o.producers) + " producers and " + std::to_string(o.consumers) +
                             " consumers in a grid of " + std::to_string(o.launch.blocks) + " blocks of " +
                             std::to_string(o.launch.threads) + " threads: each needs a thread");
    o.launch.capacity = {.reads = 3, .writes = 3};
    return o;
  }

 public:
  static constexpr std::uint64_t most_values = std::uint64_t{1} << 36;

  producer_consumer(device d, const producer_consumer_options& options)
      : o_(checked(options, d)),
        stream_(d),
        memory_(d, o_.memory),
        shared_{memory_.template allocate<parcel>(o_.buffer, {}, "buffer"),
                memory_.template allocate<std::uint32_t>(2, 0, "counters"), o_.producers},
        seen_(d, (total() + 31) / 32 * sizeof(std::uint32_t)),
        tally_(d, sizeof(exchange_tally)) {}

  measurement run() {
    const exchange_client client{shared_, o_.consumers, o_.values, seen_.as<std::uint32_t>(),
                                 tally_.as<exchange_tally>()};
    memory_.fill(stream_, shared_.counters, 0u);
    memory_.on()->fill_zero(stream_.handle(), seen_.as<void>(), seen_.size());
    memory_.on()->fill_zero(stream_.handle(), tally_.as<void>(), tally_.size());
    auto w = workspace_for(client);
    measurement m = measured_launch(stream_, memory_, w, client);
    check(m);
    return m;
  }

 private:
  std::uint64_t total() const { return o_.producers * o_.values; }

  void check(measurement& m) {
    exchange_tally t;
    std::vector<std::uint32_t> seen(seen_.size() / sizeof(std::uint32_t));
    memory_.on()->copy_from_device(stream_.handle(), &t, tally_.as<void>(), sizeof t);
    memory_.on()->copy_from_device(stream_.handle(), seen.data(), seen_.as<void>(), seen_.size());
    const auto counters = memory_.read(stream_, shared_.counters);  // waits for the stream
    std::uint64_t different = 0;
    for (std::uint32_t word : seen) different += static_cast<std::uint64_t>(std::popcount(word));
    const std::uint64_t n = total(), checksum = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
    const bool drained = counters[exchange::in_buffer] == 0 && counters[exchange::finished] == o_.producers;
    m.ok = t.consumed == n && different == n && t.twice == 0 && t.torn == 0 && t.broken == 0 &&
           t.checksum == checksum && drained;
    m.invariant = std::to_string(different) + " of " + std::to_string(n) + " values consumed, " +
                  (t.twice == 0 ? "none" : std::to_string(t.twice)) + " twice; checksum " +
                  (t.checksum == checksum ? "right" : "wrong") + ", buffer " + (drained ? "drained" : "not drained");
    if (t.torn) m.invariant += "; " + std::to_string(t.torn) + " values that nobody produced";
    if (t.broken) m.invariant += "; " + std::to_string(t.broken) + " transactions found impossible counters";
  }
};

}  // namespace GPUTM_BUILD
}  // namespace gputm::workloads
