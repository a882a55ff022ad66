// The bank: update transactions move money between random accounts, read-only ones audit. In the form of
// the thesis (sections 5.1 and 5.4: 6,000 accounts, an audit sums all of them; 5.2 and 5.3: sharded, so that
// nothing conflicts) and of PR-STM (section 4: 2.5 million accounts, 2 to 256 of them in a transaction).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "gputm/gputm.hpp"
#include "measured_launch.hpp"
#include "random.hpp"

namespace gputm::workloads {
inline namespace GPUTM_BUILD {  // as the launches in it

struct bank_options {
  std::uint64_t accounts = 6000;
  double rot = 0;               ///< percent of transactions that are read-only
  std::uint64_t rot_reads = 0;  ///< accounts that one of those reads; 0: all (of the client's, if sharded)
  std::uint32_t accounts_per_transaction = 2;  ///< that an update changes
  std::uint32_t update_reads = 0;              ///< accounts that an update reads besides
  std::uint32_t update_writes = 0;             ///< accounts that an update overwrites besides, unread; even
  bool sharded = false;                        ///< every client has accounts of its own: no conflicts
  std::uint32_t reads = 0, writes = 0;         ///< capacities; 0: what the transactions need
  std::uint64_t seed = 1;
  memory_options memory;
  workloads::amount amount;
  launch_config launch;
  static constexpr int initial_balance = 1000;

  /// Accounts that an update reads.
  std::uint64_t read_by_update() const { return std::uint64_t{accounts_per_transaction} + update_reads; }
  std::uint64_t least_kept() const { return sharded ? std::max<std::uint64_t>(2, read_by_update()) : 2; }
  /// Accounts that a client of a sharded bank needs.
  std::uint64_t least_shard() const { return std::max(least_kept() + update_writes, rot > 0 ? rot_reads : 0); }
  /// Of so many accounts, a client's or the bank's, how many are overwritten and nothing else: those at the end.
  std::uint32_t reserved(std::uint64_t n) const {
    if (update_writes == 0) return 0;
    const std::uint64_t half = std::min(n / 2, n - std::min(n, least_kept()));
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(sharded ? update_writes : 2, half / 2 * 2));
  }
  /// Accounts of each of so many clients; no two share one. Throws invalid_argument.
  std::uint32_t shard(std::uint64_t clients) const {
    const std::uint64_t least = least_shard();
    if (clients > accounts / least)
      throw invalid_argument("a sharded bank of " + std::to_string(accounts) + " accounts has room for " +
                             std::to_string(accounts / least) + " clients with " + std::to_string(least) +
                             " accounts of their own, and the grid has " + std::to_string(clients) + "; it takes " +
                             std::to_string(clients * least) + " accounts or a smaller grid");
    return static_cast<std::uint32_t>(rot > 0 && rot_reads ? least : accounts / clients);
  }
};

/// Throws invalid_argument.
inline void check_bank(const bank_options& o) {
  if (o.accounts < 2)
    throw invalid_argument("a bank of " + std::to_string(o.accounts) + " accounts: a transfer needs at least 2");
  if (o.accounts > max_elements)
    throw invalid_argument("a bank of " + std::to_string(o.accounts) + " accounts: the limit is " +
                           std::to_string(max_elements));
  if (!(o.rot >= 0 && o.rot <= 100))
    throw invalid_argument("read-only share of " + std::to_string(o.rot) + " percent: it must be from 0 to 100");
  if (o.accounts_per_transaction == 0) throw invalid_argument("0 accounts in a transaction: it takes at least 1");
  if (o.update_writes % 2 != 0)
    throw invalid_argument(std::to_string(o.update_writes) +
                           " accounts that an update overwrites: it must be even, since they go by pairs");
  if (o.update_writes != 0 && o.accounts < 4)
    throw invalid_argument("a bank of " + std::to_string(o.accounts) +
                           " accounts: those that updates overwrite are 2 at least, and others 2");
  if (o.rot_reads > o.accounts)
    throw invalid_argument("read-only transactions of " + std::to_string(o.rot_reads) + " accounts in a bank of " +
                           std::to_string(o.accounts));
}

/// Moves `amount` from one account to another.
struct transfer_order {
  std::uint32_t from, to;
  int amount;
};
struct transfer {
  static constexpr unsigned inline_entries = 2;
  array<int> balance;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const transfer_order& o) const {
    GPUTM_TRY(int from, tx.load(balance[o.from]));
    GPUTM_TRY(int to, tx.load(balance[o.to]));
    GPUTM_TRY(tx.store(balance[o.from], from - o.amount));
    GPUTM_TRY(tx.store(balance[o.to], to + o.amount));
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const transfer_order& o) const {
    touch(balance[o.from]);
    touch(balance[o.to]);
  }
};

