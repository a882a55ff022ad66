#include "venues.hpp"

#include <charconv>

#include "gpus.hpp"
#include "gputm/error.hpp"
#include "text.hpp"

namespace gputm::cli {

venue::venue(const std::string& text) {
  if (text == "host" || (text.empty() && gpu_count() == 0)) {
    name_ = "host";
    return;
  }
  gpu_ = 0;
  if (text.rfind("cuda:", 0) == 0) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, gpu_);
    if (error != std::errc() || stop != end || gpu_ < 0 || text[5] == '-')
      throw usage_error("--device '" + text + "': it takes host, cuda or cuda:N");
  } else if (!text.empty() && text != "cuda") {
    throw usage_error("--device '" + text + "': it takes host, cuda or cuda:N");
  }
  name_ = "cuda:" + std::to_string(gpu_);
  try {
    kept_ = std::make_shared<device>(gpu(gpu_));
  } catch (const error& e) {
    throw usage_error("--device " + (text.empty() ? "cuda" : text) + ": " + e.what());
  }
}

const device& venue::on(const point& p) {
  if (!is_host()) return *kept_;
  const unsigned warp_width = p.whole32("warp-width"), os_threads = p.whole32("os-threads");
  if (!kept_ || warp_width != warp_width_ || os_threads != os_threads_) {
    host::config c;
    c.warp_width = warp_width_ = warp_width;
    c.os_threads = os_threads_ = os_threads;
    kept_.reset();  // its stacks go before new ones are made
    kept_ = std::make_shared<device>(host_device(c));
  }
  return *kept_;
}

std::vector<setting> host_settings() {
  return {whole_setting("warp-width", "32", 1, 32, "lanes in a warp of the host device"),
          choice_setting("os-threads", 1, 1024, "OS threads of the host device; auto: one for each core")};
}

}  // namespace gputm::cli
