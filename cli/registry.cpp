#include "registry.hpp"

#include <algorithm>
#include <tuple>

#include "libitm_bank.hpp"

namespace gputm::cli {
namespace {

std::vector<algorithm_entry>& all_algorithms() {
  static std::vector<algorithm_entry> all;
  return all;
}
std::vector<algorithm_entry>& all_engines() {
  static std::vector<algorithm_entry> all;
  return all;
}
/// Algorithms before baselines, by name.
std::vector<algorithm_entry> sorted(std::vector<algorithm_entry> all) {
  std::sort(all.begin(), all.end(), [](const algorithm_entry& a, const algorithm_entry& b) {
    return std::tie(a.role, a.name) < std::tie(b.role, b.name);
  });
  return all;
}
std::vector<exploration_entry>& all_explorations() {
  static std::vector<exploration_entry> all;
  return all;
}

workloads::measurement libitm_bank(const device& d, const workloads::bank_options& o) {
  return workloads::run_libitm_bank(o, o.launch.blocks ? o.launch.blocks : std::max(2u, d->multiprocessors()));
}

/// Not an Algorithm: GCC compiles its transactions.
const bool libitm = workloads::has_libitm() && add(algorithm_entry{.name = "libitm",
                                                                   .role = role::baseline,
                                                                   .about = "GCC's own STM on CPU threads",
                                                                   .host_only = true,
                                                                   .bank = libitm_bank});

}  // namespace

bool add(const algorithm_entry& e) {
  all_algorithms().push_back(e);
  return true;
}
bool add_engine(const algorithm_entry& e) {
  all_engines().push_back(e);
  return true;
}
bool add(const exploration_entry& e) {
  all_explorations().push_back(e);
  return true;
}

const std::vector<algorithm_entry>& algorithms() {
  static const std::vector<algorithm_entry> all = sorted(all_algorithms());
  return all;
}
const std::vector<algorithm_entry>& engines() {
  static const std::vector<algorithm_entry> all = sorted(all_engines());
  return all;
}
const std::vector<exploration_entry>& explorations() { return all_explorations(); }

const algorithm_entry* find_algorithm(std::string_view name) {
  for (const algorithm_entry& e : algorithms())
    if (e.name == name) return &e;
  return nullptr;
}
const exploration_entry* find_exploration(std::string_view algorithm, std::string_view workload) {
  for (const exploration_entry& e : explorations())
    if (e.algorithm == algorithm && e.workload == workload) return &e;
  return nullptr;
}

}  // namespace gputm::cli
