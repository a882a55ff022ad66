// Computational fluid dynamics: GPU-TLS, listing 2. Each edge of a mesh adds a flux to the nodes at its two ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "loops/places.hpp"
#include "random.hpp"

namespace gputm::workloads {

struct cfd_options {
  std::int64_t iterations = 8192;  ///< edges
  double percent = 1;              ///< of the edges share a node with an earlier one
  std::uint32_t distance = 1024;   ///< which is at most so many edges before
  std::uint64_t seed = 1;
};

struct mesh_edge {
  std::uint32_t left, right;
};

template <class Arrays>
struct cfd_body {
  typename Arrays::template of<double> flow;  // the listing's Y
  const double* state;                        // its X
  const mesh_edge* edges;

  /// An upwind flux with a limiter.
  static GPUTM_INLINE double flux(double a, double b) {
    const double difference = b - a, sum = a + b;
    return multiply_add(difference, sum, 0.5) / multiply_add(difference, difference, 1.0);
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const mesh_edge e = edges[i];
    const double left = state[e.left], right = state[e.right];
    GPUTM_TRY(const double y1, it.load(flow[e.left]));
    GPUTM_TRY(it.store(flow[e.left], y1 + flux(left, right)));
    GPUTM_TRY(const double y2, it.load(flow[e.right]));
    GPUTM_TRY(it.store(flow[e.right], y2 + flux(right, left)));
    return commit;
  }
};

/// Edges that share no node, over nodes numbered at random; then a share of them is bent to a node of an earlier one.
struct cfd_problem : loop_problem {
  std::vector<double> state, flow;
  std::vector<mesh_edge> edges;

  /// Throws invalid_argument.
  explicit cfd_problem(const cfd_options& o) {
    gputm::detail::check_iterations(o.iterations);
    check_percent("edges that share a node: a share", o.percent);
    if (o.distance == 0) throw invalid_argument("edges that share a node with themselves: the distance is at least 1");
    check_host_bytes("the mesh", static_cast<double>(o.iterations) * 80);
    iterations = o.iterations;
    capacity = {.reads = 2, .writes = 2};
    dependent = o.percent > 0;
    const auto n = static_cast<std::uint32_t>(o.iterations);
    number_nodes(n, o.seed);
    generator random(o.seed, 5);
    for (std::uint32_t i = 1; i < n; ++i)
      if (random.next() < o.percent / 100 * 4294967296.0) {
        const mesh_edge& before = edges[i - 1 - random.below(std::min(i, o.distance))];
        (random.next() & 1 ? edges[i].left : edges[i].right) = random.next() & 1 ? before.left : before.right;
      }
  }
  template <class Place>
  auto place(Place& p) const {
    return cfd_body<typename Place::arrays>{p.shared(flow, "Y"), p.input(state), p.input(edges)};
  }

 private:
  void number_nodes(std::uint32_t n, std::uint64_t seed) {
    const std::size_t nodes = std::size_t{n} * 2;
    generator random(seed, 4);
    std::vector<std::uint32_t> number(nodes);
    std::iota(number.begin(), number.end(), 0u);
    for (std::size_t k = nodes; k > 1; --k)
      std::swap(number[k - 1], number[random.below(static_cast<std::uint32_t>(k))]);
    edges.resize(n);
    for (std::size_t i = 0; i < n; ++i) edges[i] = {number[2 * i], number[2 * i + 1]};
    flow.assign(nodes, 0);
    state.resize(nodes);
    for (double& x : state) x = random.next() / 4294967296.0;
  }
};

}  // namespace gputm::workloads
