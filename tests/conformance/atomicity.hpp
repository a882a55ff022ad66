// Atomicity: a transaction takes effect as a whole or not at all, and is seen as a whole.
#pragma once

#include "gputm/run.hpp"
#include "venue.hpp"

namespace gputm::conformance {

struct order_slip {
  std::int32_t from, to, amount;
};

struct transfer {
  array<int> balance;
  static constexpr unsigned inline_entries = 2;

  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const order_slip& o) const {
    touch(balance[o.from]);
    touch(balance[o.to]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const order_slip& o) const {
    GPUTM_TRY(int from, tx.load(balance[o.from]));
    if (from < o.amount) return gputm::cancel;
    GPUTM_TRY(int to, tx.load(balance[o.to]));
    GPUTM_TRY(tx.store(balance[o.from], from - o.amount));
    GPUTM_TRY(tx.store(balance[o.to], to + o.amount));
    return gputm::commit;
  }
};

inline std::vector<order_slip> some_orders(const venue& v, std::uint32_t count, std::uint32_t accounts) {
  dice d(v.seed);
  std::vector<order_slip> orders(count);
  for (order_slip& o : orders) {
    o.from = static_cast<int>(d.below(accounts));
    o.to = static_cast<int>((static_cast<std::uint32_t>(o.from) + 1 + d.below(accounts - 1)) % accounts);
    o.amount = static_cast<int>(d.below(60));
  }
  return orders;
}

/// Every input has an outcome, and the counters agree with them.
template <class Result>
void outcomes_and_counters_agree(const run_result<Result>& done, std::size_t inputs) {
  require_equal(done.outcomes.size(), inputs, "number of outcomes");
  std::uint64_t committed = 0, cancelled = 0;
  for (outcome o : done.outcomes) {
    committed += o == outcome::commit;
    cancelled += o == outcome::cancel;
  }
  require_equal(committed + cancelled, inputs, "inputs that committed or cancelled");
  require_equal(done.stats.commits, committed, "commits counted");
  require_equal(done.stats[abort_reason::cancelled], cancelled, "cancellations counted");
}

template <class A>
void transfers_conserve_the_total(const venue& v) {
  scene<A> on(v, locking(v));
  const std::uint32_t accounts = v.pick({3u, 50u, 1000u});
  auto balance = on.tm.template allocate<int>(accounts, 100, "balance");
  const auto orders = some_orders(v, v.amount<A>(5u, 20'000u, 60'000u), accounts);
  const auto done = run(on.s, on.tm, orders, transfer{balance}, {.reads = 2, .writes = 2}, v.shape());
  outcomes_and_counters_agree(done, orders.size());
  int sum = 0;
  for (int b : on.tm.read(on.s, balance)) {
    require(b >= 0, "an account was overdrawn");
    sum += b;
  }
  require_equal(sum, static_cast<int>(accounts) * 100, "the total");
}

/// Transfers, and now and then a sum of everything. The sum is a result, checked afterwards; where the
/// algorithm is opaque, it is also checked in attempts that do not commit.
struct bank_input {
  order_slip o;
  std::uint32_t kind;  ///< 0: transfer; 1: audit; 2: audit that writes down what it found; 3: audit, many loads at once
};

struct bank {
  array<int> balance;
  array<int> log;
  alarm wrong;
  bool opaque;
  using result_type = int;

  GPUTM_FN bool read_only(const bank_input& in) const { return in.kind == 1 || in.kind == 3; }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const bank_input& in) const {
    if (in.kind == 0) {
      transfer{balance}.footprint(touch, in.o);
      return;
    }
    for (std::uint32_t i = 0; i < balance.size(); ++i) touch(balance[i]);
    if (in.kind == 2) touch(log[0]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const bank_input& in) const {
    if (in.kind == 0) return transfer{balance}(tx, in.o);
    int sum = 0;
    const std::uint32_t one_by_one = in.kind == 3 ? 0 : balance.size();
    for (std::uint32_t i = 0; i < one_by_one; ++i) {
      GPUTM_TRY(int b, tx.load(balance[i]));
      sum += b;
    }
    GPUTM_TRY(tx.load_each(
        balance.size() - one_by_one, [this](std::uint32_t k) { return balance[k]; },
        [&sum](std::uint32_t, int b) { sum += b; }));
    wrong.raise_if(opaque && sum != static_cast<int>(balance.size()) * 100);
    tx.result(sum);
    if (in.kind != 2) return gputm::commit;
    GPUTM_TRY(tx.store(log[0], sum));
    return gputm::commit;
  }
};

template <class A>
void auditors_see_the_total(const venue& v) {
  scene<A> on(v, locking(v));
  const std::uint32_t accounts = v.pick({3u, 24u, 100u});
  auto balance = on.tm.template allocate<int>(accounts, 100, "balance");
  auto log = on.tm.template allocate<int>(1, static_cast<int>(accounts) * 100, "log");
  scratch seen(on.s, 1);
  const auto orders = some_orders(v, v.amount<A>(5u, 6000u, 5000u), accounts);
  std::vector<bank_input> inputs;
  dice d(v.seed + 1);
  for (const order_slip& o : orders) inputs.push_back({o, d.below(8) > 4 ? 1 + d.below(3) : 0});
  const auto done = run(on.s, on.tm, inputs, bank{balance, log, seen.alarm(), A::traits.opaque},
                        {.reads = accounts, .writes = 2}, v.shape());
  outcomes_and_counters_agree(done, inputs.size());
  std::uint64_t audits = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == 0) continue;
    audits += inputs[i].kind != 2;
    require_equal(done.results[i], accounts * 100, "the sum an auditor saw");
  }
  require_equal(done.stats.read_only_commits, audits, "read-only commits");
  require_equal(seen.value(), 0u, "wrong sums inside of transactions");
  require_equal(on.total(balance), accounts * 100, "the total");
  require_equal(on.tm.read(on.s, log, 0), accounts * 100, "the sum written down");
}

}  // namespace gputm::conformance
