// Every loop workload, small.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loops/workload.hpp"

namespace gputm::workloads_test {

using namespace gputm::workloads;

struct named_loop {
  std::string name;
  prepared_loop loop;
};

inline const std::string chess_board = GPUTM_DATA "/queen8.mtx";

/// Every loop with `n` iterations, in several forms.
inline std::vector<named_loop> loops_of(std::int64_t n) {
  std::vector<named_loop> all;
  const auto add = [&](const std::string& name, any_loop p) {
    all.push_back({name + " of " + std::to_string(n), prepared_loop(std::move(p))});
  };
  for (const bool random : {false, true})
    for (unsigned kind = 0; kind < 4; ++kind)
      for (const auto& [reads, writes] : {std::pair{5u, 5u}, {1u, 3u}, {4u, 1u}}) {
        synthetic_options o;
        o.iterations = n;
        o.reads = reads;
        o.writes = writes;
        o.kind = static_cast<dependence>(kind);
        o.percent = 10;
        o.distance = 40;
        o.random = random;
        add("loop, dependence " + std::to_string(kind), synthetic_problem(o));
      }
  for (const double partners : {0.02, 1.0})
    add("molecular_dynamics", molecular_dynamics_problem({.iterations = n, .partners = partners}));
  for (const double percent : {0.0, 1.0, 100.0}) add("cfd", cfd_problem({.iterations = n, .percent = percent}));
  for (const double errors : {0.0, 5.0})
    add("black_scholes", black_scholes_problem({.iterations = n, .errors = errors}));
  add("colouring of an RMAT graph", colouring_problem({.iterations = n}));
  add("colouring of a grid", colouring_problem({.iterations = n, .graph = "grid"}));
  add("shuffle", shuffle_problem({.iterations = n}));
  return all;
}

}  // namespace gputm::workloads_test
