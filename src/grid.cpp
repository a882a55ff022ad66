// Which grid a launch gets.
#include <algorithm>
#include <string>

#include "gputm/workspace.hpp"

namespace gputm::detail {

launch_config choose_grid(const grid_needs& kernel, const memory_core& m, launch_config config, std::uint64_t work) {
  const device& d = m.on();
  if (kernel.one_thread) config.blocks = config.threads = 1;
  if (config.threads == 0) config.threads = d.is_host() ? std::max(1u, std::min(32u, d->warp_width())) : 128;
  if (config.threads > 1024)
    throw invalid_argument(std::to_string(config.threads) + " threads in a block: the limit is 1024");
  launch_shape shape = kernel.shape_of(d, m.options(), config);
  std::uint32_t resident = kernel.resident_blocks(d, shape);
  if (shape.cluster > 1 && resident < shape.servers + std::max(1u, config.blocks)) {
    config.clusters = false;
    shape = kernel.shape_of(d, m.options(), config);
    resident = kernel.resident_blocks(d, shape);
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
