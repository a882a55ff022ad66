// Read-only transactions return values: audits sum all accounts while transfers go on, in one run.
// A body says for each input whether it only reads; a store under such an input would be an error.
#include <gputm/gputm.hpp>

#include <cstdio>
#include <vector>

#include "any_device.hpp"

struct request {
  bool audit;
  int from, to;
};

struct teller {
  using result_type = long;
  gputm::array<int> balance;

  GPUTM_FN bool read_only(request r) const { return r.audit; }

  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, request r) const {
    if (r.audit) {
      long sum = 0;
      // many loads in one call: their latencies overlap
      GPUTM_TRY(tx.load_each(
          balance.size(), [this](unsigned k) { return balance[k]; }, [&sum](unsigned, int b) { sum += b; }));
      tx.result(sum);  // kept from the committed attempt only
      return gputm::commit;
    }
    GPUTM_TRY(int from, tx.load(balance[r.from]));
    GPUTM_TRY(tx.store(balance[r.from], from - 1));
    GPUTM_TRY(int to, tx.load(balance[r.to]));
    GPUTM_TRY(tx.store(balance[r.to], to + 1));
    return gputm::commit;
  }
};

int main() {
  constexpr int accounts = 64, initial = 100;
  gputm::device device = examples::any_device();
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm_opaque> tm{device};
  auto balance = tm.allocate<int>(accounts, initial, "balance");

  std::vector<request> requests;
  for (int i = 0; i < 20'000; ++i) requests.push_back({i % 10 == 0, i * 7 % accounts, i * 11 % accounts});
  auto done = gputm::run(stream, tm, requests, teller{balance}, {.reads = accounts, .writes = 2});

  int audits = 0, wrong = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].audit) continue;
    ++audits;
    wrong += done.results[i] != long{accounts} * initial;  // result i belongs to input i
  }
  std::printf("%d audits beside %lu transfers, %d of them wrong; %lu read-only attempts were repeated\n", audits,
              done.stats.commits - done.stats.read_only_commits, wrong, done.stats.read_only_aborts);
  return audits == 2000 && wrong == 0 ? 0 : 1;
}
