// Floor 3: what an engine of speculative loops is. One file each, beside this one.
#pragma once

#include "gputm/algorithm/concept.hpp"
#include "gputm/speculation/iteration.hpp"

namespace gputm {

/// What an engine needs of a launch.
struct loop_traits {
  bool one_thread = false;  ///< it runs on one thread
  bool barriers = true;     ///< all blocks must be resident
  bool table = true;        ///< it marks elements in a table
  bool writers = false;     ///< a writer_table; else an owner_table
  bool logs = true;         ///< a log for each position of the window; else for one
  bool timed = false;       ///< unless told otherwise, on GPUs, it weighs windows against the time of one thread
  bool ordered = true;      ///< the result is the sequential loop's; false for the baseline that checks nothing
};

/// An engine: a memory kind with
///   loop                        constexpr loop_traits
///   run(environment, body)      which every thread of the grid calls once
template <class E>
concept LoopEngine = MemoryKind<E> && requires {
  { E::loop } -> std::convertible_to<loop_traits>;
};

namespace speculation {

/// Engines keep nothing with a memory: their tables belong to a loop's workspace.
struct engine_base {
  struct globals {};
  static constexpr std::size_t global_bytes(const memory_options&) { return 0; }
  static globals make_globals(std::byte*, const memory_options&) { return {}; }
  static constexpr std::size_t metadata_bytes(std::uint32_t, std::uint32_t, const memory_options&) { return 0; }
};

}  // namespace speculation
}  // namespace gputm
