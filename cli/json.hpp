// Runs as JSON: an array with one object a run.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "measurement.hpp"
#include "registry.hpp"
#include "settings.hpp"

namespace gputm::cli {

struct run_record {
  std::string_view workload;
  const algorithm_entry* algorithm;
  std::string device;       ///< host, cuda:0
  std::string device_name;  ///< NVIDIA H200
  const point* parameters;
  workloads::measurement measured;
  std::string failed;   ///< why it was refused or did not end; empty if it did
  unsigned os_threads;  ///< of the host device; 0 on others
};

/// Where the objects go: a file, '-' for stdout, or nowhere if the path is empty. A file that is there already is
/// replaced when the first one is added. What has been added is in the file at once; the destructor ends the array.
class json_file {
  std::FILE* file_ = nullptr;
  std::string path_, command_;
  bool created_ = false, begun_ = false;

  void begin();

 public:
  /// Throws usage_error if the file cannot be written.
  json_file(std::string path, std::string command);
  ~json_file();
  json_file(const json_file&) = delete;
  json_file& operator=(const json_file&) = delete;
  void add(const run_record&);
  /// Throws usage_error if something could not be written.
  void close();
};

/// The commit of the source that this program was built from.
std::string_view built_from();

}  // namespace gputm::cli
