// Finding a race before users do: the host device in explore mode runs a kernel under many schedules. The
// planted bug is a check in one transaction and an act on it in another; either alone is correct.
#include <gputm/gputm.hpp>

#include <cstdio>
#include <string>

struct has_enough {
  static constexpr bool read_only = true;
  using result_type = bool;
  gputm::array<int> balance;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int amount) const {
    GPUTM_TRY(int b, tx.load(balance[0]));
    tx.result(b >= amount);
    return gputm::commit;
  }
};

struct withdraw {
  using result_type = int;
  gputm::array<int> balance;
  bool check;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int amount) const {
    GPUTM_TRY(int b, tx.load(balance[0]));
    if (check && b < amount) return gputm::cancel;
    GPUTM_TRY(tx.store(balance[0], b - amount));
    tx.result(b - amount);
    return gputm::commit;
  }
};

struct customer {
  bool correct;
  template <class Context>
  GPUTM_FN void operator()(Context& ctx, gputm::array<int> balance) const {
    bool enough = true;
    int left = 0;
    if (!correct) ctx.transact_into(gputm::simt::full_mask, enough, has_enough{balance}, 100);
    if (enough) ctx.transact_into(gputm::simt::full_mask, left, withdraw{balance, correct}, 100);
    gputm::simt::check(left >= 0, "the account is overdrawn");
  }
};

/// Three customers withdraw 100 each from an account of 200 under this schedule; what went wrong, or nothing.
std::string failure(const gputm::host::config& schedule, bool correct) {
  gputm::device device = gputm::host_device(schedule);
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm> tm{device};
  auto balance = tm.allocate<int>(1, 200, "balance");
  gputm::launch_config config;
  config.capacity = {.reads = 1, .writes = 1};
  config.blocks = 1;
  config.threads = 3;
  try {
    gputm::launch(stream, tm, config, customer{correct}, balance);
    return "";
  } catch (const gputm::schedule_failed& e) {
    return e.what();
  }
}

int main() {
  constexpr unsigned schedules = 300, seed = 1;
  for (unsigned i = 0; i < schedules; ++i)
    if (auto what = failure(gputm::host::portfolio({}, seed, i), true); !what.empty()) {
      std::printf("the correct version failed: %s\n", what.c_str());
      return 1;
    }
  std::printf("one transaction: %u schedules passed\n", schedules);

  for (unsigned i = 0; i < schedules; ++i) {
    const gputm::host::config schedule = gputm::host::portfolio({}, seed, i);
    const std::string what = failure(schedule, false);
    if (what.empty()) continue;
    std::printf("two transactions: schedule %u failed, seed %lu\n%s\n", i, schedule.seed, what.c_str());
    return failure(schedule, false) == what ? 0 : 1;  // the same seed replays it
  }
  std::printf("the planted bug was not found\n");
  return 1;
}
