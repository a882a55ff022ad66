// Short notation for hand-made histories.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "gputm/history.hpp"

namespace gputm::history::test {

inline access r(std::uint32_t element, std::uint64_t value) { return {0, element, value, false}; }
inline access w(std::uint32_t element, std::uint64_t value) { return {0, element, value, true}; }

inline transaction committed(std::uint64_t begin, std::uint64_t end, std::vector<access> accesses) {
  return {begin, end, 0, transaction::ended::committed, std::move(accesses)};
}
inline transaction cancelled(std::uint64_t begin, std::uint64_t end, std::vector<access> accesses) {
  return {begin, end, 0, transaction::ended::cancelled, std::move(accesses)};
}
inline transaction aborted(std::uint64_t begin, std::uint64_t end, std::vector<access> accesses) {
  return {begin, end, 0, transaction::ended::aborted, std::move(accesses)};
}

/// Each transaction on a thread of its own.
inline history of(std::initializer_list<transaction> transactions) {
  history h;
  h.transactions = transactions;
  for (std::uint32_t t = 0; t < h.transactions.size(); ++t) h.transactions[t].thread = t;
  return h;
}

inline constexpr level all_levels[] = {level::serialisable, level::strict, level::opaque};

}  // namespace gputm::history::test
