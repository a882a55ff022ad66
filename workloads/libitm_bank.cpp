// Compiled with -fgnu-tm. The same mix and the same audits as bank.hpp.
#include "libitm_bank.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

namespace gputm::workloads {
namespace {

using std::chrono::steady_clock;

thread_local std::uint64_t attempts_here = 0;

/// Runs inside of a transaction and is not rolled back: what began and did not commit was aborted.
__attribute__((transaction_pure, noinline)) void count_attempt() { ++attempts_here; }

/// What one worker did; on a cache line of its own.
struct alignas(64) tally {
  std::uint64_t commits = 0, attempts = 0, audits = 0, audit_attempts = 0, checked = 0, wrong = 0;
  std::int64_t seen = 0;  // what updates only read, so that it is read
};

class worker {
  const bank_options& o_;
  int* balance_;
  std::uint32_t rank_, workers_, accounts_;
  std::uint32_t first_, shard_;             // the accounts that it touches
  std::uint32_t kept_;                      // of these, before those that are overwritten and nothing else
  std::vector<std::uint32_t> updated_;      // what an update reads, and changes some of
  std::vector<std::uint32_t> overwritten_;  // the first one of each pair
  generator random_;
  tally& t_;

 public:
  worker(const bank_options& o, int* balance, std::uint32_t rank, std::uint32_t workers, tally& t)
      : o_(o),
        balance_(balance),
        rank_(rank),
        workers_(workers),
        accounts_(static_cast<std::uint32_t>(o.accounts)),
        first_(o.sharded ? rank * o.shard(workers) : 0),
        shard_(o.sharded ? o.shard(workers) : accounts_),
        kept_(shard_ - o.reserved(shard_)),
        updated_(o.read_by_update()),
        overwritten_(o.update_writes / 2),
        random_(o.seed, rank),
        t_(t) {}

