// Which grid a launch gets, and which it may not have.
#include <algorithm>
#include <string>

#include "gputm/workspace.hpp"

namespace gputm::detail {
namespace {

void check_threads(std::uint32_t in_a_block) {
  if (in_a_block > 1024) throw invalid_argument(std::to_string(in_a_block) + " threads in a block: the limit is 1024");
}

/// Threads of a block such that there are as few as can be, and give each multiprocessor so many threads as blocks of
/// config.threads do.
std::uint32_t large_block(const grid_needs& kernel, const memory_core& m, launch_config config,
                          std::uint32_t of_multiprocessor) {
  const device& d = m.on();
  const std::uint32_t threads = config.threads, blocks = (of_multiprocessor + 1023) / 1024;
  if (blocks == 0) return threads;
  config.threads = of_multiprocessor / blocks / d->warp_width() * d->warp_width();
  if (config.threads <= threads) return threads;
  const std::uint32_t large = kernel.resident_blocks(d, kernel.shape_of(d, m.options(), config));
  const std::uint64_t wanted = std::uint64_t{of_multiprocessor} * d->multiprocessors();
  return std::uint64_t{large} * config.threads >= wanted ? config.threads : threads;
}

}  // namespace

void check_capacity(const capacity& c) {
  constexpr std::uint32_t longest = 1u << 22;
  const auto check = [](const char* of, std::uint32_t n) {
    if (n > longest)
      throw invalid_argument(std::string("capacity.") + of + " is " + std::to_string(n) + ": the limit is " +
                             std::to_string(longest) + " elements; split the work of the body");
  };
  check("reads", c.reads);
  check("writes", c.writes);
}

void check_config(const launch_config& c) {
  if (c.blocks == 0 || c.threads == 0)
    throw invalid_argument("a grid of " + std::to_string(c.blocks) + " blocks of " + std::to_string(c.threads) +
                           " threads: both must be at least 1");
  check_threads(c.threads);
  if (std::uint64_t{c.blocks} * c.threads > parts::max_threads)
    throw grid_not_resident(std::to_string(c.blocks) + " blocks of " + std::to_string(c.threads) +
                            " threads are more than the " + std::to_string(parts::max_threads) +
                            " threads that priorities can tell apart; use fewer");
  check_capacity(c.capacity);
}

void check_shape(const launch_config& c, const char* algorithm, bool one_thread, bool records) {
  if (one_thread && (c.blocks != 1 || c.threads != 1))
    throw invalid_argument(std::string(algorithm) + " runs on one thread, and the workspace is for " +
                           std::to_string(c.blocks) + " blocks of " + std::to_string(c.threads) +
                           "; make it of 1 block of 1 thread");
  constexpr std::uint64_t most = std::uint64_t{1} << 40;  // 8 bytes each, of 2^19 threads: 2^62
  if (records && c.history_words > most)
    throw invalid_argument("history_words is " + std::to_string(c.history_words) + ": the limit is " +
                           std::to_string(most) + " words a thread");
}

launch_config choose_grid(const grid_needs& kernel, const memory_core& m, launch_config config, std::uint64_t work) {
  const device& d = m.on();
  if (kernel.one_thread) config.blocks = config.threads = 1;
  const bool automatic = config.threads == 0 && config.blocks == 0;
  if (config.threads == 0) config.threads = d.is_host() ? std::max(1u, std::min(32u, d->warp_width())) : 128;
  check_threads(config.threads);
  launch_shape shape = kernel.shape_of(d, m.options(), config);
  std::uint32_t resident = kernel.resident_blocks(d, shape);
  if (shape.cluster > 1 && resident < shape.servers + std::max(1u, config.blocks)) {
    config.clusters = false;
    shape = kernel.shape_of(d, m.options(), config);
    resident = kernel.resident_blocks(d, shape);
  }
  if (automatic && !d.is_host()) {
    std::uint32_t of_multiprocessor = resident / d->multiprocessors() * config.threads;
    if (kernel.most_threads != 0) of_multiprocessor = std::min(of_multiprocessor, kernel.most_threads);
    if (kernel.large_blocks && work >= std::uint64_t{of_multiprocessor} * d->multiprocessors()) {
      config.threads = large_block(kernel, m, config, of_multiprocessor);
      shape = kernel.shape_of(d, m.options(), config);
      resident = kernel.resident_blocks(d, shape);
    }
    if (kernel.most_threads != 0)
      resident = std::min(resident, std::max(1u, kernel.most_threads / config.threads) * d->multiprocessors());
  }
  const std::uint32_t limit = resident > shape.servers ? resident - shape.servers : 0;
  if (resident == 0)
    throw grid_not_resident("a block of " + std::to_string(config.threads) +
                            " threads of this kernel needs more registers than a multiprocessor of " + d->name() +
                            " has; use fewer threads, 512 at most");
  if (limit == 0)
    throw grid_not_resident("there is no room on " + d->name() + " for a block beside " +
                            std::to_string(shape.servers) + (shape.servers == 1 ? " server of " : " servers of ") +
                            kernel.algorithm);
  if (config.blocks == 0) {
    const std::uint64_t useful = std::max<std::uint64_t>(1, (work + config.threads - 1) / config.threads);
    const std::uint32_t most = d.is_host() ? std::min(limit, 4 * d->multiprocessors()) : limit;
    config.blocks =
        static_cast<std::uint32_t>(std::min<std::uint64_t>({useful, most, parts::max_threads / config.threads}));
  }
  if (config.blocks > limit)
    throw grid_not_resident(std::to_string(config.blocks) + " blocks of " + std::to_string(config.threads) +
                            " threads cannot be on " + d->name() + " at once: the limit for this kernel is " +
                            std::to_string(limit) + " blocks; use fewer, or none to let gputm choose");
  return config;
}

}  // namespace gputm::detail
