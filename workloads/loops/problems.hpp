// All loop workloads, and the sequential loops on the host that their results are held against.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "loops/black_scholes.hpp"
#include "loops/cfd.hpp"
#include "loops/colouring.hpp"
#include "loops/molecular_dynamics.hpp"
#include "loops/shuffle.hpp"
#include "loops/synthetic.hpp"

namespace gputm::workloads {

using any_loop = std::variant<synthetic_problem, molecular_dynamics_problem, cfd_problem, black_scholes_problem,
                              colouring_problem, shuffle_problem>;

/// What one CPU core makes of a loop.
struct host_reference {
  array_bytes arrays;  ///< in the end
  double seconds = 0;  ///< the median of a few runs if they are short
};
host_reference run_on_host(const any_loop&);

/// A loop with its data. The reference is made when it is asked for, once: it may take longer than all that is
/// measured against it.
class prepared_loop {
  any_loop problem_;
  mutable std::optional<host_reference> reference_;

 public:
  explicit prepared_loop(any_loop problem) : problem_(std::move(problem)) {}
  /// With another reference: for tests.
  prepared_loop(any_loop problem, host_reference r) : problem_(std::move(problem)), reference_(std::move(r)) {}

  const any_loop& problem() const { return problem_; }
  const host_reference& reference() const {
    if (!reference_) reference_ = run_on_host(problem_);
    return *reference_;
  }
};

}  // namespace gputm::workloads
