// Holds a mutant against the property that must catch it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/venue.hpp"

namespace gputm::mutants {

struct quarry {
  const char* name;
  void (*property)(const conformance::venue&);
  conformance::mode how;
  std::uint64_t schedules;  ///< to search; half of them must do
  const char* message;      ///< what a failure must say
};

/// 0 if the property fails within half of so many schedules, and says what it should.
int catch_mutant(const quarry&);
/// 0 if no property fails within half of the most schedules of its mutants. Of `parts` parts of all properties this is
/// number `part`, from 0 on.
int pass_control(const std::vector<quarry>&, std::size_t part, std::size_t parts);

}  // namespace gputm::mutants
