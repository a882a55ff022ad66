// The bank, as a program outside of gputm would have it.
#include <gputm/gputm.hpp>

#include <cstdio>
#include <vector>

struct order {
  int from, to, amount;
};

struct transfer {
  gputm::array<int> balance;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, order o) const {
    GPUTM_TRY(int from, tx.load(balance[o.from]));
    if (from < o.amount) return gputm::cancel;
    GPUTM_TRY(tx.store(balance[o.from], from - o.amount));
    GPUTM_TRY(int to, tx.load(balance[o.to]));
    GPUTM_TRY(tx.store(balance[o.to], to + o.amount));
    return gputm::commit;
  }
};

bool conserves_the_total(const gputm::device& device) {
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm> tm{device};
  auto balance = tm.allocate<int>(100, 1000, "balance");
  std::vector<order> orders;
  for (int i = 0; i < 20'000; ++i) orders.push_back({i * 7 % 100, i * 13 % 100, i % 500});
  auto done = gputm::run(stream, tm, orders, transfer{balance}, {.reads = 2, .writes = 2});
  long total = 0;
  for (int b : tm.read(stream, balance)) total += b;
  std::printf("%s: %lu of %zu orders committed, total %ld\n", device->name().c_str(),
              static_cast<unsigned long>(done.stats.commits), orders.size(), total);
  return total == 100'000;
}

int main() {
  bool ok = conserves_the_total(gputm::host_device());
#if defined(__CUDACC__)
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0) ok = conserves_the_total(gputm::cuda_device(0)) && ok;
#endif
  return ok ? 0 : 1;
}
