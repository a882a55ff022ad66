// Calls that nvcc compiles, for tests that the host's compiler compiles. Each returns the message of the
// exception that was expected, or what happened in its place.
#pragma once

#include <string>

namespace gputm::api_test {

std::string ask_for_gpu(int ordinal);
std::string oversized_grid();
std::string oversized_block();
std::string oversized_array();
std::string ordinary_run();
/// A launch, and a read, while one that takes long is under way on another stream; and both behind it.
std::string overlapping_launch();
std::string overlapping_read();
std::string launches_in_turn();
/// Loops on both by turns, from a thread that has not used either.
std::string two_gpus_in_turn();
std::string run_on_the_host();

}  // namespace gputm::api_test
