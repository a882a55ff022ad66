// The search for an order of blind writes.
#pragma once

#include <cstdint>
#include <vector>

#include "polygraph.hpp"

namespace gputm::history::detail {

/// Two segments of one element, and the cycles that either order of them closes.
struct contradiction {
  id first = none, second = none;      ///< segments
  std::vector<id> cycle, other_cycle;  ///< with first ahead of second, and the reverse; the latter may be unknown
};

struct search_result {
  enum class kind : std::uint8_t { found, impossible, bound_reached };
  kind found = kind::bound_reached;
  std::vector<id> position;  ///< when found: of each node; a topological order that satisfies all choices
  contradiction why;         ///< when impossible
  std::uint64_t steps = 0;   ///< that were taken
};

/// Starts from a topological order of the graph, as positions, and takes at most `bound` steps.
search_result search(const polygraph&, std::vector<id> position, std::uint64_t bound);

}  // namespace gputm::history::detail
