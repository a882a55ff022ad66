// Random histories, and an independent, slow answer to the question whether one can be explained.
#pragma once

#include <cstdint>
#include <random>

#include "gputm/history.hpp"

namespace gputm::history::test {

struct shape {
  std::size_t transactions = 5;
  std::uint32_t elements = 2;
  std::uint32_t accesses = 3;   ///< of a transaction, at most
  std::uint32_t spread = 2;     ///< about how many others an interval overlaps on either side
  unsigned write_percent = 50;  ///< of the accesses
  unsigned blind_percent = 50;  ///< of the writes: not preceded by a read of the element
  unsigned cancelled_percent = 10, aborted_percent = 20;
  bool final_values = false;
};

/// Executes transactions one after the other on a model, in an order that their intervals allow: correct at all levels.
history executed(const shape&, std::mt19937_64&);
/// Makes one read return another value that was written to its element, or its initial value. False: nothing to change.
bool mutate_read(history&, std::mt19937_64&);
/// Gives the transactions other intervals, unrelated to the order in which they were executed.
void scramble_time(history&, std::mt19937_64&);
/// Reads return any value ever written to their element: correct by accident only.
history arbitrary(const shape&, std::mt19937_64&);

/// Tries all orders of the transactions that the level takes into account.
bool explained_by_some_order(const history&, level);

}  // namespace gputm::history::test