  void run(steady_clock::time_point start) {
    const auto rot_ppm = static_cast<std::uint32_t>(o_.rot * 10'000 + 0.5);
    auto due = static_cast<std::uint32_t>((mix(o_.seed ^ rank_) >> 32) * 1'000'000 >> 32);
    const std::uint64_t total = o_.amount.transactions, share = total / workers_ + (rank_ < total % workers_);
    const auto end = start + std::chrono::nanoseconds(static_cast<std::int64_t>(o_.amount.seconds * 1e9));
    for (std::uint64_t n = 0; total ? n < share : n % 8 != 0 || steady_clock::now() < end; ++n) {
      due += rot_ppm;
      if (due < 1'000'000) {
        update();
      } else {
        due -= 1'000'000;
        audit();
      }
    }
    t_.attempts = attempts_here;
  }

 private:
  void update() {
    ++t_.commits;
    if (o_.accounts_per_transaction != 2 || o_.update_reads != 0 || o_.update_writes != 0) return many_transfers();
    std::uint32_t from = random_.below(shard_), to = random_.below(shard_ - 1);
    to += to >= from;
    from += first_;
    to += first_;
    const int amount = 1 + static_cast<int>(random_.next() & 7);
    int* balance = balance_;
    __transaction_atomic {
      count_attempt();
      balance[from] -= amount;
      balance[to] += amount;
    }
  }
  void many_transfers() {
    const std::uint32_t count = o_.accounts_per_transaction;
    const auto all = static_cast<std::uint32_t>(updated_.size());
    if (o_.sharded) {  // as many that follow on each other
      std::uint32_t at = random_.below(kept_);
      for (std::uint32_t& a : updated_) {
        a = first_ + at;
        at = at + 1 == kept_ ? 0 : at + 1;
      }
    } else {
      for (std::uint32_t& a : updated_) a = random_.below(kept_);
    }
    const std::uint32_t pairs = (shard_ - kept_) / 2;
    const std::uint32_t start = overwritten_.empty() ? 0 : random_.below(pairs);
    for (std::uint32_t k = 0; k < overwritten_.size(); ++k)
      overwritten_[k] = first_ + kept_ + 2 * (o_.sharded ? (start + k) % pairs : random_.below(pairs));
    const auto overwrites = static_cast<std::uint32_t>(overwritten_.size());
    const auto seed = static_cast<std::uint32_t>(random_.next());
    const std::uint32_t *at = updated_.data(), *pair = overwritten_.data();
    int* balance = balance_;
    int seen = 0;
    __transaction_atomic {
      count_attempt();
      seen = 0;
      for (std::uint32_t k = count; k < all; ++k) seen |= balance[at[k]];
      for (std::uint32_t k = 0; k < count; ++k)
        balance[at[k]] += k + 1 == count && count % 2 == 1 ? 0 : k % 2 == 0 ? -1 : 1;
      for (std::uint32_t k = 0; k < overwrites; ++k) {
        const int change = static_cast<int>((seed + k) % 256);
        balance[pair[k]] = bank_options::initial_balance - change;
        balance[pair[k] + 1] = bank_options::initial_balance + change;
      }
    }
    t_.seen += seen;
  }
  void audit() {
    ++t_.commits;
    ++t_.audits;
    const auto reads = static_cast<std::uint32_t>(o_.rot_reads ? o_.rot_reads : shard_);
    const bool all = reads == shard_;
    const std::uint32_t starts = o_.sharded ? shard_ - reads + 1 : accounts_;
    const std::uint32_t first = first_ + (all ? 0 : random_.below(starts)), accounts = accounts_;
    const std::uint64_t before = attempts_here;
    const int* balance = balance_;
    std::int64_t sum = 0;
    __transaction_atomic {
      count_attempt();
      sum = 0;
      std::uint32_t at = first;
      for (std::uint32_t k = 0; k < reads; ++k) {
        sum += balance[at];
        if (++at == accounts) at = 0;
      }
    }
    t_.audit_attempts += attempts_here - before;
    t_.checked += all;
    t_.wrong += all && sum != std::int64_t{reads} * bank_options::initial_balance;
  }
};

measurement summary(const bank_options& o, const std::vector<tally>& tallies, const std::vector<int>& balance) {
  measurement m;
  std::uint64_t attempts = 0, audit_attempts = 0, checked = 0, wrong = 0;
  for (const tally& t : tallies) {
    m.stats.commits += t.commits;
    m.stats.read_only_commits += t.audits;
    attempts += t.attempts;
    audit_attempts += t.audit_attempts;
    checked += t.checked;
    wrong += t.wrong;
  }
  m.stats.read_only_aborts = audit_attempts - m.stats.read_only_commits;
  // libitm does not say why it aborts
  m.stats.aborts[static_cast<std::size_t>(abort_reason::read_conflict)] = attempts - m.stats.commits;
  const std::int64_t total = std::accumulate(balance.begin(), balance.end(), std::int64_t{0});
  const std::int64_t expected = static_cast<std::int64_t>(o.accounts) * bank_options::initial_balance;
  m.ok = total == expected && wrong == 0;
  m.invariant =
      "sum of balances " + std::to_string(total) + (total == expected ? " = " : " != ") + std::to_string(expected);
  if (checked)
    m.invariant += "; " + std::to_string(checked - wrong) + " of " + std::to_string(checked) + " read-only sums right";
  return m;
}

}  // namespace

bool has_libitm() { return true; }

std::string libitm_method() {
  const char* chosen = std::getenv("ITM_DEFAULT_METHOD");
  return chosen && *chosen ? chosen : "default";
}

measurement run_libitm_bank(const bank_options& o, unsigned threads) {
  check_bank(o);
  if (threads == 0) threads = 2;
  if (o.sharded) (void)o.shard(threads);  // throws before there are threads
  std::vector<int> balance(o.accounts, bank_options::initial_balance);
  std::vector<tally> tallies(threads);
  const double seconds = timed([&] {
    std::vector<std::jthread> workers;
    const auto start = steady_clock::now();
    try {
      for (unsigned rank = 0; rank < threads; ++rank)
        workers.emplace_back([&, rank] { worker(o, balance.data(), rank, threads, tallies[rank]).run(start); });
    } catch (const std::system_error& e) {
      throw invalid_argument(std::to_string(threads) + " CPU threads, of which this machine has given " +
                             std::to_string(workers.size()) + " (" + e.what() + "); use fewer blocks or threads");
    }
  });
  measurement m = summary(o, tallies, balance);
  m.seconds = seconds;
  m.blocks = threads;
  m.threads = 1;
  return m;
}

}  // namespace gputm::workloads
