// memcached (thesis sections 5.1 and 5.4): clients GET and PUT items of a set-associative cache, by keys that
// follow Zipf's law. Which keys a client puts is a function of the seed, its rank and a count, so every value in the
// cache can be traced to the PUT that was told to write it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache.hpp"
#include "cache_state.hpp"
#include "measured_launch.hpp"
#include "zipf.hpp"

namespace gputm::workloads {

struct memcached_options {
  std::uint64_t items = std::uint64_t{1} << 20;  ///< that the cache holds
  std::uint32_t ways = 16;                       ///< slots of a set
  double get = 99.8;                             ///< percent of transactions that are GETs
  double zipf = 0.99;                            ///< exponent of the keys' distribution; 0: uniform
  std::uint64_t keys = 0;                        ///< that there are; 0: as many as items
  std::uint32_t reads = 0, writes = 0;           ///< capacities; 0: what the transactions need
  std::uint64_t seed = 1;
  memory_options memory = {};
  workloads::amount amount = {};
  launch_config launch = {};
};

/// Throws invalid_argument. Fills in the zeros.
inline memcached_options checked(memcached_options o) {
  const auto refuse = [](const std::string& why) { throw invalid_argument(why); };
  const std::string items = std::to_string(o.items), ways = std::to_string(o.ways);
  if (o.items == 0 || o.items > max_elements)
    refuse("a cache of " + items + " items: it takes 1 to " + std::to_string(max_elements));
  if (o.ways == 0 || o.ways > o.items)
    refuse("a cache of " + items + " items in sets of " + ways + ": the limit is " + items + ", all items in one set");
  if (const std::uint64_t rest = o.items % o.ways; rest != 0)
    refuse("a cache of " + items + " items in sets of " + ways + ": the last set would have " + std::to_string(rest) +
           "; " + std::to_string(o.items - rest) + " items fill whole sets");
  if (!(o.get >= 0 && o.get <= 100)) refuse("GETs are " + std::to_string(o.get) + " percent: it must be from 0 to 100");
  if (!(o.zipf >= 0 && o.zipf <= 100))
    refuse("an exponent of Zipf's law of " + std::to_string(o.zipf) + ": it must be from 0 to 100");
  if (o.keys == 0) o.keys = o.items;
  if (o.keys > max_elements) refuse(std::to_string(o.keys) + " keys: it takes 1 to " + std::to_string(max_elements));
  // its sums, bounds and guide
  check_host_bytes("the keys' distribution", static_cast<double>(o.keys) * 32, "keys");
  constexpr std::uint32_t most_ways = (1u << 22) - 16;  // a transaction's capacity
  if (o.ways > most_ways) refuse("a cache in sets of " + ways + ": the limit is " + std::to_string(most_ways));
  o.launch.capacity.reads = o.reads ? o.reads : cache_reads(o.ways);
  o.launch.capacity.writes = o.writes ? o.writes : cache_put::writes;
  return o;
}

/// The numbers of PUTs say who put what: the warm-up, or the n-th PUT of a client.
struct put_number {
  static constexpr std::uint64_t warm_up = std::uint64_t{1} << 63;
  static GPUTM_INLINE constexpr std::uint64_t of(std::uint32_t rank, std::uint64_t n) {
    return std::uint64_t{rank + 1} << 40 | n;
  }
  static constexpr std::uint32_t rank(std::uint64_t number) { return static_cast<std::uint32_t>(number >> 40) - 1; }
  static constexpr std::uint64_t count(std::uint64_t number) { return number & ((std::uint64_t{1} << 40) - 1); }
};

/// What the clients of one run add up.
struct cache_tally {
  std::uint64_t gets, hits;
  std::uint64_t wrong;    // GETs whose value was not whole, or another key's
  std::uint64_t started;  // nanoseconds; set by the first client
};

/// Draws the keys of one client. GETs and PUTs have streams of their own.
struct cache_draw {
  zipf_view law;
  std::uint64_t seed;
  GPUTM_INLINE std::uint32_t put(std::uint32_t rank, std::uint64_t n) const {
    return law.draw(random_word(seed, std::uint64_t{rank} * 2, n));
  }
  GPUTM_INLINE std::uint32_t get(std::uint32_t rank, std::uint64_t n) const {
    return law.draw(random_word(seed, std::uint64_t{rank} * 2 + 1, n));
  }
};

/// The PUTs of one client, from the n-th on.
struct put_source {
  cache_draw draw;
  std::uint32_t rank, now;
  std::uint64_t n;
  GPUTM_INLINE put_order operator()(std::uint64_t k) const {
    return {key_of(draw.put(rank, n + k)), put_number::of(rank, n + k), now};
  }
};

/// The kernel: each client runs its share of the mix, in stretches of up to 16 transactions: PUTs, then GETs. How
/// many of each is a matter of the warp, so that its lanes run the same kind, and goes by error diffusion, so that
/// the share is exact over the stretches of a warp.
struct cache_client {
  static constexpr unsigned inline_entries = cache_put::writes;
  cache items;
  cache_draw draw;
  std::uint64_t transactions;  // in total; 0: until the time is over
  std::uint64_t duration_ns;
  std::uint32_t put_ppm;
  std::uint64_t* puts;  // of each client
  cache_tally* tally;

  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    const std::uint32_t warp = ctx.rank() / simt::warp_width();
    std::uint32_t due = static_cast<std::uint32_t>((mix(draw.seed ^ warp) >> 32) * 1'000'000 >> 32);
    // as in the bank: one of the two limits is out of reach
    constexpr auto never = ~std::uint64_t{0};
    const std::uint64_t share =
        transactions ? transactions / ctx.size() + (ctx.rank() < transactions % ctx.size()) : never;
    const std::uint64_t began = start(), end = transactions ? never : began + duration_ns;
    std::uint64_t put = 0;
    cache_tally mine{};
    GPUTM_NO_UNROLL
    for (std::uint64_t n = 0, time = began; n < share && time < end; time = simt::nanoseconds()) {
      if (ctx.stopped()) break;
      // LRU stamps are in microseconds of the run: half an hour until they wrap
      const auto now = static_cast<std::uint32_t>((time - began) >> 10);
      const std::uint64_t left = share - n;
      const std::uint32_t stretch = left < 16 ? static_cast<std::uint32_t>(left) : 16;
      due += stretch * put_ppm;
      const std::uint32_t now_puts = due / 1'000'000;
      due -= now_puts * 1'000'000;
      if (now_puts)
        (void)ctx.transact_each(simt::full_mask, now_puts, put_source{draw, ctx.rank(), now, put}, cache_put{items});
      put += now_puts;
      get(ctx, mine, stretch - now_puts, now);
      n += stretch;
      simt::backoff(0);  // on the host device the other clients of this OS thread get on
    }
    simt::plain_store(puts[ctx.rank()], put);
    add(tally->gets, mine.gets);
    add(tally->hits, mine.hits);
    add(tally->wrong, mine.wrong);
  }

