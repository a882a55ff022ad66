// An engine joins with a file of a few lines, speculation/<engine>.cpp:
//
//   #include "speculation/suite.hpp"
//   GPUTM_LOOP_ENGINE(my_engine)
//
// Environment: GPUTM_SCHEDULES, GPUTM_SEED and GPUTM_REPLAY as for tests/conformance.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "conformance/explorer.hpp"
#include "conformance/gpu.hpp"
#include "gputm/gputm.hpp"
#include "speculation/captured_loops.hpp"
#include "speculation/claimed_loops.hpp"
#include "speculation/cut_loops.hpp"
#include "speculation/fickle_loops.hpp"
#include "speculation/gathering_loops.hpp"
#include "speculation/hand_made_loops.hpp"
#include "speculation/idle_loops.hpp"
#include "speculation/joint_loops.hpp"
#include "speculation/known_loops.hpp"
#include "speculation/listed_loops.hpp"
#include "speculation/loops.hpp"
#include "speculation/misled_loops.hpp"
#include "speculation/peeking_loops.hpp"
#include "speculation/placed_loops.hpp"
#include "speculation/reaching_loops.hpp"
#include "speculation/scouted_loops.hpp"
#include "speculation/split_loops.hpp"
#include "speculation/value_loops.hpp"
#include "speculation/waiting_loops.hpp"
#include "speculation/writer_loops.hpp"

