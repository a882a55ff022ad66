// Names, limits and the portfolio: what there is to say about a config without running it.
#include "settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "random.hpp"
#include "shared_memory.hpp"

namespace gputm::host {

namespace {

constexpr std::uint64_t most_weak_threads = 4096;  // each of them keeps a clock of all
constexpr std::size_t least_stack_bytes = 16 * 1024;
constexpr std::size_t most_stack_bytes = std::size_t{1} << 30;
constexpr unsigned most_os_threads = 1024;
constexpr unsigned most_pct_depth = 1000;
constexpr unsigned most_cluster_blocks = 8;  // what every GPU that has clusters can

void require(bool ok, const std::string& what) {
  if (!ok) throw std::invalid_argument("gputm::host::executor: " + what);
}
void require_within(const char* what, double value, double least, double most) {
  require(value >= least && value <= most, std::string(what) + " is " + std::to_string(value) +
                                               ", and must be within " + std::to_string(least) + " and " +
                                               std::to_string(most));
}
void require_within(const char* what, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  require(value >= least && value <= most, std::string(what) + " is " + std::to_string(value) +
                                               ", and must be within " + std::to_string(least) + " and " +
                                               std::to_string(most));
}

void check_settings(const config& c) {
  require(c.schedule <= scheduler::pct, "unknown scheduler");
  require_within("warp_width", std::uint64_t{c.warp_width}, 1, 32);
  require_within("stack_bytes", c.stack_bytes, least_stack_bytes, most_stack_bytes);
  require_within("os_threads", std::uint64_t{c.os_threads}, 0, most_os_threads);
  require_within("dynamic_shared_bytes", c.dynamic_shared_bytes, 0, shared_memory::total_limit);
  require_within("cluster_blocks", std::uint64_t{c.cluster_blocks}, 1, most_cluster_blocks);
  require_within("switch_probability", c.switch_probability, 0.0, 1.0);
  require_within("stale_probability", c.stale_probability, 0.0, 1.0);
  require(!c.weak_memory || c.stale_probability < 1.0,
          "stale_probability is 1, so that no spinning thread would ever see a store");
  require_within("pct_depth", std::uint64_t{c.pct_depth}, 1, most_pct_depth);
  require(c.pct_length > 0, "pct_length is 0");
  require(c.livelock_steps > 0, "livelock_steps is 0");
  require(c.livelock_seconds > 0, "livelock_seconds must be more than 0");
  require(!c.weak_memory || c.schedule != scheduler::fast, "weak_memory needs a scheduler that explores, not fast");
}

}  // namespace

const char* name(scheduler s) {
  switch (s) {
    case scheduler::fast: return "fast";
    case scheduler::round_robin: return "round robin";
    case scheduler::random: return "random";
    default: return "pct";
  }
}

const char* name(verdict v) {
  switch (v) {
    case verdict::ok: return "ok";
    case verdict::check_failed: return "check failed";
    case verdict::deadlock: return "deadlock";
    case verdict::livelock: return "livelock";
    case verdict::bad_mask: return "bad mask";
    default: return "data race";
  }
}

std::uint32_t resident_blocks(const config& c, std::uint32_t blocks) {
  return c.max_resident_blocks == 0 || c.max_resident_blocks > blocks ? blocks : c.max_resident_blocks;
}

void check_launch(const config& c, std::uint32_t blocks, std::uint32_t threads) {
  check_settings(c);
  require(blocks > 0, "the grid has no blocks");
  require(blocks % c.cluster_blocks == 0, "the grid has " + std::to_string(blocks) + " blocks, no multiple of the " +
                                              std::to_string(c.cluster_blocks) + " of a cluster");
  require_within("threads in a block", std::uint64_t{threads}, 1, 1024);
  const std::uint64_t all = std::uint64_t{blocks} * threads;
  require(all <= 0xffffffffu, "the grid has " + std::to_string(all) + " threads, more than 2^32 - 1");
  const std::uint64_t resident = std::uint64_t{resident_blocks(c, blocks)} * threads;
  require(resident <= most_resident_threads,
          std::to_string(resident) + " simulated threads at once, of " + std::to_string(most_resident_threads) +
              " possible (each stack has a guard page); use fewer blocks or threads, or have fewer blocks "
              "at once by host::config::max_resident_blocks");
  require(!c.weak_memory || all <= most_weak_threads, "weak_memory with " + std::to_string(all) + " threads, of " +
                                                          std::to_string(most_weak_threads) + " possible");
}

config portfolio(const config& base, std::uint64_t seed, std::uint64_t index, unsigned narrow_warps) {
  struct entry {
    scheduler schedule;
    double switch_probability;
    unsigned pct_depth;
  };
  static constexpr std::array entries{
      entry{scheduler::random, 1.0, 3},  entry{scheduler::random, 0.25, 3}, entry{scheduler::pct, 1.0, 3},
      entry{scheduler::random, 0.05, 3}, entry{scheduler::pct, 1.0, 6},     entry{scheduler::round_robin, 1.0, 3},
      entry{scheduler::pct, 1.0, 2},     entry{scheduler::pct, 1.0, 4},     entry{scheduler::pct, 1.0, 5}};
  // Nothing goes by a remainder of the index: callers choose by these what runs, and each of it has to meet every kind.
  const std::uint64_t turn = random_source(index / entries.size()).next() % entries.size();
  std::uint64_t drawn = random_source(index).next();
  const auto draw = [&drawn](unsigned n) {
    const auto which = static_cast<unsigned>(drawn % n);
    drawn /= n;
    return which;
  };
  const entry& e = entries[(index % entries.size() + turn) % entries.size()];
  config c = base;
  c.schedule = e.schedule;
  c.switch_probability = e.switch_probability;
  c.pct_depth = e.pct_depth;
  c.pct_length = draw(2) == 0 ? 2 * base.pct_length : std::max<std::uint64_t>(2 * base.pct_length / 5, 1);
  c.in_step = draw(4) == 0;
  if (narrow_warps != 0 && draw(3) == 0) c.warp_width = narrow_warps;
  c.seed = seed * 0x9E3779B97F4A7C15u + index;  // injective in the index, so that no two are the same
  return c;
}

}  // namespace gputm::host
