// Compiled with -fgnu-tm. The same mix, the same random numbers and the same audits as bank.hpp.
#include "libitm_bank.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
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
  std::uint64_t commits = 0, attempts = 0, audits = 0, audit_attempts = 0, wrong = 0;
};

class worker {
  const bank_options& o_;
  int* balance_;
  std::uint32_t rank_, workers_, accounts_;
  generator random_;
  tally& t_;

 public:
  worker(const bank_options& o, int* balance, std::uint32_t rank, std::uint32_t workers, tally& t)
      : o_(o),
        balance_(balance),
        rank_(rank),
        workers_(workers),
        accounts_(static_cast<std::uint32_t>(o.accounts)),
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
    if (o_.accounts_per_transaction != 2) return many_transfers();
    std::uint32_t from, to;
    if (o_.sharded) {
      from = static_cast<std::uint32_t>(std::uint64_t{rank_} * 2 % (accounts_ & ~1u));
      to = from + 1;
    } else {
      from = random_.below(accounts_);
      to = random_.below(accounts_ - 1);
      to += to >= from;
    }
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
    std::vector<std::uint32_t> accounts(count);
    for (std::uint32_t& a : accounts) a = random_.below(accounts_);
    const std::uint32_t* at = accounts.data();
    int* balance = balance_;
    __transaction_atomic {
      count_attempt();
      for (std::uint32_t k = 0; k < count; ++k)
        balance[at[k]] += k + 1 == count && count % 2 == 1 ? 0 : k % 2 == 0 ? -1 : 1;
    }
  }
  void audit() {
    ++t_.commits;
    ++t_.audits;
    const auto reads = static_cast<std::uint32_t>(o_.rot_reads ? o_.rot_reads : o_.accounts);
    const bool all = reads == accounts_;
    const std::uint32_t first = all ? 0 : random_.below(accounts_), accounts = accounts_;
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
    t_.wrong += all && sum != std::int64_t{accounts_} * bank_options::initial_balance;
  }
};

void check(const bank_options& o) {
  if (o.accounts < 2 || o.accounts > max_elements)
    throw invalid_argument("a bank of " + std::to_string(o.accounts) + " accounts: it takes 2 to " +
                           std::to_string(max_elements));
  if (!(o.rot >= 0 && o.rot <= 100))
    throw invalid_argument("read-only share of " + std::to_string(o.rot) + " percent: it must be from 0 to 100");
  if (o.accounts_per_transaction == 0) throw invalid_argument("0 accounts in a transaction: it takes at least 1");
  if (o.rot_reads > o.accounts)
    throw invalid_argument("read-only transactions of " + std::to_string(o.rot_reads) + " accounts in a bank of " +
                           std::to_string(o.accounts));
  if (o.sharded && o.accounts_per_transaction != 2)
    throw invalid_argument("the sharded bank moves money between 2 accounts of a client");
}

measurement summary(const bank_options& o, const std::vector<tally>& tallies, const std::vector<int>& balance) {
  measurement m;
  std::uint64_t attempts = 0, audit_attempts = 0, wrong = 0;
  for (const tally& t : tallies) {
    m.stats.commits += t.commits;
    m.stats.read_only_commits += t.audits;
    attempts += t.attempts;
    audit_attempts += t.audit_attempts;
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
  const bool all = o.rot_reads == 0 || o.rot_reads == o.accounts;
  if (const std::uint64_t audits = m.stats.read_only_commits; audits && all)
    m.invariant += "; " + std::to_string(audits - wrong) + " of " + std::to_string(audits) + " read-only sums right";
  return m;
}

}  // namespace

bool has_libitm() { return true; }

std::string libitm_method() {
  const char* chosen = std::getenv("ITM_DEFAULT_METHOD");
  return chosen && *chosen ? chosen : "default";
}

measurement run_libitm_bank(const bank_options& o, unsigned threads) {
  check(o);
  if (threads == 0) threads = 2;
  std::vector<int> balance(o.accounts, bank_options::initial_balance);
  std::vector<tally> tallies(threads);
  const double seconds = timed([&] {
    std::vector<std::jthread> workers;
    const auto start = steady_clock::now();
    for (unsigned rank = 0; rank < threads; ++rank)
      workers.emplace_back([&, rank] { worker(o, balance.data(), rank, threads, tallies[rank]).run(start); });
  });
  measurement m = summary(o, tallies, balance);
  m.seconds = seconds;
  m.blocks = threads;
  m.threads = 1;
  return m;
}

}  // namespace gputm::workloads
