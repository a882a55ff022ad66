// What every engine must do with every loop workload; instantiated by files that name the engines.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "loops_of.hpp"

namespace gputm::workloads_test {

template <class E>
struct loops_with : testing::Test {
  static measurement run(const prepared_loop& l, std::uint32_t window = 0) {
    host::config c;
    c.os_threads = 2;
    return loop_workload<E>(host_device(c), {.blocks = 2, .threads = 48, .window = window}).run(l);
  }
  /// A run that must be right.
  static void check(const named_loop& l, std::uint32_t window = 0) {
    SCOPED_TRACE(l.name);
    const measurement m = run(l.loop, window);
    ASSERT_TRUE(m.loop);
    EXPECT_TRUE(m.loop->judged);
    EXPECT_EQ(m.loop->identical, true) << m.invariant;
    EXPECT_TRUE(m.ok) << m.invariant;
    const auto n = static_cast<std::uint64_t>(std::visit([](const auto& p) { return p.iterations; }, l.loop.problem()));
    EXPECT_EQ(m.loop->counters.iterations, n);
    EXPECT_EQ(m.stats.commits, n);
  }
};
TYPED_TEST_SUITE_P(loops_with);

TYPED_TEST_P(loops_with, the_sequential_result) {
  for (const std::int64_t n : {0, 1, 2, 31, 33, 300, 1500})
    for (const named_loop& l : loops_of(n)) this->check(l);
}
TYPED_TEST_P(loops_with, the_sequential_result_in_small_windows) {
  for (const std::uint32_t window : {1u, 7u, 64u})
    for (const named_loop& l : loops_of(200)) this->check(l, window);
}
TYPED_TEST_P(loops_with, a_graph_from_a_file) {
  const named_loop l{"queen8", prepared_loop(colouring_problem({.graph = chess_board}))};
  this->check(l);
  EXPECT_EQ(std::get<colouring_problem>(l.loop.problem()).iterations, 64);
}
/// More than 256 neighbours, so more than one pass over them; each vertex depends on all before it.
TYPED_TEST_P(loops_with, a_complete_graph) {
  colouring_problem p({.iterations = 0});
  edge_list list{270, {}};
  for (std::uint32_t a = 0; a < 270; ++a)
    for (std::uint32_t b = 0; b < a; ++b) list.edges.emplace_back(a, b);
  p.graph = graph_of(std::move(list));
  p.iterations = 270;
  p.colours.assign(270, 0);
  p.capacity.reads = 540;
  p.dependent = true;
  const named_loop l{"complete", prepared_loop(std::move(p))};
  this->check(l);
  std::uint32_t last;
  std::memcpy(&last, l.loop.reference().arrays[0].data() + 269 * sizeof last, sizeof last);
  EXPECT_EQ(last, 269u);
}
/// One bit of one element.
TYPED_TEST_P(loops_with, a_wrong_result_is_found) {
  for (const named_loop& l : loops_of(100)) {
    for (std::size_t array = 0; array < l.loop.reference().arrays.size(); ++array) {
      const bool exact = std::visit([](const auto& p) { return p.exact; }, l.loop.problem());
      if (!exact && array == 0) continue;  // prices are held against the device's own; see loops_test.cpp
      host_reference wrong = l.loop.reference();
      wrong.arrays[array].back() ^= std::byte{1};
      const measurement m = this->run(prepared_loop(l.loop.problem(), std::move(wrong)));
      EXPECT_FALSE(m.ok) << l.name << ", array " << array << ": " << m.invariant;
    }
  }
}
REGISTER_TYPED_TEST_SUITE_P(loops_with, the_sequential_result, the_sequential_result_in_small_windows,
                            a_graph_from_a_file, a_complete_graph, a_wrong_result_is_found);

struct by_engine {
  template <class E>
  static std::string GetName(int) {
    return E::name;
  }
};

}  // namespace gputm::workloads_test
