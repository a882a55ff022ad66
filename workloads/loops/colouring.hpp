// Greedy graph colouring: vertex after vertex takes the smallest colour that none of its neighbours has. Which colours
// come out depends on the order, so the loop has a read-after-write dependence for every edge.
#pragma once

#include <algorithm>
#include <bit>
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

/// Which of some colours neighbours have.
class taken_colours {
  static constexpr std::uint32_t words = 4;
  std::uint64_t taken_[words] = {};
  std::uint64_t base_;

  static GPUTM_INLINE std::uint32_t lowest_bit(std::uint64_t bits) {
    return GPUTM_PICK(static_cast<std::uint32_t>(__ffsll(static_cast<long long>(bits)) - 1),
                      static_cast<std::uint32_t>(std::countr_zero(bits)));
  }

 public:
  static constexpr std::uint32_t count = 64 * words;
  /// Of the colours from `base` on.
  GPUTM_INLINE explicit taken_colours(std::uint32_t base) : base_(base) {}
  GPUTM_INLINE void add(std::uint32_t, std::uint32_t colour) {
    const std::uint32_t at = colour - static_cast<std::uint32_t>(base_);  // a colour below base comes out large
    const std::uint64_t bit = at < count ? std::uint64_t{1} << at % 64 : 0;
    GPUTM_UNROLL
    for (std::uint32_t w = 0; w < words; ++w) taken_[w] |= at / 64 == w ? bit : 0;  // registers have no index
  }
  GPUTM_INLINE void merge(const taken_colours& other) {
    GPUTM_UNROLL
    for (std::uint32_t w = 0; w < words; ++w) taken_[w] |= other.taken_[w];
  }
  /// The lowest one that nobody has, from `base` on, or `count`.
  GPUTM_INLINE std::uint32_t first_free() const {
    std::uint32_t free = count;
    GPUTM_UNROLL
    for (std::uint32_t w = words; w-- != 0;)
      if (~taken_[w] != 0) free = 64 * w + lowest_bit(~taken_[w]);
    return free;
  }
};

template <class Arrays>
struct colouring_body {
  static constexpr std::uint32_t at_once = taken_colours::count;  // that one pass over the neighbours looks at
  typename Arrays::template of<std::uint32_t> colours;            // from 0 on
  const std::uint64_t* first;
  const std::uint32_t* earlier;  // only those can have a colour yet

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto degree = static_cast<std::uint32_t>(first[i + 1] - first[i]);
    for (std::uint32_t base = 0;; base += at_once) {
      GPUTM_TRY(const taken_colours taken,
                it.reduce_each(degree, gather(colours, earlier + first[i]), taken_colours(base)));
      const std::uint32_t free = taken.first_free();
      if (free == at_once) continue;
      GPUTM_TRY(it.store(colours[static_cast<std::uint32_t>(i)], base + free));
      return commit;
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
