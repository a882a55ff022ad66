// Graphs: an RMAT graph, a grid, or what a Matrix Market file holds. Each vertex knows its neighbours that come
// before it in the order of vertices: as they were drawn or are in the file, or a random one.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gputm/error.hpp"
#include "measurement.hpp"
#include "random.hpp"

namespace gputm::workloads {

struct graph {
  std::vector<std::uint64_t> first;    ///< neighbours of vertex v: earlier[first[v]] up to earlier[first[v + 1]]
  std::vector<std::uint32_t> earlier;  ///< ascending, each once
  std::uint32_t vertices() const { return static_cast<std::uint32_t>(first.size() - 1); }
};

struct edge_list {
  std::uint32_t vertices = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;

  /// Permutes the vertices' numbers.
  void shuffle_vertices(std::uint64_t seed) {
    std::vector<std::uint32_t> number(vertices);
    std::iota(number.begin(), number.end(), 0u);
    generator random(seed, 9);
    for (std::uint32_t k = vertices; k > 1; --k) std::swap(number[k - 1], number[random.below(k)]);
    for (auto& [a, b] : edges) {
      a = number[a];
      b = number[b];
    }
  }
};

/// Loops and repeated edges are left out.
inline graph graph_of(edge_list list) {
  auto& edges = list.edges;
  for (auto& [a, b] : edges)
    if (a < b) std::swap(a, b);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  graph g;
  g.first.assign(std::size_t{list.vertices} + 1, 0);
  for (const auto& [a, b] : edges) {
    if (a == b) continue;
    ++g.first[a + 1];
    g.earlier.push_back(b);
  }
  for (std::size_t v = 1; v < g.first.size(); ++v) g.first[v] += g.first[v - 1];
  return g;
}

/// Recursive matrix (Chakrabarti, Zhan, Faloutsos: R-MAT, SDM 2004) with the shares of Graph500: 57, 19, 19, 5 percent.
inline edge_list rmat(std::uint32_t vertices, std::uint32_t edges_per_vertex, std::uint64_t seed) {
  edge_list list{vertices, {}};
  auto& edges = list.edges;
  edges.reserve(std::size_t{vertices} * edges_per_vertex);
  generator random(seed, 8);
  const int levels = vertices > 1 ? std::bit_width(vertices - 1) : 0;
  while (edges.size() < std::size_t{vertices} * edges_per_vertex) {
    std::uint32_t a = 0, b = 0;
    for (int level = 0; level < levels; ++level) {
      const std::uint32_t x = random.below(100);
      a = a * 2 + (x >= 76);
      b = b * 2 + ((x >= 57 && x < 76) || x >= 95);
    }
    if (a < vertices && b < vertices) edges.emplace_back(a, b);
  }
  return list;
}

/// A square grid, row by row; each vertex has up to eight neighbours.
inline edge_list grid(std::uint32_t vertices) {
  const auto width = std::max(1u, static_cast<std::uint32_t>(std::sqrt(static_cast<double>(vertices))));
  edge_list list{vertices, {}};
  auto& edges = list.edges;
  edges.reserve(std::size_t{vertices} * 4);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const std::uint32_t x = v % width;
    if (x > 0) edges.emplace_back(v, v - 1);
    if (v < width) continue;
    edges.emplace_back(v, v - width);
    if (x > 0) edges.emplace_back(v, v - width - 1);
    if (x + 1 < width) edges.emplace_back(v, v - width + 1);
  }
  return list;
}

/// A file of the Matrix Market exchange format: a square sparse matrix, whose entries beside the diagonal are edges.
/// Throws invalid_argument, with the line where there is one.
class matrix_market {
  const std::string& path_;
  std::ifstream in_;
  std::size_t line_ = 0;

 public:
  explicit matrix_market(const std::string& path) : path_(path), in_(path) {
    if (!in_ || std::filesystem::is_directory(path))
      throw invalid_argument("the graph '" + path + "' cannot be read: it is rmat, grid or a Matrix Market file");
  }
  edge_list read() {
    check_header();
    std::string text = next();
    while (is_blank(text)) text = next();
    std::uint64_t rows = 0, columns = 0, entries = 0;
    if (!numbers(text, {&rows, &columns, &entries})) fail("here are rows, columns and entries");
    if (rows != columns) fail("a graph is a square matrix");
    if (rows > 0x7fffffffu) fail("the limit is 2^31 - 1 vertices");
    // where neighbours begin, colours, and copies
    check_host_bytes("the graph", static_cast<double>(rows) * 32, "vertices");
    edge_list list{static_cast<std::uint32_t>(rows), {}};
    while (list.edges.size() < entries) {
      text = next();
      if (is_blank(text)) continue;
      std::uint64_t a = 0, b = 0;
      if (!numbers(text, {&a, &b}) || a == 0 || b == 0 || a > rows || b > rows)
        fail("here are a row and a column from 1 to " + std::to_string(rows));
      list.edges.emplace_back(static_cast<std::uint32_t>(a - 1), static_cast<std::uint32_t>(b - 1));
    }
    while (has_next(text))
      if (!is_blank(text)) fail("there are more entries than the " + std::to_string(entries) + " that are announced");
    return list;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw invalid_argument("'" + path_ + "', line " + std::to_string(line_) + ": " + why);
  }
  bool has_next(std::string& text) {
    ++line_;
    if (!std::getline(in_, text)) return false;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    return true;
  }
  std::string next() {
    std::string text;
    if (!has_next(text)) fail("the file ends too early");
    return text;
  }
  /// The whole numbers that a line begins with; false if these are others.
  static bool numbers(const std::string& text, std::initializer_list<std::uint64_t*> all) {
    const char *at = text.data(), *const end = at + text.size();
    for (std::uint64_t* n : all) {
      while (at != end && (*at == ' ' || *at == '\t')) ++at;
      const auto [stop, error] = std::from_chars(at, end, *n);
      if (error != std::errc() || (stop != end && *stop != ' ' && *stop != '\t')) return false;
      at = stop;
    }
    return true;
  }
  /// It has neither sizes nor an entry.
  static bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t") == std::string::npos || text[0] == '%';
  }
  void check_header() {
    std::string text = next(), words[5];
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    std::istringstream in(text);
    for (std::string& w : words) in >> w;
    if (words[0] != "%%matrixmarket" || words[1] != "matrix" || words[2] != "coordinate")
      fail("no sparse matrix of the Matrix Market format ('%%MatrixMarket matrix coordinate ...')");
  }
};

}  // namespace gputm::workloads