namespace gputm::conformance {

inline double number_of(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtod(text, nullptr) : otherwise;
}

/// Warps of 32 lanes and of one, on two OS threads and on one.
inline void on_fast_host(void (*property)(const venue&)) {
  static constexpr unsigned shapes[][2] = {{32, 2}, {1, 2}, {32, 1}, {4, 2}};
  const auto seed = static_cast<std::uint64_t>(number_of("GPUTM_SEED", 1));
  for (std::uint64_t round = 0; round < std::size(shapes); ++round) {
    host::config c;
    c.warp_width = shapes[round][0];
    c.os_threads = shapes[round][1];
    c.livelock_seconds = 10;
    SCOPED_TRACE("warp width " + std::to_string(c.warp_width) + ", OS threads " + std::to_string(c.os_threads));
    EXPECT_NO_THROW(property({host_device(c), mode::fast, seed + round, round}));
  }
}
/// Ablations get half of the schedules: but for what they leave out they are gpu_tls.
template <class E>
inline constexpr double share_of = 1.0;
template <>
inline constexpr double share_of<speculation::gpu_tls_lazy> = 0.5;
template <>
inline constexpr double share_of<speculation::gpu_tls_no_forwarding> = 0.5;
template <>
inline constexpr double share_of<speculation::gpu_tls_no_repair> = 0.5;

template <class E>
void explored(void (*property)(const venue&), bool weak, double schedules) {
  const auto seed = static_cast<std::uint64_t>(number_of("GPUTM_SEED", 1));
  const double only = number_of("GPUTM_REPLAY", -1);
  const auto first = only >= 0 ? static_cast<std::uint64_t>(only) : 0;
  const auto count =
      only >= 0 ? 1 : static_cast<std::uint64_t>(schedules * share_of<E> * number_of("GPUTM_SCHEDULES", 1)) + 1;
  const search_result found = explorer(weak).search(property, seed, first, count);
  EXPECT_FALSE(found.failed) << found.what << "\n  to replay: GPUTM_SEED=" << seed << " GPUTM_REPLAY=" << found.index;
}
inline void on_gpu(void (*property)(const venue&)) {
  std::string why_not;
  const std::optional<device> gpu = find_gpu(why_not);
  if (!gpu) GTEST_SKIP() << "no GPU to run on: " << why_not;
  const auto rounds = static_cast<std::uint64_t>(2 * number_of("GPUTM_SCHEDULES", 1)) + 1;
  for (std::uint64_t round = 0; round < rounds; ++round)
    EXPECT_NO_THROW(property({*gpu, mode::gpu, static_cast<std::uint64_t>(number_of("GPUTM_SEED", 1)) + round, round}));
}

#if defined(__CUDACC__)
#define GPUTM_LOOP_ON_GPU(engine, property) \
  TEST(engine##_gpu, property) { gputm::conformance::on_gpu(gputm::conformance::property<gputm::speculation::engine>); }
#else
#define GPUTM_LOOP_ON_GPU(engine, property)
#endif
#define GPUTM_LOOP_PROPERTY(engine, property, schedules)                                                               \
  TEST(engine##_fast, property) {                                                                                      \
    gputm::conformance::on_fast_host(gputm::conformance::property<gputm::speculation::engine>);                        \
  }                                                                                                                    \
  TEST(engine##_explore, property) {                                                                                   \
    gputm::conformance::explored<gputm::speculation::engine>(gputm::conformance::property<gputm::speculation::engine>, \
                                                             false, schedules);                                        \
  }                                                                                                                    \
  TEST(engine##_weak, property) {                                                                                      \
    gputm::conformance::explored<gputm::speculation::engine>(gputm::conformance::property<gputm::speculation::engine>, \
                                                             true, schedules);                                         \
  }                                                                                                                    \
  GPUTM_LOOP_ON_GPU(engine, property)
#define GPUTM_LOOP_ENGINE(engine)                                                     \
  GPUTM_LOOP_PROPERTY(engine, random_loops_equal_the_sequential_loop, 10000)          \
  GPUTM_LOOP_PROPERTY(engine, dense_loops_equal_the_sequential_loop, 10000)           \
  GPUTM_LOOP_PROPERTY(engine, loads_together_equal_the_sequential_loop, 10000)        \
  GPUTM_LOOP_PROPERTY(engine, sparse_loops_equal_the_sequential_loop, 10000)          \
  GPUTM_LOOP_PROPERTY(engine, rows_equal_the_sequential_loop, 5000)                   \
  GPUTM_LOOP_PROPERTY(engine, loops_in_turn_equal_the_sequential_loops, 3000)         \
  GPUTM_LOOP_PROPERTY(engine, a_chain_ends_at_a_small_multiple, 500)                  \
  GPUTM_LOOP_PROPERTY(engine, one_thread_runs_what_windows_are_slower_at, 200)        \
  GPUTM_LOOP_PROPERTY(engine, reductions_are_ordinary_loads_and_stores, 3000)         \
  GPUTM_LOOP_PROPERTY(engine, an_end_on_old_data_is_none, 2000)                       \
  GPUTM_LOOP_PROPERTY(engine, a_reader_between_writers_finds_the_right_one, 4000)     \
  GPUTM_LOOP_PROPERTY(engine, a_writer_that_changes_its_mind_hides_no_other, 2000)    \
  GPUTM_LOOP_PROPERTY(engine, a_writer_that_joins_another_is_found, 2000)             \
  GPUTM_LOOP_PROPERTY(engine, a_writer_that_comes_back_is_found, 4000)                \
  GPUTM_LOOP_PROPERTY(engine, all_reads_of_an_iteration_are_checked, 1000)            \
  GPUTM_LOOP_PROPERTY(engine, an_array_may_first_be_stored_to_in_a_repair, 500)       \
  GPUTM_LOOP_PROPERTY(engine, a_reader_behind_many_writers_finds_the_last, 40)        \
  GPUTM_LOOP_PROPERTY(engine, what_an_iteration_needs_is_counted_as_in_sequence, 500) \
  GPUTM_LOOP_PROPERTY(engine, iterations_on_old_data_upset_nobody, 2000)              \
  GPUTM_LOOP_PROPERTY(engine, ends_of_earlier_loops_do_not_count, 1000)               \
  GPUTM_LOOP_PROPERTY(engine, a_loop_may_fare_otherwise_than_those_before, 2000)      \
  GPUTM_LOOP_PROPERTY(engine, a_range_ends_where_stores_begin, 1000)                  \
  GPUTM_LOOP_PROPERTY(engine, reads_of_the_loop_before_do_not_count, 500)             \
  GPUTM_LOOP_PROPERTY(engine, reads_that_look_for_marks_miss_nothing, 1000)           \
  GPUTM_LOOP_PROPERTY(engine, loops_in_place_equal_the_sequential_loops, 2500)        \
  GPUTM_LOOP_PROPERTY(engine, first_loops_equal_the_sequential_loops, 1500)           \
  GPUTM_LOOP_PROPERTY(engine, values_that_change_again_are_followed, 400)             \
  GPUTM_LOOP_PROPERTY(engine, mostly_idle_loops_equal_the_sequential_loops, 1500)     \
  GPUTM_LOOP_PROPERTY(engine, of_several_writers_the_last_prevails, 2000)             \
  GPUTM_LOOP_ON_GPU(engine, a_loop_can_be_captured_in_a_graph)

}  // namespace gputm::conformance
