// Bulk transactions: one transfer for each order, as if they ran one after another.
#include <gputm/gputm.hpp>

#include <cstdio>
#include <vector>

#include "any_device.hpp"

struct order {
  int from, to, amount;
};

struct transfer {
  gputm::array<int> balance;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, order o) const {
    GPUTM_TRY(int from, tx.load(balance[o.from]));
    if (from < o.amount) return gputm::cancel;  // changes nothing
    GPUTM_TRY(tx.store(balance[o.from], from - o.amount));
    GPUTM_TRY(int to, tx.load(balance[o.to]));
    GPUTM_TRY(tx.store(balance[o.to], to + o.amount));
    return gputm::commit;
  }
};

int main() {
  gputm::device device = examples::any_device();  // the first GPU, or the host
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm> tm{device};
  auto balance = tm.allocate<int>(100, 1000);  // 100 accounts with 1000 each

  std::vector<order> orders;
  for (int i = 0; i < 100'000; ++i) orders.push_back({i * 7 % 100, i * 13 % 100, i % 500});
  auto done = gputm::run(stream, tm, orders, transfer{balance}, {.reads = 2, .writes = 2});

  int total = 0;
  for (int b : tm.read(stream, balance)) total += b;
  std::printf("%lu transfers committed, %lu conflicts, total %d\n", done.stats.commits, done.stats.conflicts(), total);
  return total == 100 * 1000 ? 0 : 1;
}
