// The host device: the executor behind the back end's interface.
#include "gputm/device.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "gputm/error.hpp"
#include "gputm/host/replayable_memory.hpp"

namespace gputm {
namespace {

/// What Linux says of this machine's memory, in bytes; no limit where nobody says.
std::size_t memory_of_machine(const std::string& which) {
  std::ifstream info("/proc/meminfo");
  for (std::string what, rest; info >> what; std::getline(info, rest)) {
    std::size_t kib = 0;
    if (what == which && info >> kib) return kib * 1024;
  }
  return std::numeric_limits<std::size_t>::max();
}

class host_backend final : public backend {
  host::config config_;
  host::executor executor_;
  std::optional<host::replayable_memory> exploring_;  // fast runs have memory of the heap
  std::atomic<std::size_t> live_ = 0;                 // bytes

  bool explores() const { return exploring_.has_value(); }
  std::size_t size(void* p) { return explores() ? exploring_->size(p) : malloc_usable_size(p); }

  /// Linux hands out more than there is, and kills whoever uses it.
  bool too_much(std::size_t bytes) const {
    constexpr std::size_t worth_asking = std::size_t{64} << 20;
    return bytes >= worth_asking &&
           (bytes > memory_of_machine("MemAvailable:") || live_ + bytes > memory_of_machine("MemTotal:"));
  }

 public:
  host::report last;

  explicit host_backend(const host::config& config) : config_(config) {
    if (config_.warp_width < 1 || config_.warp_width > 32)
      throw invalid_argument("warp_width is " + std::to_string(config_.warp_width) + ": it can be 1 to 32");
    if (config_.schedule != host::scheduler::fast) exploring_.emplace();
    if (config_.os_threads == 0) config_.os_threads = std::max(1u, std::thread::hardware_concurrency());
  }
  device_kind kind() const override { return device_kind::host; }
  std::string name() const override {
    return explores() ? std::string("host, exploring") : "host, " + std::to_string(config_.os_threads) + " OS threads";
  }
  std::uint32_t multiprocessors() const override { return config_.os_threads; }
  std::uint32_t warp_width() const override { return config_.warp_width; }
  std::uint32_t max_resident_blocks(std::uint32_t threads) const override {
    const std::uint32_t most = config_.max_resident_blocks ? config_.max_resident_blocks : 4096;
    return std::min(most, host::most_resident_threads / std::max(threads, 1u));
  }
  void* allocate(std::size_t bytes) override {
    void* p = nullptr;
    if (!too_much(bytes))
      p = explores() ? exploring_->allocate(bytes) : std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p)
      throw out_of_memory("the host has no " + std::to_string(bytes) + " bytes left; use smaller arrays or capacities");
    live_ += size(p);
    return p;
  }
  void free(void* p) noexcept override {
    live_ -= size(p);
    explores() ? exploring_->free(p) : std::free(p);
  }
  void* create_stream() override { return nullptr; }
  void destroy_stream(void*) noexcept override {}
  void synchronize(void*) override {}
  void copy_to_device(void*, void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy_from_device(void*, void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill_zero(void*, void* p, std::size_t bytes) override { std::memset(p, 0, bytes); }
  std::uint32_t largest_cluster() const override { return 8; }  // as a GPU
  void run_host(std::uint32_t blocks, std::uint32_t cluster, std::uint32_t threads, std::size_t shared_bytes,
                const std::function<void()>& thread_main) override {
    host::config config = config_;
    if (cluster > 1) config.cluster_blocks = cluster;
    config.dynamic_shared_bytes = std::max(config.dynamic_shared_bytes, shared_bytes);
    try {
      last = executor_.run(config, blocks, threads, thread_main);
    } catch (const std::invalid_argument& e) {
      throw invalid_argument(e.what());
    } catch (const std::logic_error& e) {
      throw error(e.what());
    } catch (const std::bad_alloc&) {
      throw out_of_memory("no memory for the stacks of " + std::to_string(blocks) + " x " + std::to_string(threads) +
                          " simulated threads; use fewer");
    }
    if (last) return;
    const std::string kind = std::string(host::name(last.result)) + ": ";
    std::string what = last.what.starts_with(kind) ? last.what : kind + last.what;
    if (explores())
      what += "\n  schedule: " + std::string(host::name(config_.schedule)) + ", seed " + std::to_string(config_.seed);
    throw schedule_failed(what);
  }
};

}  // namespace

void backend::run_host(std::uint32_t, std::uint32_t, std::uint32_t, std::size_t, const std::function<void()>&) {
  throw no_device("this launch was compiled for the host device, and the memory is on " + name() +
                  "; compile the caller with nvcc to launch on a GPU");
}

device host_device(const host::config& config) { return device(std::make_shared<host_backend>(config)); }

const host::report& last_report(const device& d) {
  auto* h = dynamic_cast<host_backend*>(&*d);
  if (!h) throw no_device("last_report: " + d->name() + " is not a host device");
  return h->last;
}

void detail::check_stream(const stream& s, const device& d) {
  if (s.on() == d) return;
  throw invalid_argument("the stream is one of " + s.on()->name() + ", the memory is on " + d->name() +
                         (d.is_host() && s.on().is_host() ? ", another one" : "") +
                         ": use a stream of the memory's device");
}

}  // namespace gputm
