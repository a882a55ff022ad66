// Cycles of the graph, read as steps from transaction to transaction.
#pragma once

#include <vector>

#include "polygraph.hpp"

namespace gputm::history::detail {

struct step {
  enum class kind : std::uint8_t {
    direct,     ///< one of the two read what the other wrote or overwrote
    real_time,  ///< `from` ended before `to` began
    segments    ///< `from` belongs to the end of one segment of an element, and `to` starts another
  };
  kind how = kind::direct;
  id from = none, to = none;
  id before = none, after = none;  ///< the segments
};

/// The last step leads back to the first transaction.
std::vector<step> steps_of(const polygraph&, std::vector<id> cycle);

/// Did order_segments() find that the one segment comes before the other? Then segment::due_by of the one and
/// segment::released_by of the other say why.
bool ordered_by_time(const history&, const polygraph&, id before, id after);

/// Transactions whose place in real time the cycle rests on.
std::vector<id> timed_by(const history&, const polygraph&, const std::vector<id>& cycle);

}  // namespace gputm::history::detail