/// Reads `others` accounts and moves money between `count` more, pair by pair; an odd one out is rewritten unchanged.
/// They are random ones; or, where a client has accounts of its own, as many that follow on each other there. Then
/// overwrites pairs of the reserved accounts: nobody reads those in an update, and the sum of a pair stays what it was.
struct many_transfers {
  array<int> balance;
  std::uint32_t count, others, overwritten;
  std::uint32_t first, shard;  ///< shard 0: the whole bank
  std::uint32_t reserved;      ///< accounts at the end of these
  GPUTM_INLINE std::uint32_t kept() const { return (shard == 0 ? balance.size() : shard) - reserved; }
  GPUTM_INLINE std::uint32_t account(std::uint64_t seed, std::uint32_t k) const {
    if (shard == 0) return static_cast<std::uint32_t>((mix(seed + k) >> 32) * kept() >> 32);
    const std::uint32_t at = static_cast<std::uint32_t>((seed >> 32) * kept() >> 32) + k;
    return first + (at < kept() ? at : at - kept());
  }
  /// The first one of a pair.
  GPUTM_INLINE std::uint32_t reserved_account(std::uint64_t seed, std::uint32_t pair) const {
    const std::uint32_t pairs = reserved / 2;
    const auto at = static_cast<std::uint32_t>((mix(~seed + (shard == 0 ? pair : 0)) >> 32) * pairs >> 32);
    return first + kept() + 2 * (shard == 0 ? at : (at + pair) % pairs);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint64_t seed) const {
    for (std::uint32_t k = count; k < count + others; ++k) GPUTM_TRY(tx.load(balance[account(seed, k)]));
    for (std::uint32_t k = 0; k < count; ++k) {
      const int change = k + 1 == count && count % 2 == 1 ? 0 : k % 2 == 0 ? -1 : 1;
      const auto a = balance[account(seed, k)];
      GPUTM_TRY(int value, tx.load(a));
      GPUTM_TRY(tx.store(a, value + change));
    }
    for (std::uint32_t k = 0; k < overwritten / 2; ++k) {
      const std::uint32_t a = reserved_account(seed, k);
      const int change = static_cast<int>((seed + k) % 256);
      GPUTM_TRY(tx.store(balance[a], bank_options::initial_balance - change));
      GPUTM_TRY(tx.store(balance[a + 1], bank_options::initial_balance + change));
    }
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint64_t seed) const {
    for (std::uint32_t k = 0; k < count + others; ++k) touch(balance[account(seed, k)]);
    for (std::uint32_t k = 0; k < overwritten; ++k) touch(balance[reserved_account(seed, k / 2) + k % 2]);
  }
};

/// Sums `count` accounts from `first` on, around the end.
struct audit {
  static constexpr bool read_only = true;
  static constexpr unsigned inline_entries = 2;
  using result_type = std::int64_t;
  array<int> balance;
  std::uint32_t count;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t first) const {
    std::int64_t sum = 0;
    const auto account = [this, first](std::uint32_t k) {
      const std::uint64_t at = std::uint64_t{first} + k;
      return balance[at < balance.size() ? at : at - balance.size()];
    };
    GPUTM_TRY(tx.load_each(count, account, [&sum](std::uint32_t, int value) { sum += value; }));
    tx.result(sum);
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t first) const {
    for (std::uint32_t k = 0, at = first; k < count; ++k, at = at + 1 == balance.size() ? 0 : at + 1)
      touch(balance[at]);
  }
};

/// Draws transfers among `span` accounts from `first` on.
struct order_source {
  std::uint32_t first, span;
  generator& random;
  GPUTM_INLINE transfer_order operator()(std::uint64_t) const {
    transfer_order o;
    o.from = random.below(span);
    o.to = random.below(span - 1);
    o.to += o.to >= o.from;  // another account, without a division
    o.from += first;
    o.to += first;
    o.amount = 1 + static_cast<int>(random.next() & 7);
    return o;
  }
};

/// Draws the seeds of many_transfers.
struct seed_source {
  generator& random;
  GPUTM_INLINE std::uint64_t operator()(std::uint64_t) const {
    return std::uint64_t{random.next()} << 32 | random.next();
  }
};

/// What the clients of one run add up.
struct bank_tally {
  std::uint64_t audits, wrong_audits;
  std::uint64_t started;  // nanoseconds; set by the first client
};

