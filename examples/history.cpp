// Recording what every transaction read and wrote, and checking that a serial order explains it.
#include <gputm/gputm.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <vector>

#include "any_device.hpp"

namespace history = gputm::history;

struct cell {  // the checker knows writers by their values: each is written once
  std::uint32_t value, writer;
};

/// Copies the larger of two cells into the other one.
struct level_up {
  gputm::array<cell> cells;
  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, std::uint32_t id) const {
    const std::uint32_t i = id * 7 % cells.size(), j = id * 11 % cells.size();
    GPUTM_TRY(cell a, tx.load(cells[i]));
    GPUTM_TRY(cell b, tx.load(cells[j]));
    const std::uint32_t most = a.value > b.value ? a.value : b.value;
    GPUTM_TRY(tx.store(cells[i], {most + 1, id + 1}));
    return gputm::commit;
  }
};

int main() {
  constexpr unsigned count = 20;
  gputm::device device = examples::any_device();
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm_opaque> tm{device};
  auto cells = tm.allocate<cell>(count, {}, "cells");  // all zero: the history's default for initial values

  std::vector<std::uint32_t> ids(3000);
  for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = i;
  gputm::launch_config config;
  config.blocks = 4;
  config.threads = 32;
  config.history_words = 1 << 16;  // for each thread
  history::history record;
  gputm::run<gputm::with_history>(stream, tm, ids, level_up{cells}, {.reads = 2, .writes = 1}, config, &record);
  auto last = tm.read(stream, cells);
  for (std::uint32_t i = 0; i < count; ++i) record.final[{0, i}] = std::uint64_t{last[i].writer} << 32 | last[i].value;

  // opaque: strict serialisability, and aborted attempts too read consistent states
  const history::verdict good = history::check(record, {.level = history::level::opaque});
  std::printf("%zu attempts: %s\n", record.transactions.size(), good.ok ? "opaque" : good.what.c_str());

  // the checker is no rubber stamp: one read that no serial order explains, and it says so
  record.transactions[good.order.back()].accesses[0].value ^= 1;
  const history::verdict bad = history::check(record, {.level = history::level::opaque});
  std::printf("with one read changed: %s\n", bad.ok ? "not noticed" : bad.what.c_str());
  return good.ok && !bad.ok ? 0 : 1;
}
