#include "workload_table.hpp"

#include <algorithm>
#include <limits>

#include "loop_table.hpp"
#include "text.hpp"

namespace gputm::cli {
namespace {

using workloads::measurement;

constexpr std::uint64_t any32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t any64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_entries = 1u << 22;  // of a read or write set

launch_config shape_of(const point& p) {
  launch_config c;
  c.blocks = p.whole32("blocks");
  c.threads = p.whole32("threads");
  c.patience.updating = p.whole32("patience-updating");
  c.patience.read_only = p.whole32("patience-rot");
  c.patience.stuck_ns = static_cast<std::uint64_t>(p.real("stuck-seconds") * 1e9);
  c.clusters = p.text("cluster") != "off";
  return c;
}

memory_options memory_of(const point& p) {
  memory_options o;
  o.words_per_lock = p.whole32("words-per-lock");
  if (p.has("versions")) o.versions = p.whole32("versions");
  if (p.has("record")) o.record_entries = p.whole32("record");
  if (p.has("servers")) o.servers = p.whole32("servers");
  return o;
}

/// How much an open-ended workload does; less to warm up.
workloads::amount amount_of(const point& p, effort e) {
  const std::uint64_t transactions = p.whole("transactions");
  const double seconds = p.real("seconds");
  if (e != effort::warm_up) return {transactions, seconds};
  return {std::min<std::uint64_t>(transactions, 10'000), seconds / 20};
}

setting words_per_lock() {
  return whole_setting("words-per-lock", "1", 1, 1u << 31, "elements under one lock, a power of two");
}
setting versions() {
  return whole_setting("versions", "", 2, 65'535, "versions of each element, of multi-version algorithms");
}
setting servers() { return whole_setting("servers", "", 1, 64, "server blocks, of algorithms that can have several"); }
setting cluster() {
  setting s = word_setting("cluster", {"on", "off"},
                           "servers of csmv_partitioned use each other's shared memory; on where it can be");
  s.fallback.clear();
  return s;
}
setting record() {
  return whole_setting("record", "", 2, any32, "entries of the commit record, of multi-version algorithms");
}

// ---- bank

std::vector<setting> bank_settings() {
  return {
      whole_setting("accounts", "6000", 2, max_elements, "accounts of the bank"),
      real_setting("rot", "0", 0, 100, "percent of transactions that are read-only"),
      whole_setting("rot-reads", "0", 0, max_elements,
                    "accounts that a read-only transaction sums; 0: all, of the client's if sharded"),
      whole_setting("accounts-per-transaction", "2", 1, most_entries, "accounts that an update changes"),
      whole_setting("update-reads", "0", 0, most_entries, "accounts that an update reads besides"),
      whole_setting("update-writes", "0", 0, most_entries, "accounts that an update overwrites besides; even"),
      flag_setting("sharded", "every client has accounts of its own: no conflicts"),
      words_per_lock(),
      versions(),
      record(),
      servers(),
      cluster(),
      whole_setting("read-capacity", "", 1, most_entries, "the same as --reads"),
  };
}
std::string bank_why_not(const algorithm_entry& a) { return a.bank ? "" : "it has no bank"; }

measurement run_bank(const algorithm_entry& a, const device& d, const point& p, effort e) {
  workloads::bank_options o;
  o.accounts = p.whole("accounts");
  o.rot = p.real("rot");
  o.rot_reads = p.whole("rot-reads");
  o.accounts_per_transaction = p.whole32("accounts-per-transaction");
  o.update_reads = p.whole32("update-reads");
  o.update_writes = p.whole32("update-writes");
  o.sharded = p.whole("sharded");
  o.memory = memory_of(p);
  o.reads = std::max(p.whole32("reads"), p.whole32("read-capacity"));
  o.writes = p.whole32("writes");
  o.seed = p.whole("seed");
  o.amount = amount_of(p, e);
  o.launch = shape_of(p);
  return a.bank(d, o);
}

// ---- producers and consumers

std::vector<setting> producer_consumer_settings() {
  return {
      whole_setting("producers", "10", 1, parts::max_threads, "threads that write values"),
      whole_setting("consumers", "20", 1, parts::max_threads, "threads that take them"),
      whole_setting("values", "100000", 1, std::uint64_t{1} << 36,
                    "values of each producer; a thousand are many on the host device"),
      whole_setting("buffer", "64", 1, max_elements, "values that the buffer holds"),
      words_per_lock(),
      versions(),
      record(),
      servers(),
      cluster(),
  };
}
std::string producer_consumer_why_not(const algorithm_entry& a) {
  if (a.producer_consumer) return "";
  return a.traits.one_thread ? "one thread cannot be both producer and consumer" : "it runs the bank only";
}

measurement run_producer_consumer(const algorithm_entry& a, const device& d, const point& p, effort e) {
  workloads::producer_consumer_options o;
  o.producers = p.whole32("producers");
  o.consumers = p.whole32("consumers");
  o.values = p.whole("values");
  o.buffer = p.whole32("buffer");
  o.memory = memory_of(p);
  o.launch = shape_of(p);
  // nothing isolates it, so its counters may come to say that all should wait
  if (!a.traits.isolated)
    o.launch.patience.stuck_ns = std::min<std::uint64_t>(o.launch.patience.stuck_ns, 1'000'000'000);
  if (e == effort::warm_up) o.values = std::min<std::uint64_t>(o.values, 100);
  return a.producer_consumer(d, o);
}

// ---- memcached

std::vector<setting> memcached_settings() {
  return {
      whole_setting("items", "1048576", 1, max_elements, "items that the cache holds; a multiple of the ways"),
      whole_setting("ways", "16", 1, most_entries - 16, "slots of a set"),
      real_setting("get", "99.8", 0, 100, "percent of transactions that are GETs; the others are PUTs"),
      real_setting("zipf", "0.99", 0, 100, "exponent of Zipf's law, which keys follow; 0: uniform"),
      whole_setting("keys", "0", 0, max_elements, "keys that there are; 0: as many as items"),
      words_per_lock(),
      versions(),
      record(),
      servers(),
      cluster(),
  };
}
std::string memcached_why_not(const algorithm_entry& a) { return a.memcached ? "" : "it runs the bank only"; }

measurement run_memcached(const algorithm_entry& a, const device& d, const point& p, effort e) {
  workloads::memcached_options o;
  o.items = p.whole("items");
  o.ways = p.whole32("ways");
  o.get = p.real("get");
  o.zipf = p.real("zipf");
  o.keys = p.whole("keys");
  o.reads = p.whole32("reads");
  o.writes = p.whole32("writes");
  o.seed = p.whole("seed");
  o.memory = memory_of(p);
  o.amount = amount_of(p, e);
  o.launch = shape_of(p);
  return a.memcached(d, o);
}

std::vector<workload_entry> transaction_workloads() {
  return {
      {"bank", "transfers between random accounts, and audits that must see the total", bank_settings(), true,
       bank_why_not, run_bank},
      {"producer_consumer", "threads that pass values through a bounded buffer", producer_consumer_settings(), false,
       producer_consumer_why_not, run_producer_consumer},
      {"memcached", "GETs and PUTs of a set-associative cache with LRU, keys by Zipf's law", memcached_settings(), true,
       memcached_why_not, run_memcached},
  };
}

}  // namespace

const std::vector<workload_entry>& workload_table() {
  static const std::vector<workload_entry> all = [] {
    std::vector<workload_entry> entries = transaction_workloads();
    for (workload_entry& w : loop_workloads()) entries.push_back(std::move(w));
    return entries;
  }();
  return all;
}

const workload_entry& find_workload(std::string_view name) {
  std::vector<std::string> names;
  for (const workload_entry& w : workload_table()) {
    if (w.name == name) return w;
    names.emplace_back(w.name);
  }
  throw usage_error("no workload is called '" + std::string(name) + "'; there are " + join(names, ", "));
}

std::vector<setting> loop_settings() {
  std::vector<setting> all;
  for (setting& s : common_settings())
    if (s.name == "blocks" || s.name == "threads" || s.name == "seed") all.push_back(std::move(s));
  return all;
}

std::vector<setting> common_settings() {
  return {
      choice_setting("blocks", 1, any32, "blocks of the grid; auto: gputm chooses"),
      choice_setting("threads", 1, 1024, "threads in a block; auto: gputm chooses"),
      whole_setting("transactions", "", 1, any64, "how many transactions to run, in total"),
      real_setting("seconds", "1", 0.001, 1e6, "how long to run"),
      whole_setting("seed", "1", 0, any64, "of the random numbers"),
      choice_setting("reads", 1, most_entries, "elements that a transaction may read; auto: what it needs"),
      choice_setting("writes", 1, most_entries, "elements that a transaction may write; auto: what it needs"),
      whole_setting("patience-updating", std::to_string(gputm::patience{}.updating), 0, any32,
                    "aborts after which an update counts as starving; 0: never"),
      whole_setting("patience-rot", std::to_string(gputm::patience{}.read_only), 0, any32,
                    "the same for a read-only transaction"),
      real_setting("stuck-seconds", "10", 0.001, 1e6, "seconds without any commit after which a run gives up"),
  };
}

}  // namespace gputm::cli
