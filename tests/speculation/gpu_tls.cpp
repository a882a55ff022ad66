#include "speculation/suite.hpp"

GPUTM_LOOP_ENGINE(gpu_tls)

namespace gputm::conformance {

// Of the one that runs loops in place.
GPUTM_LOOP_PROPERTY(gpu_tls, loops_in_place_by_list_equal_the_sequential_loops, 2500)
GPUTM_LOOP_PROPERTY(gpu_tls, loops_in_place_of_wide_rows_equal_the_sequential_loops, 2500)
GPUTM_LOOP_PROPERTY(gpu_tls, rows_end_with_their_array, 500)
GPUTM_LOOP_PROPERTY(gpu_tls, a_pass_goes_by_what_it_is_for, 500)
GPUTM_LOOP_PROPERTY(gpu_tls, lists_are_those_of_the_loop_before, 2500)
GPUTM_LOOP_PROPERTY(gpu_tls, what_a_pass_saves_is_its_own, 2000)
GPUTM_LOOP_PROPERTY(gpu_tls, loops_that_claim_equal_the_sequential_loops, 2500)

// And of the one whose repairs wait.
GPUTM_LOOP_PROPERTY(gpu_tls, long_iterations_are_waited_for, 300)
GPUTM_LOOP_PROPERTY(gpu_tls, very_long_iterations_equal_the_sequential_loop, 1000)
GPUTM_LOOP_PROPERTY(gpu_tls, nobody_takes_what_has_failed, 3000)

// And of the one whose lanes load for each other.
GPUTM_LOOP_PROPERTY(gpu_tls, gathered_rows_equal_the_sequential_loop, 3000)
GPUTM_LOOP_PROPERTY(gpu_tls, gathered_rows_end_with_their_array, 500)

// And of the one whose warps do.
GPUTM_LOOP_PROPERTY(gpu_tls, joint_rows_equal_the_sequential_loop, 3000)
GPUTM_LOOP_PROPERTY(gpu_tls, large_accumulators_equal_the_sequential_loop, 1000)

// And of the one whose windows follow how far dependences reach.
GPUTM_LOOP_PROPERTY(gpu_tls, windows_given_up_leave_nothing, 2500)

}  // namespace gputm::conformance