/// The kernel: each client runs its share of the mix. The kind is drawn for a warp, so that lanes run the
/// same kind, and by error diffusion, so that the share is exact in every stretch of a warp's work.
/// Pair: updates touch two accounts, no more. Audits: there are read-only transactions.
template <bool Pair, bool Audits>
struct bank_client {
  static constexpr unsigned inline_entries = 2;
  array<int> balance;
  std::uint64_t transactions;  // in total; 0: until the time is over
  std::uint64_t duration_ns;
  std::uint64_t seed;
  std::uint32_t rot_ppm, rot_reads, per_transaction, update_reads, update_writes;
  std::uint32_t shard;     // accounts of each client; 0: all clients have all
  std::uint32_t reserved;  // of these
  bank_tally* tally;

  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    generator random(seed, ctx.rank());
    const std::uint32_t warp = ctx.rank() / simt::warp_width();
    std::uint32_t due = static_cast<std::uint32_t>((mix(seed ^ warp) >> 32) * 1'000'000 >> 32);
    // One of the two limits is out of reach: a condition on which of them counts would have the compiler make a
    // second copy of the loop.
    constexpr auto never = ~std::uint64_t{0};
    const std::uint64_t share =
        transactions ? transactions / ctx.size() + (ctx.rank() < transactions % ctx.size()) : never;
    const std::uint64_t end = transactions ? never : start() + duration_ns;
    std::uint64_t audits = 0, wrong = 0;
    GPUTM_NO_UNROLL
    for (std::uint64_t n = 0; n < share && simt::nanoseconds() < end;) {
      if (ctx.stopped()) break;
      // the updates up to this warp's next audit, but not so many that the time is overrun
      std::uint64_t updates = 16;
      bool audit_now = false;
      if constexpr (Audits) {
        const std::uint32_t before_audit = (1'000'000 - due - 1) / rot_ppm;
        audit_now = before_audit < updates;
        if (audit_now) updates = before_audit;
      }
      if (updates + audit_now > share - n) {
        updates = share - n;
        audit_now = false;
      }
      due += static_cast<std::uint32_t>(updates) * rot_ppm;
      update(ctx, random, updates);
      n += updates + audit_now;
      if constexpr (Audits)
        if (audit_now) {
          due -= 1'000'000 - rot_ppm;
          const bool all = rot_reads == (shard ? shard : balance.size());  // the sum is known
          std::int64_t sum = 0;
          const outcome o =
              ctx.transact_into(simt::full_mask, sum, audit{balance, rot_reads}, first_read(ctx.rank(), random));
          audits += all && o == outcome::commit;
          wrong += all && o == outcome::commit && sum != std::int64_t{rot_reads} * bank_options::initial_balance;
        }
      simt::backoff(0);  // on the host device the other clients of this OS thread get on
    }
    if (audits) simt::atomic(tally->audits).fetch_add(audits, simt::order::relaxed);
    if (wrong) simt::atomic(tally->wrong_audits).fetch_add(wrong, simt::order::relaxed);
  }
  /// When the launch began: the same moment for all clients.
  GPUTM_INLINE std::uint64_t start() const {
    std::uint64_t first = 0;
    const std::uint64_t now = simt::nanoseconds();
    return simt::atomic(tally->started).compare_exchange(first, now, simt::order::relaxed) ? now : first;
  }
  /// Of an audit: anywhere, or where all that it reads are the client's own.
  GPUTM_INLINE std::uint32_t first_read(std::uint32_t rank, generator& random) const {
    if (shard) return rank * shard + (rot_reads < shard ? random.below(shard - rot_reads + 1) : 0);
    return rot_reads == balance.size() ? 0 : random.below(balance.size());
  }
  template <class Context>
  GPUTM_INLINE void update(Context& ctx, generator& random, std::uint64_t count) const {
    const std::uint32_t first = ctx.rank() * shard;
    if constexpr (Pair)
      (void)ctx.transact_each(simt::full_mask, count, order_source{first, shard ? shard : balance.size(), random},
                              transfer{balance});
    else
      (void)ctx.transact_each(
          simt::full_mask, count, seed_source{random},
          many_transfers{balance, per_transaction, update_reads, update_writes, first, shard, reserved});
  }
};

/// A bank under algorithm A, ready to run any number of times.
template <Algorithm A>
class bank {
  bank_options o_;
  stream stream_;
  memory<A> memory_;
  array<int> balance_;
  buffer tally_;

