// Floor 3: what an engine of speculative loops is. One file each, beside this one.
#pragma once

#include "gputm/algorithm/concept.hpp"
#include "gputm/outcome.hpp"
#include "gputm/speculation/loop_environment.hpp"

namespace gputm {

/// What a pass in place goes by: rows that loops have learnt and that are not wide (owned_rows); any rows, be it that a
/// scout alone has told of them; or lists.
enum class in_place_kind : std::uint8_t { rows, any_rows, lists };

/// What an engine needs of a launch.
struct loop_traits {
  bool one_thread = false;  ///< it runs on one thread
  bool barriers = true;     ///< all blocks must be resident
  bool table = true;        ///< it marks elements in a table
  bool writers = false;     ///< a writer_table; else an owner_table. With a writer_table the first iteration of a
                            ///< window always commits: tests hold engines to that
  bool logs = true;         ///< a log for each position of the window; else for one
  bool in_place = false;    ///< run_in_place<in_place_kind>(environment, body) may be a whole loop; if not, run()
                            ///< undoes it. Before that look_ahead(environment, body) may find out whether it had better
  bool skips_idle = false;  ///< of a body that is mostly_idle it runs those iterations only that access anything
  bool repairs = false;  ///< violations are made right in their window. So a first one may be as large as others; and
                         ///< on GPUs, unless told otherwise, it weighs windows against the time of one thread
  bool joins = false;    ///< all warps load long rows together in first passes (joint_space)
  /// Lanes that access much each have lines of their own, and those of all warps may be more than fit into the cache of
  /// a multiprocessor. So if an iteration has room for this many loads and stores, it gets few threads; 0: never.
  /// Numbers of an H200.
  std::uint32_t many_accesses = 32, few_threads = 512;
  bool ordered = true;  ///< the result is the sequential loop's; false for the baseline that checks nothing
};

namespace speculation {

/// Blocks of a scout, each of one warp, and of its probes (scout.hpp), whose engines look_ahead().
inline constexpr std::uint32_t scouts_on_gpu = 32, scouts_on_host = 2;
inline constexpr std::uint32_t probes_on_gpu = 128, probes_on_host = 2;

/// Stands for any body where engines are asked what they have.
struct some_body {
  template <class It>
  GPUTM_INLINE outcome operator()(It&, int) const {
    return commit;
  }
};
template <class E>
concept Runs = requires(const loop_environment& env, const some_body& body) {
  { E::run(env, body) } -> std::same_as<void>;
};
template <class E>
concept RunsInPlace = requires(const loop_environment& env, const some_body& body) {
  { E::template run_in_place<in_place_kind::rows>(env, body) } -> std::same_as<void>;
  { E::look_ahead(env, body) } -> std::same_as<void>;
};

}  // namespace speculation

/// An engine: a memory kind with
///   loop                        constexpr loop_traits
///   run(environment, body)      which every thread of the grid calls once, and which ends with what is reported in
///                               environment.state->counters, iterations and executed above all: loop_plan counts the
///                               windows of those that use it, run_one_by_one() nothing
///   run_in_place<in_place_kind>(environment, body)   if loop.in_place: the same in a kernel before that, when loops
///                               have learnt enough, or behind look_ahead()
///   look_ahead(environment, body)   if loop.in_place: in a kernel of blocks of one warp, runs some iterations without
///                               effect
template <class E>
concept LoopEngine = MemoryKind<E> && requires {
  { E::loop } -> std::convertible_to<loop_traits>;
} && speculation::Runs<E> &&(!E::loop.in_place || speculation::RunsInPlace<E>);

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
