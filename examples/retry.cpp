// Waiting for a condition: a body that returns retry runs again after others, until what it waits for is
// there. Here consumers wait for a queue to fill, producers for it to have room.
#include <gputm/gputm.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "any_device.hpp"

struct job {
  bool produce;
  int value;
};

struct queue_ends {
  std::uint32_t head, tail;
};

struct work {
  using result_type = int;
  gputm::array<queue_ends> ends;  // one element
  gputm::array<int> slots;

  template <gputm::Transaction Tx>
  GPUTM_FN gputm::outcome operator()(Tx& tx, job j) const {
    GPUTM_TRY(queue_ends e, tx.load(ends[0]));
    if (j.produce) {
      if (e.tail - e.head == slots.size()) return gputm::retry;  // full
      GPUTM_TRY(tx.store(slots[e.tail++ % slots.size()], j.value));
    } else {
      if (e.tail == e.head) return gputm::retry;  // empty
      GPUTM_TRY(int value, tx.load(slots[e.head++ % slots.size()]));
      tx.result(value);
    }
    GPUTM_TRY(tx.store(ends[0], e));
    return gputm::commit;
  }
};

int main() {
  constexpr int values = 2000;
  gputm::device device = examples::any_device();
  gputm::stream stream{device};
  gputm::memory<gputm::algorithm::pr_stm> tm{device};
  auto ends = tm.allocate<queue_ends>(1);
  auto slots = tm.allocate<int>(16);

  std::vector<job> jobs;  // every consumer stands before every producer: they must wait
  for (int i = 0; i < values; ++i) jobs.push_back({false, 0});
  for (int i = 0; i < values; ++i) jobs.push_back({true, i});
  auto done = gputm::run(stream, tm, jobs, work{ends, slots}, {.reads = 2, .writes = 2});

  std::vector<int> seen(values);
  for (int i = 0; i < values; ++i) ++seen[done.results[i]];
  bool once = true;
  for (int n : seen) once = once && n == 1;
  std::printf("%d values went through a queue of 16, %s; bodies asked %lu times for a retry\n", values,
              once ? "each once" : "NOT each once", done.stats[gputm::abort_reason::retry]);
  return once ? 0 : 1;
}
