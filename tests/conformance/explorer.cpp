#include "explorer.hpp"

#include <cstring>
#include <map>

#include "crash_note.hpp"
#include "gputm/host/replayable_memory.hpp"

namespace gputm::conformance {

/// Hands out poisoned memory, and knows what has not been given back.
struct explorer::backend final : gputm::backend {
  host::config base, config;
  host::executor executor;
  host::report last;
  std::uint64_t steps = 0;
  std::size_t live = 0, shared_bytes = 0;
  host::replayable_memory memory;

  device_kind kind() const override { return device_kind::host; }
  std::string name() const override { return "host, exploring"; }
  std::uint32_t multiprocessors() const override { return 1; }
  std::uint32_t warp_width() const override { return config.warp_width; }
  std::uint32_t max_resident_blocks(std::uint32_t) const override { return 64; }
  std::size_t shared_bytes_of_block() const override { return shared_bytes; }
  void* allocate(std::size_t bytes) override {
    void* p = memory.allocate(bytes);
    if (!p) throw out_of_memory("no " + std::to_string(bytes) + " bytes left");
    std::memset(p, 0xCD, bytes);
    ++live;
    return p;
  }
  void free(void* p) noexcept override {
    --live;
    memory.free(p);
  }
  void* create_stream() override { return nullptr; }
  void destroy_stream(void*) noexcept override {}
  void synchronize(void*) override {}
  void copy_to_device(void*, void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy_from_device(void*, void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill_zero(void*, void* p, std::size_t bytes) override { std::memset(p, 0, bytes); }
  std::uint32_t largest_cluster() const override { return 8; }
  void run_host(std::uint32_t blocks, std::uint32_t cluster, std::uint32_t threads, std::size_t shared_bytes,
                const std::function<void()>& thread_main) override {
    config.dynamic_shared_bytes = shared_bytes;
    config.cluster_blocks = cluster;
    last = executor.run(config, blocks, threads, thread_main);
    steps += last.steps;
    if (!last) throw schedule_failed(std::string(host::name(last.result)) + ": " + last.what);
  }
};

explorer::explorer(bool weak) : backend_(std::make_shared<backend>()) {
  backend_->base.weak_memory = weak;
  backend_->base.stack_bytes = 128 * 1024;
}

search_result explorer::search(void (*property)(const venue&), std::uint64_t seed, std::uint64_t first,
                               std::uint64_t count, std::uint64_t steps) {
  search_result found;
  crash_note note;
  backend_->steps = 0;
  for (std::uint64_t i = first; i < first + count && !found.failed && backend_->steps < steps; ++i) {
    ++found.schedules;
    backend_->config = host::portfolio(backend_->base, seed, i, 2);
    venue v{device(backend_), backend_->config.weak_memory ? mode::weak : mode::explore};
    v.seed = backend_->config.seed;
    v.round = i;
    backend_->shared_bytes = 227 * 1024;
    v.shared_bytes = &backend_->shared_bytes;
    v.fair = backend_->config.schedule != host::scheduler::pct;
    const std::string schedule = std::string("\n  schedule: ") + host::name(backend_->config.schedule) + ", seed " +
                                 std::to_string(seed) + ", index " + std::to_string(i);
    note.set("crashed" + schedule + "\n");
    try {
      property(v);
      require_equal(backend_->live, 0u, "device allocations that were not given back");
    } catch (const std::exception& e) {
      found.failed = true;
      found.index = i;
      found.what = e.what() + schedule;
    }
  }
  return found;
}

}  // namespace gputm::conformance