  static bank_options checked(bank_options o) {
    check_bank(o);
    if (o.rot_reads == 0 && !o.sharded) o.rot_reads = o.accounts;
    const bool logs_audits = o.rot > 0 && A::traits.logs_read_only;
    const std::uint64_t reads = std::max<std::uint64_t>(logs_audits ? o.rot_reads : 0, o.read_by_update());
    o.launch.capacity.reads = o.reads ? o.reads : static_cast<std::uint32_t>(std::min<std::uint64_t>(reads, 1u << 22));
    const std::uint64_t writes = std::uint64_t{o.accounts_per_transaction} + o.update_writes;
    o.launch.capacity.writes =
        o.writes ? o.writes : static_cast<std::uint32_t>(std::min<std::uint64_t>(writes, 1u << 22));
    return o;
  }

 public:
  bank(device d, const bank_options& options)
      : o_(checked(options)),
        stream_(d),
        memory_(d, options.memory),
        balance_(memory_.template allocate<int>(o_.accounts, bank_options::initial_balance, "balance")),
        tally_(d, sizeof(bank_tally)) {}

  measurement run() {
    if (o_.accounts_per_transaction == 2 && o_.update_reads == 0 && o_.update_writes == 0)
      return o_.rot > 0 ? run_as<true, true>() : run_as<true, false>();
    return o_.rot > 0 ? run_as<false, true>() : run_as<false, false>();
  }

 private:
  template <bool Pair, bool Audits>
  measurement run_as() {
    launch_config grid = o_.launch;
    std::uint32_t shard = 0, rot_reads = static_cast<std::uint32_t>(o_.rot_reads);
    if (o_.sharded) {
      grid = sharded_grid<bank_client<Pair, Audits>>();
      shard = o_.shard(std::uint64_t{grid.blocks} * grid.threads);
      if (rot_reads == 0) rot_reads = shard;
      if (Audits && A::traits.logs_read_only && !o_.reads)
        grid.capacity.reads = std::max(grid.capacity.reads, std::min(rot_reads, 1u << 22));
    }
    const bank_client<Pair, Audits> client{balance_,
                                           o_.amount.transactions,
                                           static_cast<std::uint64_t>(o_.amount.seconds * 1e9),
                                           o_.seed,
                                           std::max(1u, static_cast<std::uint32_t>(o_.rot * 10'000 + 0.5)),
                                           rot_reads,
                                           o_.accounts_per_transaction,
                                           o_.update_reads,
                                           o_.update_writes,
                                           shard,
                                           o_.reserved(shard ? shard : o_.accounts),
                                           tally_.as<bank_tally>()};
    memory_.on()->fill_zero(stream_.handle(), tally_.as<void>(), tally_.size());
    auto w = make_launch_workspace(stream_, memory_, grid, client);
    measurement m = measured_launch(stream_, memory_, w, client);
    check(m);
    return m;
  }
  /// Without zeros. What gputm chooses of it has no more clients than there are accounts for.
  template <class Client>
  launch_config sharded_grid() const {
    using kernel = launching::user_kernel<A, with_statistics, Client>;
    launch_config c = launching::resolve<kernel>(memory_, o_.launch, parts::max_threads);
    const auto most = static_cast<std::uint32_t>(o_.accounts / o_.least_shard());
    if (o_.launch.threads == 0) c.threads = std::min(c.threads, std::max(1u, most / std::max(1u, o_.launch.blocks)));
    if (o_.launch.blocks == 0) c.blocks = std::min(c.blocks, std::max(1u, most / c.threads));
    return c;
  }
  void check(measurement& m) {
    bank_tally t;
    memory_.on()->copy_from_device(stream_.handle(), &t, tally_.as<void>(), sizeof t);
    std::int64_t total = 0;
    for (int b : memory_.read(stream_, balance_)) total += b;
    const std::int64_t expected = static_cast<std::int64_t>(o_.accounts) * bank_options::initial_balance;
    const std::uint64_t asked = o_.amount.transactions;
    m.ok = total == expected && t.wrong_audits == 0 && (asked == 0 || m.stats.commits == asked);
    m.invariant =
        "sum of balances " + std::to_string(total) + (total == expected ? " = " : " != ") + std::to_string(expected);
    if (asked != 0 && m.stats.commits != asked)
      m.invariant +=
          "; " + std::to_string(m.stats.commits) + " of " + std::to_string(asked) + " transactions committed";
    if (t.audits)
      m.invariant += "; " + std::to_string(t.audits - t.wrong_audits) + " of " + std::to_string(t.audits) +
                     " read-only sums right";
  }
};

}  // namespace GPUTM_BUILD
}  // namespace gputm::workloads
