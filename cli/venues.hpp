// Where a command runs: --device host, cuda or cuda:N.
#pragma once

#include <string>

#include "gputm/device.hpp"
#include "settings.hpp"

namespace gputm::cli {

class venue {
  std::string name_;  // as in JSON: host, cuda:0
  int gpu_ = -1;
  std::shared_ptr<device> kept_;
  unsigned warp_width_ = 0, os_threads_ = 0;

 public:
  /// Empty text: a GPU if this build can use one and there is one, else the host. Throws usage_error.
  explicit venue(const std::string& text);

  const std::string& name() const { return name_; }
  bool is_host() const { return gpu_ < 0; }
  /// The device; the host's has the warp width and OS threads of the point. Made anew when they change.
  const device& on(const point&);
};

/// Options of the host device.
std::vector<setting> host_settings();

}  // namespace gputm::cli
