// A loop that cannot be proven parallel: each iteration reads and writes elements that an index array names. It runs
// speculatively, and the result is that of one iteration after another, bit for bit.
#include <gputm/gputm.hpp>

#include <cstdio>
#include <vector>

#include "any_device.hpp"

struct relax {
  gputm::array<double> y;
  gputm::array<int> from, to;
  template <gputm::Transaction It>
  GPUTM_FN gputm::outcome operator()(It& it, int i) const {
    const auto k = static_cast<unsigned>(i);
    GPUTM_TRY(const int j, it.load(from[k]));
    GPUTM_TRY(const int l, it.load(to[k]));
    GPUTM_TRY(const double x, it.load(y[static_cast<unsigned>(j)]));
    GPUTM_TRY(it.store(y[static_cast<unsigned>(l)], x * 0.5 + i));
    if (x < 0) it.break_loop();  // as `break` in sequential code
    return gputm::commit;
  }
};

template <class Engine>
std::vector<double> run(const gputm::device& device, int n, const std::vector<int>& from, const std::vector<int>& to) {
  gputm::stream stream{device};
  gputm::memory<Engine> memory{device};
  auto y = memory.template allocate<double>(2 * from.size(), 1.0);
  auto f = memory.template allocate<int>(from.size()), t = memory.template allocate<int>(to.size());
  memory.write(stream, f, from);
  memory.write(stream, t, to);
  const auto done = gputm::speculate(stream, memory, n, relax{y, f, t}, {.capacity = {.reads = 3, .writes = 1}});
  std::printf("%-10s %lu iterations in %lu rounds, %lu executed again, %lu values forwarded\n", Engine::name,
              done.iterations, done.rounds, done.re_executed(), done.forwarded);
  return memory.read(stream, y);
}

int main() {
  gputm::device device = examples::any_device();  // the first GPU, or the host
  constexpr int n = 20'000;
  std::vector<int> from(n), to(n);
  for (int i = 0; i < n; ++i) {
    from[i] = i % 100 == 99 ? n + i - 1 : i;  // one in a hundred reads what the one before it writes
    to[i] = n + i;
  }
  const auto speculative = run<gputm::speculation::gpu_tls>(device, n, from, to);
  const auto sequential = run<gputm::speculation::sequential>(device, n, from, to);
  std::printf("%s\n", speculative == sequential ? "identical" : "they differ");
  return speculative == sequential ? 0 : 1;
}
