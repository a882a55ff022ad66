// Greedy graph colouring: vertex after vertex takes the smallest colour that none of its neighbours has. Which colours
// come out depends on the order, so the loop has a read-after-write dependence for every edge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loops/graph.hpp"
#include "loops/places.hpp"

namespace gputm::workloads {

struct colouring_options {
  std::int64_t iterations = 8192;      ///< vertices of a generated graph
  std::string graph = "rmat";          ///< or grid, or a Matrix Market file
  std::uint32_t edges_per_vertex = 8;  ///< of an RMAT graph, drawn; repeated ones count once
  std::uint64_t seed = 1;
  bool random_order = false;  ///< of vertices; else as they are drawn, or in the file
};

template <class Arrays>
struct colouring_body {
  static constexpr std::uint32_t at_once = 256;         // colours that one pass over the neighbours looks at
  typename Arrays::template of<std::uint32_t> colours;  // from 0 on
  const std::uint64_t* first;
  const std::uint32_t* earlier;  // only those can have a colour yet

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    for (std::uint32_t base = 0;; base += at_once) {
      std::uint64_t taken[at_once / 64] = {};
      const std::uint32_t* const neighbours = earlier + first[i];
      const auto colour_of = [this, neighbours](std::uint32_t k) { return colours[neighbours[k]]; };
      GPUTM_TRY(it.load_each(static_cast<std::uint32_t>(first[i + 1] - first[i]), colour_of,
                             [&taken, base](std::uint32_t, std::uint32_t c) {
                               const std::uint32_t at = c - base;  // a colour below base comes out large
                               if (at < at_once) taken[at / 64] |= std::uint64_t{1} << at % 64;
                             }));
      for (std::uint32_t at = 0; at < at_once; ++at) {
        if (taken[at / 64] >> at % 64 & 1) continue;
        GPUTM_TRY(it.store(colours[static_cast<std::uint32_t>(i)], base + at));
        return commit;
      }
    }
  }
};

struct colouring_problem : loop_problem {
  workloads::graph graph;
  std::vector<std::uint32_t> colours;

  /// Throws invalid_argument.
  explicit colouring_problem(const colouring_options& o) {
    gputm::detail::check_iterations(o.iterations);
    const auto n = static_cast<std::uint32_t>(o.iterations);
    const bool drawn = o.graph == "rmat";
    if (drawn || o.graph == "grid")
      check_host_bytes("the graph", static_cast<double>(n) * 24 * (drawn ? o.edges_per_vertex : 4));
    edge_list edges = drawn               ? rmat(n, o.edges_per_vertex, o.seed)
                      : o.graph == "grid" ? grid(n)
                                          : matrix_market(o.graph).read();
    if (o.random_order) edges.shuffle_vertices(o.seed);
    graph = graph_of(std::move(edges));
    iterations = graph.vertices();
    colours.assign(graph.vertices(), 0);
    capacity = {.reads = most_reads(), .writes = 1};
    dependent = !graph.earlier.empty();
  }
  template <class Place>
  auto place(Place& p) const {
    return colouring_body<typename Place::arrays>{p.shared(colours, "colours"), p.input(graph.first),
                                                  p.input(graph.earlier)};
  }

 private:
  /// Reads of the vertex with most of them. One that has more waits until it is the first of a window.
  std::uint32_t most_reads() const {
    constexpr std::uint64_t most = 8192;  // for logs of that size a GPU has room, if there is one for each thread
    std::uint64_t reads = 1;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      const std::uint64_t neighbours = graph.first[v + 1] - graph.first[v];
      reads = std::max(reads, neighbours * (neighbours / colouring_body<plain_arrays>::at_once + 1));
    }
    return static_cast<std::uint32_t>(std::min(reads, most));
  }
};

}  // namespace gputm::workloads
