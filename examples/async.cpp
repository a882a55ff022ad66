// Asynchronous runs: everything is allocated once, then batches are enqueued without allocating or
// waiting. The same calls can be captured in a CUDA graph.
#include <gputm/gputm.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

#include "any_device.hpp"

/// Counts a sample in its bin; the result is how many were there before it.
struct add_to_bin {
  using result_type = int;
  gputm::array<int> bins;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, int sample) const {
    const auto bin = bins[sample % bins.size()];
    GPUTM_TRY(int count, tx.load(bin));
    GPUTM_TRY(tx.store(bin, count + 1));
    tx.result(count);
    return gputm::commit;
  }
};

int main() {
  constexpr int bins = 50, batches = 8, batch = 5000, all = batches * batch;
  gputm::device device = examples::any_device();
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm> tm{device};
  auto histogram = tm.allocate<int>(bins, 0, "histogram");

  // once: device memory for inputs and results, and a workspace that fits a run of one batch
  std::vector<int> samples(all), before(all);
  std::iota(samples.begin(), samples.end(), 0);
  gputm::buffer inputs(device, all * sizeof(int)), results(device, all * sizeof(int));
  device->copy_to_device(stream.handle(), inputs.as<void>(), samples.data(), inputs.size());
  gputm::launch_config config;
  config.capacity = {.reads = 1, .writes = 1};
  auto workspace = gputm::make_workspace<add_to_bin, int>(stream, tm, batch, config);

  // many times: enqueue and go on; the stream keeps the batches in order
  for (int first = 0; first < all; first += batch)
    gputm::run_async(stream, tm, workspace, add_to_bin{histogram},
                     gputm::bulk<int, int>{inputs.as<int>() + first, batch, results.as<int>() + first});
  device->copy_from_device(stream.handle(), before.data(), results.as<void>(), results.size());
  auto stats = workspace.collect(stream, tm);  // waits; of the last batch: each one resets the workspace

  bool ok = stats.commits == batch;
  for (int count : tm.read(stream, histogram)) ok = ok && count == all / bins;
  const long sum = std::accumulate(before.begin(), before.end(), 0L), each = all / bins;
  ok = ok && sum == bins * each * (each - 1) / 2;  // every bin handed out 0, 1, ..., each - 1
  std::printf("%d samples in %d batches: %s\n", all, batches, ok ? "all counted" : "WRONG");
  return ok ? 0 : 1;
}
