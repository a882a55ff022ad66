// The serialisation graph, with the choices that are open.
//
// Versions of one element form chains: a transaction that read a version and then wrote the element follows that
// version at once. A chain, here a segment, starts with the initial value or with a blind write. Within a segment
// everything is known. Between two segments of one element only this is: one of them, with all readers of its last
// version, comes wholly before the other. Such a choice is one edge, since each segment has an auxiliary node that
// stands for its end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph.hpp"
#include "index.hpp"

namespace gputm::history::detail {

struct segment {
  id element = none;
  id first = none;  ///< transaction; none: it starts with the initial value
  id first_version = none, last_version = none;
  /// Filled in by order_segments(). Some reader or writer of this segment must precede, or is, the transaction
  /// `due_by`, whose end is the earliest; and some one must follow, or is, `released_by`, whose begin is the latest.
  id due_by = none, released_by = none;
};

/// A node at a moment of real time.
struct moment {
  std::uint64_t at;
  id node;
};

/// A graph that is being drawn.
struct drawing {
  std::size_t nodes = 0;
  std::vector<edge> edges;

  void connect(id from, id to) { edges.push_back({from, to}); }
  /// Lets every node of `earlier` reach every node of `later` that has a greater stamp. Pairs would be quadratic; a
  /// chain of auxiliary nodes through time, each ahead of those that begin at it, takes one edge for a node.
  void connect_by_time(std::vector<moment> earlier, std::vector<moment> later);
};

struct polygraph {
  id transactions = 0;            ///< nodes below this are transactions
  id ends = 0;                    ///< nodes from here are the segments' ends, in the order of segments; then chains
  std::vector<segment> segments;  ///< only of elements that have more than one
  std::vector<id> group_begin;    ///< segments of one element lie side by side, the initial one first
  std::vector<id> group_of;       ///< per segment
  rows starts;                    ///< per transaction: the segments that it starts
  std::vector<bool> timed;        ///< per transaction: does its place in real time count
  drawing fixed;                  ///< what is known without any inference
  rows out;                       ///< fixed, and what order_segments() added

  std::size_t nodes() const { return out.begin.size() - 1; }
  id end_of(id s) const { return ends + s; }
  bool is_end(id node) const { return node >= ends && node < ends + segments.size(); }
  std::size_t groups() const { return group_begin.size() - 1; }
};

/// Draws the graph, or says why the final state rules it out. Of the transactions that are `timed`, those that follow
/// one another in real time do so in the graph.
std::optional<verdict> build_polygraph(const history&, const index&, std::vector<bool> timed, polygraph& out);

/// When a transaction must take effect at the latest, and because of whose end; or at the earliest, whose begin.
struct bound {
  std::uint64_t at;
  id by;
};

/// Per node, as far as it follows from the transactions that are `timed`. The graph must be acyclic; `order` is a
/// topological order.
std::vector<bound> deadlines(const history&, const polygraph&, std::span<const id> order,
                             const std::vector<bool>& timed);
std::vector<bound> releases(const history&, const polygraph&, std::span<const id> order,
                            const std::vector<bool>& timed);

/// Orders segments between which real time leaves no choice, and replaces what an earlier call found; repeated calls
/// infer more, as each starts from the order that the one before it left. The result may have cycles.
void order_segments(const history&, const index&, std::span<const id> order, polygraph&);

/// A topological order that leaves few choices violated, as the position of each node: simulates a serial execution in
/// which the transaction that is due first goes next. The graph must be acyclic; `order` is any topological order.
std::vector<id> likely_positions(const history&, const polygraph&, std::span<const id> order);

}  // namespace gputm::history::detail
