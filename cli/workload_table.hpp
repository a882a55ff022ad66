// The workloads of `bench`: their options, and how an algorithm runs one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "registry.hpp"
#include "settings.hpp"

namespace gputm::cli {

enum class effort : std::uint8_t {
  warm_up,  ///< a small part of it, so that the measured run meets a warm device
  full
};

struct workload_entry {
  std::string_view name, about;
  std::vector<setting> settings;
  bool open_ended;  ///< runs for a number of transactions or for a time; else its own options say how much
  /// Why the algorithm cannot run it; empty if it can.
  std::string (*why_not)(const algorithm_entry&);
  workloads::measurement (*run)(const algorithm_entry&, const device&, const point&, effort);
  bool loop = false;  ///< a speculative loop, which engines run
  /// Null, or: takes out the axes that have no effect beside the others. Throws usage_error if one was given.
  void (*settle)(const std::map<std::string, std::string>& given, std::vector<axis>&) = nullptr;
};

const std::vector<workload_entry>& workload_table();
/// Throws usage_error, with the names there are.
const workload_entry& find_workload(std::string_view name);

/// Options of every workload but loops; what loops have of them is in loop_settings.
std::vector<setting> common_settings();
/// Options of every loop besides its own.
std::vector<setting> loop_settings();

}  // namespace gputm::cli
