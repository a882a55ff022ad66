// The host device, one schedule after another: the executor and its stacks are kept, only the config changes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "venue.hpp"

namespace gputm::conformance {

/// What a search for a failing schedule found.
struct search_result {
  std::uint64_t schedules = 0;  ///< tried, the failing one included
  bool failed = false;
  std::uint64_t index = 0;
  std::string what;  ///< with the seed and the index
};

class explorer {
  struct backend;
  std::shared_ptr<backend> backend_;

 public:
  explicit explorer(bool weak);
  /// Runs the property on schedules [first, first + count) of the portfolio of `seed`, until one fails or all together
  /// have taken `steps` steps of the host executor.
  search_result search(void (*property)(const venue&), std::uint64_t seed, std::uint64_t first, std::uint64_t count,
                       std::uint64_t steps = ~std::uint64_t{0});
};

}  // namespace gputm::conformance
