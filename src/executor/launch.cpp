// gputm::host::executor: checks a launch and spreads it over OS threads, which are kept between runs.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "job.hpp"
#include "settings.hpp"
#include "worker.hpp"

namespace gputm::host {

struct executor::impl {
  std::vector<std::unique_ptr<worker>> workers;  // the first one runs on the caller's thread
  std::vector<std::thread> others;               // number i runs worker i + 1

  std::mutex mutex;  // guards what follows
  std::condition_variable opened, left;
  job* open = nullptr;  // the other threads may join it
  std::uint64_t generation = 0;
  unsigned joined = 0;  // of the others, how many work on it
  bool quit = false;

  std::atomic<bool> running{false};

  ~impl() {
    {
      const std::lock_guard lock(mutex);
      quit = true;
    }
    opened.notify_all();
    for (std::thread& t : others) t.join();
  }

  void hire(unsigned count);
  void serve(unsigned index);
  void work(job&);
};

void executor::impl::hire(unsigned count) {
  while (workers.size() < count) workers.push_back(std::make_unique<worker>());
  while (others.size() + 1 < count)
    others.emplace_back([this, index = static_cast<unsigned>(others.size() + 1)] { serve(index); });
}

void executor::impl::serve(unsigned index) {
  std::unique_lock lock(mutex);
  for (std::uint64_t seen = 0;;) {
    opened.wait(lock, [&] { return quit || (open && generation != seen); });
    if (quit) return;
    seen = generation;
    job& j = *open;
    if (index >= j.workers) continue;
    ++joined;
    worker& self = *workers[index];
    lock.unlock();
    self.run(j, index);
    lock.lock();
    if (--joined == 0) left.notify_one();
  }
}

// An OS thread that wakes up when all blocks are taken is not waited for: small launches cost no more than the
// call that wakes it.
void executor::impl::work(job& j) {
  hire(j.workers);
  if (j.workers > 1) {
    {
      const std::lock_guard lock(mutex);
      open = &j;
      ++generation;
    }
    opened.notify_all();
  }
  workers[0]->run(j, 0);
  if (j.workers > 1) {
    std::unique_lock lock(mutex);
    open = nullptr;
    left.wait(lock, [&] { return joined == 0; });
  }
}

namespace {

unsigned worker_count(const config& c, std::uint32_t resident) {
  if (c.schedule != scheduler::fast) return 1;  // whole schedules are decided in one place
  const unsigned wanted = c.os_threads != 0 ? c.os_threads : std::max(1u, std::thread::hardware_concurrency());
  return std::min(wanted, resident);
}

/// One run at a time, and none inside of a kernel.
class running_guard {
 public:
  explicit running_guard(std::atomic<bool>& running) : running_(running) {
    if (simt::host::current) throw std::logic_error("gputm::host::executor: run called inside of a kernel");
    if (running_.exchange(true, std::memory_order_acquire))  // pairs with the release of the run before
      throw std::logic_error(
          "gputm::host::executor: already running; an executor does one run at a time: let each "
          "thread of the host make a host_device() of its own");
  }
  ~running_guard() { running_.store(false, std::memory_order_release); }
  running_guard(const running_guard&) = delete;
  running_guard& operator=(const running_guard&) = delete;

 private:
  std::atomic<bool>& running_;
};

report gather(job& j, const std::vector<std::unique_ptr<worker>>& workers) {
  if (j.error) std::rethrow_exception(j.error);
  report all = workers[0]->result();
  all.result = j.result;
  all.what = std::move(j.what);
  const bool lists_threads = j.result == verdict::livelock && j.settings->schedule == scheduler::fast;
  if (lists_threads) all.what += workers[0]->result().what;
  for (unsigned i = 1; i < j.workers; ++i) {
    if (j.pulses[i].is.load(std::memory_order_relaxed) == pulse::absent) continue;  // its result is an older run's
    all.switches += workers[i]->result().switches;
    if (lists_threads) all.what += workers[i]->result().what;
  }
  return all;
}

}  // namespace

executor::executor() : impl_(std::make_unique<impl>()) {}
executor::~executor() = default;

report executor::run(const config& c, std::uint32_t blocks, std::uint32_t threads,
                     const std::function<void()>& thread_main) {
  check_launch(c, blocks, threads);
  if (!thread_main) throw std::invalid_argument("gputm::host::executor: no kernel");
  const running_guard guard(impl_->running);
  job j;
  j.settings = &c;
  j.body = &thread_main;
  j.blocks = blocks;
  j.threads = threads;
  j.resident = resident_blocks(c, blocks);
  j.workers = worker_count(c, j.resident);
  if (c.cluster_blocks > 1) j.dynamic = std::make_unique<dynamic_of_block[]>(blocks);
  j.pulses = std::make_unique<pulse[]>(j.workers);
  impl_->work(j);
  return gather(j, impl_->workers);
}

}  // namespace gputm::host
