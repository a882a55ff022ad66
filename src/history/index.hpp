// The history, numbered: elements, versions, who wrote and who read each version. Building it finds everything that is
// wrong with a single transaction or a single value, before any graph is drawn.
#pragma once

#include <optional>
#include <vector>

#include "gputm/history.hpp"
#include "graph.hpp"

namespace gputm::history::detail {

struct version {
  id element = none;
  id writer = none;  ///< none: the initial value
  std::uint64_t value = 0;
  id next = none;      ///< the version whose writer read this one, and which thus follows at once
  bool blind = false;  ///< its writer did not read the element
};

struct index {
  std::vector<location> elements;
  std::vector<version> versions;       ///< the first ones are the initial values, in the order of elements
  std::vector<id> final_version;       ///< per element; none: not known
  std::vector<std::uint8_t> relevant;  ///< per transaction: does the level take it into account
  rows reads;                          ///< per transaction: the versions of others that it read, each once
  rows writes;                         ///< per transaction: the versions it made; none unless it committed
  rows readers;                        ///< per version: its readers, without its writer
};

/// Fills `out`, or says what is wrong.
std::optional<verdict> build_index(const history&, level, index& out);

}  // namespace gputm::history::detail
