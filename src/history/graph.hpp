// Directed graphs in compressed rows, and the three things the checker asks of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "id_table.hpp"

namespace gputm::history::detail {

struct edge {
  id from = none;
  id to = none;
};

/// Rows of numbers, one after the other.
struct rows {
  std::vector<id> begin{0};
  std::vector<id> items;

  std::span<const id> operator[](std::size_t row) const {
    return std::span<const id>(items).subspan(begin[row], begin[row + 1] - begin[row]);
  }
  void close_row() { begin.push_back(static_cast<id>(items.size())); }
};

/// Row `from` lists the `to` of its edges, in the edges' order.
rows by_source(std::size_t row_count, std::span<const edge> edges);
/// Row `to` lists the `from` of its edges.
rows by_target(std::size_t row_count, std::span<const edge> edges);
/// Every edge the other way round.
rows reversed(const rows& out);

/// All nodes in topological order; when there are cycles, only those that no cycle reaches.
std::vector<id> topological_order(const rows& out);

/// A short cycle of a graph that has one, as its nodes in order. `acyclic` is what topological_order() returned.
/// Nodes below `real_nodes` count as its length.
std::vector<id> short_cycle(const rows& out, std::span<const id> acyclic, id real_nodes);

}  // namespace gputm::history::detail
