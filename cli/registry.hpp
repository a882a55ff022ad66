// What the program knows of algorithms. Plain C++: translation units that nvcc compiles include it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bank.hpp"
#include "gputm/history.hpp"
#include "memcached.hpp"
#include "producer_consumer.hpp"

namespace gputm::workloads {
class prepared_loop;
struct loop_options;
}  // namespace gputm::workloads

namespace gputm::cli {

enum class role : std::uint8_t {
  algorithm,
  baseline  ///< for comparison: no transactional memory
};

/// One algorithm or loop engine, and how it runs each workload; null where it cannot.
struct algorithm_entry {
  std::string_view name;
  cli::role role = role::algorithm;
  std::string_view about;
  algorithm_traits traits = {};
  bool host_only = false;
  workloads::measurement (*bank)(const device&, const workloads::bank_options&) = nullptr;
  workloads::measurement (*producer_consumer)(const device&, const workloads::producer_consumer_options&) = nullptr;
  workloads::measurement (*memcached)(const device&, const workloads::memcached_options&) = nullptr;
  std::optional<loop_traits> loop = {};  ///< of an engine of speculative loops
  workloads::measurement (*speculate)(const device&, const workloads::prepared_loop&,
                                      const workloads::loop_options&) = nullptr;
};

/// What one explored schedule showed.
struct finding {
  std::string what;  ///< is wrong; empty if nothing is
  std::uint64_t stale_reads = 0;
  history::history record;  ///< of the workloads that keep one
};

/// One schedule of a workload; `index` varies grid and sizes.
using exploration = finding (*)(const host::config&, std::uint64_t index);

struct exploration_entry {
  std::string_view algorithm, workload;
  exploration explore;
};

/// Called by the translation unit of each algorithm, before main.
bool add(const algorithm_entry&);
bool add(const exploration_entry&);
bool add_engine(const algorithm_entry&);

/// All, algorithms before baselines, by name.
const std::vector<algorithm_entry>& algorithms();
const std::vector<exploration_entry>& explorations();
/// The loop engines, in the same order.
const std::vector<algorithm_entry>& engines();
/// Null if there is none.
const algorithm_entry* find_algorithm(std::string_view name);
const exploration_entry* find_exploration(std::string_view algorithm, std::string_view workload);

}  // namespace gputm::cli
