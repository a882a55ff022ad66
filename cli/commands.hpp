// The commands. Each returns the exit status; usage_error and gputm::error are the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "registry.hpp"

namespace gputm::cli {

struct list_request {
  bool json = false;
};
int list(const list_request&);

struct bench_request {
  std::string workload;
  std::string algorithm = "all";
  std::string device;
  std::string json;
  std::uint64_t repeat = 1;
  std::map<std::string, std::string> given;  ///< numeric options, as on the command line
  std::string command;
};
int bench(const bench_request&);

struct check_request {
  std::string algorithm = "all";
  std::string workload = "all";
  std::uint64_t schedules = 1000, seed = 1, first = 0;
  bool weak = true;
  std::string dump;
};
int check(const check_request&);

struct report_request {
  std::vector<std::string> files;
  std::string directory;
};
int report(const report_request&);

/// 'all', or a comma-separated list. Throws usage_error that names what there is.
std::vector<const algorithm_entry*> chosen_algorithms(const std::string& text);
std::vector<const algorithm_entry*> chosen_engines(const std::string& text);

}  // namespace gputm::cli
