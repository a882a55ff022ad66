#include "graph.hpp"

#include <algorithm>
#include <cstdint>

namespace gputm::history::detail {
namespace {

rows compress(std::size_t row_count, std::span<const edge> edges, id edge::*row, id edge::*item) {
  rows r;
  r.begin.assign(row_count + 1, 0);
  for (const edge& e : edges) ++r.begin[e.*row + 1];
  for (std::size_t i = 0; i < row_count; ++i) r.begin[i + 1] += r.begin[i];
  r.items.resize(edges.size());
  std::vector<id> next(r.begin.begin(), r.begin.end() - 1);
  for (const edge& e : edges) r.items[next[e.*row]++] = e.*item;
  return r;
}

/// Tarjan's strongly connected components, with its stack of calls kept by hand: paths are as long as the history.
class components {
 public:
  explicit components(const rows& out)
      : out_(out), visit_(out.begin.size() - 1), low_(visit_.size()), component(visit_.size(), none) {}

  /// Numbers the components that `root` reaches and that have no number yet.
  void explore(id root) {
    if (visit_[root] != 0) return;
    enter(root);
    while (!calls_.empty()) {
      const id node = calls_.back().node;
      const auto targets = out_[node];
      if (calls_.back().next < targets.size()) {
        const id to = targets[calls_.back().next++];
        if (visit_[to] == 0)
          enter(to);
        else if (component[to] == none)
          low_[node] = std::min(low_[node], visit_[to]);
        continue;
      }
      calls_.pop_back();
      if (!calls_.empty()) low_[calls_.back().node] = std::min(low_[calls_.back().node], low_[node]);
      if (low_[node] == visit_[node]) close(node);
    }
  }

 private:
  struct call {
    id node;
    std::size_t next;
  };

  void enter(id node) {
    visit_[node] = low_[node] = ++clock_;
    open_.push_back(node);
    calls_.push_back({node, 0});
  }

  void close(id root) {
    std::vector<id> members;
    do {
      members.push_back(open_.back());
      component[open_.back()] = count_;
      open_.pop_back();
    } while (members.back() != root);
    ++count_;
    if (members.size() > 1 && (smallest.empty() || members.size() < smallest.size())) smallest = std::move(members);
  }

  const rows& out_;
  std::vector<id> visit_, low_;
  std::vector<id> open_;
  std::vector<call> calls_;
  id clock_ = 0, count_ = 0;

 public:
  std::vector<id> component;
  std::vector<id> smallest;  ///< the smallest component that has a cycle
};

/// The shortest cycle through `start` inside its component: breadth first, auxiliary nodes at no cost.
std::vector<id> cycle_through(const rows& out, const std::vector<id>& component, id start, id real_nodes,
                              std::vector<id>& parent) {
  std::vector<id> seen, level{start}, next;
  const auto finish = [&](id last) {
    std::vector<id> cycle;
    for (id at = last; at != start; at = parent[at]) cycle.push_back(at);
    cycle.push_back(start);
    std::reverse(cycle.begin(), cycle.end());
    for (id node : seen) parent[node] = none;
    return cycle;
  };
  for (; !level.empty(); level.swap(next), next.clear()) {
    while (!level.empty()) {
      const id node = level.back();
      level.pop_back();
      for (id to : out[node]) {
        if (component[to] != component[start]) continue;
        if (to == start) return finish(node);
        if (parent[to] != none) continue;
        parent[to] = node;
        seen.push_back(to);
        (to < real_nodes ? next : level).push_back(to);
      }
    }
  }
  return finish(start);
}

}  // namespace

rows by_source(std::size_t row_count, std::span<const edge> edges) {
  return compress(row_count, edges, &edge::from, &edge::to);
}

rows by_target(std::size_t row_count, std::span<const edge> edges) {
  return compress(row_count, edges, &edge::to, &edge::from);
}

rows reversed(const rows& out) {
  const std::size_t nodes = out.begin.size() - 1;
  rows in;
  in.begin.assign(nodes + 1, 0);
  for (id to : out.items) ++in.begin[to + 1];
  for (std::size_t i = 0; i < nodes; ++i) in.begin[i + 1] += in.begin[i];
  in.items.resize(out.items.size());
  std::vector<id> next(in.begin.begin(), in.begin.end() - 1);
  for (id from = 0; from < nodes; ++from)
    for (id to : out[from]) in.items[next[to]++] = from;
  return in;
}

std::vector<id> topological_order(const rows& out) {
  const std::size_t nodes = out.begin.size() - 1;
  std::vector<id> missing(nodes, 0);
  for (id to : out.items) ++missing[to];
  std::vector<id> order;
  order.reserve(nodes);
  for (id node = 0; node < nodes; ++node)
    if (missing[node] == 0) order.push_back(node);
  for (std::size_t done = 0; done < order.size(); ++done)
    for (id to : out[order[done]])
      if (--missing[to] == 0) order.push_back(to);
  return order;
}

std::vector<id> short_cycle(const rows& out, std::span<const id> acyclic, id real_nodes) {
  std::vector<bool> left(out.begin.size() - 1, true);
  for (id node : acyclic) left[node] = false;
  components found(out);
  for (id node = 0; node < left.size(); ++node)
    if (left[node]) found.explore(node);

  // A shortest cycle from every node would be quadratic; a few dozen starts give one short enough to read.
  constexpr std::size_t starts = 48;
  const auto length = [&](const std::vector<id>& cycle) {
    return std::count_if(cycle.begin(), cycle.end(), [&](id node) { return node < real_nodes; });
  };
  std::vector<id> best, parent(left.size(), none);
  std::sort(found.smallest.begin(), found.smallest.end());
  const std::size_t stride = std::max<std::size_t>(1, found.smallest.size() / starts);
  for (std::size_t i = 0; i < found.smallest.size(); i += stride) {
    std::vector<id> cycle = cycle_through(out, found.component, found.smallest[i], real_nodes, parent);
    if (best.empty() || length(cycle) < length(best)) best = std::move(cycle);
  }
  return best;
}

}  // namespace gputm::history::detail