 private:
  template <class Context>
  GPUTM_INLINE void get(Context& ctx, cache_tally& mine, std::uint32_t count, std::uint32_t now) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < count; ++k) {
      const cache_key key = key_of(draw.get(ctx.rank(), mine.gets));
      cache_hit h{};
      if (ctx.transact_into(simt::full_mask, h, cache_get{items}, key) != outcome::commit) return;
      ++mine.gets;
      if (!h.hit) continue;
      ++mine.hits;
      mine.wrong += !is_whole(key, h.value);
      items.touch(h.slot, now);
    }
  }
  /// When the launch began: the same moment for all clients.
  GPUTM_INLINE std::uint64_t start() const {
    std::uint64_t first = 0;
    const std::uint64_t now = simt::nanoseconds();
    // relaxed: nothing but this word is handed over
    return simt::atomic(tally->started).compare_exchange(first, now, simt::order::relaxed) ? now : first;
  }
  static GPUTM_INLINE void add(std::uint64_t& sum, std::uint64_t n) {
    if (n) simt::atomic(sum).fetch_add(n, simt::order::relaxed);  // read after the launch
  }
};

// In the inline namespace: a program may hold this class of nvcc and of another compiler.
inline namespace GPUTM_BUILD {

/// A cache under algorithm A, ready to run any number of times.
template <Algorithm A>
class memcached {
  memcached_options o_;
  stream stream_;
  memory<A> memory_;
  buffer touched_, tally_;
  cache items_;
  // after the arrays: whether there is room for them is found before the host's work
  std::shared_ptr<const zipf_table> law_;
  zipf_on_device law_there_;
  std::vector<bool> warm_;  // which keys the warm-up has put

 public:
  memcached(device d, const memcached_options& options)
      : o_(checked(options)),
        stream_(d),
        memory_(d, o_.memory),
        touched_(d, o_.items * sizeof(std::uint32_t)),
        tally_(d, sizeof(cache_tally)),
        items_{memory_.template allocate<item_info>(o_.items, {}, "metadata"),
               memory_.template allocate<cache_key>(o_.items, {}, "keys"),
               memory_.template allocate<cache_value>(o_.items, {}, "values"),
               touched_.as<std::uint32_t>(),
               static_cast<std::uint32_t>(o_.items / o_.ways),
               o_.ways},
        law_(kept_zipf_table(static_cast<std::uint32_t>(o_.keys), o_.zipf)),
        law_there_(stream_, *law_) {}

  measurement run() {
    cache_client client{items_,
                        {law_there_.view(), o_.seed},
                        o_.amount.transactions,
                        static_cast<std::uint64_t>(o_.amount.seconds * 1e9),
                        1'000'000 - static_cast<std::uint32_t>(o_.get * 10'000 + 0.5),
                        nullptr,
                        tally_.as<cache_tally>()};
    auto w = make_launch_workspace(stream_, memory_, o_.launch, client);
    const std::uint64_t threads = std::uint64_t{w.config().blocks} * w.config().threads;
    const buffer puts(memory_.on(), threads * sizeof(std::uint64_t));
    client.puts = puts.as<std::uint64_t>();
    memory_.on()->fill_zero(stream_.handle(), puts.as<void>(), puts.size());
    memory_.on()->fill_zero(stream_.handle(), tally_.as<void>(), tally_.size());
    warm_up();
    measurement m = measured_launch(stream_, memory_, w, client);
    check(m, puts);
    return m;
  }

 private:
  /// The most popular keys, as many as their sets have room for.
  void warm_up() {
    cache_state s{o_.ways, std::vector<item_info>(o_.items), std::vector<cache_key>(o_.items),
                  std::vector<cache_value>(o_.items)};
    std::vector<std::uint32_t> used(items_.sets);
    warm_.assign(o_.keys, false);
    for (std::uint32_t id = 0; id < o_.keys; ++id) {
      const cache_key key = key_of(id);
      const std::uint32_t set = cache::set_of(key, items_.sets);
      if (used[set] == o_.ways) continue;
      const std::size_t slot = std::size_t{set} * o_.ways + used[set]++;
      s.info[slot] = {cache::tag_of(key), 0};
      s.keys[slot] = key;
      s.values[slot] = value_of(key, put_number::warm_up | id);
      warm_[id] = true;
    }
    memory_.write(stream_, items_.info, s.info);
    memory_.write(stream_, items_.keys, s.keys);
    memory_.write(stream_, items_.values, s.values);
    memory_.on()->fill_zero(stream_.handle(), touched_.as<void>(), touched_.size());
  }

  template <class T>
  std::vector<T> copy_of(const buffer& b) const {
    std::vector<T> v(b.size() / sizeof(T));
    memory_.on()->copy_from_device(stream_.handle(), v.data(), b.as<void>(), b.size());
    stream_.synchronize();
    return v;
  }
  void check(measurement& m, const buffer& puts_there) {
    const std::vector<std::uint64_t> puts = copy_of<std::uint64_t>(puts_there);
    const cache_tally t = copy_of<cache_tally>(tally_)[0];
    const cache_draw draw{law_->view(), o_.seed};
    const auto issued = [&](const cache_key& key, std::uint64_t number) {
      if (number & put_number::warm_up) {
        const std::uint64_t id = number & ~put_number::warm_up;
        return id < o_.keys && warm_[id] && key.is(key_of(static_cast<std::uint32_t>(id)));
      }
      const std::uint32_t rank = put_number::rank(number);
      const std::uint64_t n = put_number::count(number);
      return rank < puts.size() && n < puts[rank] && key.is(key_of(draw.put(rank, n)));
    };
    const cache_state s{o_.ways, memory_.read(stream_, items_.info), memory_.read(stream_, items_.keys),
                        memory_.read(stream_, items_.values)};
    const cache_report r = inspect(s, issued);
    m.ok = r.ok() && t.wrong == 0;
    m.invariant = r.text();
    if (t.gets)
      m.invariant += "; " + std::to_string(t.hits) + " of " + std::to_string(t.gets) + " GETs hit, " +
                     (t.wrong ? std::to_string(t.wrong) + " of them a wrong value" : "all of them the key's value");
  }
};

}  // namespace GPUTM_BUILD
}  // namespace gputm::workloads
