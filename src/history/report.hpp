// Words for verdicts.
#pragma once

#include <string>
#include <vector>

#include "gputm/history.hpp"
#include "id_table.hpp"

namespace gputm::history::detail {

struct index;
struct polygraph;
struct contradiction;

std::string name(level);
std::string name(const location&);
/// "#4 (thread 2, 7..12, committed)"
std::string describe(const history&, std::size_t transaction);
/// "element 0:3"
std::string element_name(const index&, id element);

verdict unusable(std::string what, std::vector<std::size_t> culprits);
verdict violation(std::string what, std::vector<std::size_t> culprits);
/// A cycle of the graph, as the transactions on it and why each must precede the next.
verdict cyclic(const history&, const index&, const polygraph&, level, const std::vector<id>& cycle);
/// A pair of blind writes neither of which can be first.
verdict contradictory(const history&, const index&, const polygraph&, level, const contradiction&);

}  // namespace gputm::history::detail
