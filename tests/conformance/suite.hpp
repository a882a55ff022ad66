// The properties that every algorithm is held to. An algorithm joins with a file of a few lines:
//
//   #include "suite.hpp"
//   GPUTM_CONFORMANCE(my_algorithm, gputm::algorithm::my_algorithm)
//
// The file is called my_algorithm.cpp.
#pragma once

#include <string>
#include <vector>

#include "atomicity.hpp"
#include "batches.hpp"
#include "bulk.hpp"
#include "faults.hpp"
#include "gputm/gputm.hpp"
#include "histories.hpp"
#include "isolation.hpp"
#include "kernels.hpp"
#include "outcomes.hpp"
#include "own_writes.hpp"
#include "progress.hpp"
#include "types.hpp"

namespace gputm::conformance {

struct property {
  const char* name;
  void (*check)(const venue&);
  unsigned schedules = 3000;  ///< to explore, before GPUTM_SCHEDULES scales it
};

/// Registers tests for all modes of this build; suites are called <algorithm>/<mode>.
bool join(const char* algorithm, std::vector<property> properties);

#define GPUTM_PROPERTY(name, ...) \
  property { #name, name < A>, ##__VA_ARGS__ }

/// What any algorithm promises that isolates transactions.
template <class A>
std::vector<property> properties_of() {
  static_assert(A::traits.isolated);
  std::vector<property> all{
      GPUTM_PROPERTY(transfers_conserve_the_total),
      GPUTM_PROPERTY(auditors_see_the_total),
      GPUTM_PROPERTY(no_write_skew),
      GPUTM_PROPERTY(no_write_skew_of_long_transactions, 500),
      GPUTM_PROPERTY(no_lost_update),
      GPUTM_PROPERTY(no_lost_update_in_a_row),
      GPUTM_PROPERTY(no_lost_update_of_several_warps, 1000),
      GPUTM_PROPERTY(no_lost_update_of_sets, 6000),
      GPUTM_PROPERTY(no_lost_update_where_locks_are_stolen, 2000),
      GPUTM_PROPERTY(no_dirty_read),
      GPUTM_PROPERTY(reads_are_repeatable_and_consistent),
      GPUTM_PROPERTY(large_commits_are_seen_whole),
      GPUTM_PROPERTY(readers_agree_on_the_order_of_writes, 6000),
      GPUTM_PROPERTY(histories_are_explained),
      GPUTM_PROPERTY(own_writes_are_read, 1000),
      GPUTM_PROPERTY(own_writes_are_read_with_one_inline_entry, 1000),
      GPUTM_PROPERTY(large_write_sets, 200),
      GPUTM_PROPERTY(cancel_leaves_no_trace),
      GPUTM_PROPERTY(retry_waits_for_later_inputs, 1000),
      GPUTM_PROPERTY(retry_waits_in_a_kernel, 1000),
      GPUTM_PROPERTY(hopeless_retry_ends_with_an_error, 200),
      GPUTM_PROPERTY(types_mix_in_one_transaction, 500),
      GPUTM_PROPERTY(odd_types_mix_in_one_transaction, 500),
      GPUTM_PROPERTY(large_elements_are_not_torn),
      GPUTM_PROPERTY(words_of_an_element_count_alone),
      GPUTM_PROPERTY(constants_are_stored, 20),
      GPUTM_PROPERTY(all_threads_get_through_one_word),
      GPUTM_PROPERTY(opposite_orders_in_a_warp, 1000),
      GPUTM_PROPERTY(a_long_reader_gets_through, 300),
      GPUTM_PROPERTY(a_large_update_gets_through, 300),
      GPUTM_PROPERTY(no_inputs_and_one_input, 100),
      GPUTM_PROPERTY(a_million_inputs, 100),
      GPUTM_PROPERTY(kinds_mix_in_one_run),
      GPUTM_PROPERTY(counting_can_be_left_out, 200),
      GPUTM_PROPERTY(a_workspace_serves_many_launches, 200),
      GPUTM_PROPERTY(workspaces_take_turns, 500),
      GPUTM_PROPERTY(every_thread_of_a_kernel_transacts, 1000),
      GPUTM_PROPERTY(commits_are_seen_in_real_time),
      GPUTM_PROPERTY(commits_of_a_batch_are_seen_in_real_time, 1000),
      GPUTM_PROPERTY(read_overflow_is_an_error, 500),
      GPUTM_PROPERTY(index_out_of_range_is_an_error, 500),
      GPUTM_PROPERTY(an_array_of_another_memory_is_an_error, 200),
      GPUTM_PROPERTY(inconsistent_states_upset_nobody),
  };
  if constexpr (!A::traits.keeps_stores) {
    all.push_back(GPUTM_PROPERTY(write_overflow_is_an_error, 500));
    all.push_back(GPUTM_PROPERTY(a_store_in_a_read_only_transaction_is_an_error, 500));
  }
  if constexpr (A::traits.opaque && !A::traits.needs_footprint) {
    all.push_back(GPUTM_PROPERTY(overflows_see_what_was_together, 1000));
    all.push_back(GPUTM_PROPERTY(blind_stores_vouch_for_nothing));
  }
#if defined(__CUDACC__)
  all.push_back(GPUTM_PROPERTY(a_run_can_be_captured_in_a_graph, 0));
#endif
  return all;
}

#define GPUTM_CONFORMANCE_TO(name, ...)                                                     \
  namespace {                                                                               \
  [[maybe_unused]] const bool joined_##name = gputm::conformance::join(#name, __VA_ARGS__); \
  }
#define GPUTM_CONFORMANCE(name, ...) GPUTM_CONFORMANCE_TO(name, gputm::conformance::properties_of<__VA_ARGS__>())

}  // namespace gputm::conformance
