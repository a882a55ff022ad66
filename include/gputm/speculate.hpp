// Floor 4: speculative loops. speculate() runs `for (int i = 0; i < n; ++i) body(i)` on many threads, with the result
// that one thread would have, bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "gputm/kernel.hpp"
#include "gputm/loop_workspace.hpp"
#include "gputm/mostly_idle.hpp"
#include "gputm/speculation/busy_loop.hpp"
#include "gputm/speculation/concept.hpp"

namespace gputm {

/// Whether loops with this body may go by a list of their busy iterations (speculation/busy_loop.hpp).
template <class E, class Body>
inline constexpr bool may_skip_idle = false;
template <class E, class Body>
inline constexpr bool may_skip_idle<E, mostly_idle<Body>> = E::loop.skips_idle;

inline namespace GPUTM_BUILD {
namespace launching {

template <class E, class Body>
struct loop_kernel {
  /// On an H200 24 warps on a multiprocessor beat the 20 of 96 registers by 7 % where nothing depends, and lose as much
  /// where one iteration in a hundred does. 28 warps gain 5 % more there, but lose 7 % more here, and a third with 64
  /// accesses.
  static constexpr int registers = 80;
  speculation::loop_environment environment;
  Body body;
  GPUTM_INLINE void operator()() const {
    environment.next.clear();
    E::run(environment, body);
  }
};

/// The pass in place before it.
template <class E, class Body, in_place_kind Kind>
struct in_place_kernel {
  static constexpr int registers = 56;  ///< 40 and 32 are slower: lanes have lines of their own, see docs
  speculation::loop_environment environment;
  Body body;
  GPUTM_INLINE void operator()() const { E::template run_in_place<Kind>(environment, body); }
};

/// The scout before that.
template <class E, class Body>
struct scout_kernel {
  static constexpr int registers = 80;
  speculation::loop_environment environment;
  Body body;
  GPUTM_INLINE void operator()() const { E::look_ahead(environment, body); }
};

/// Where bodies are mostly_idle: finds out which iterations are not.
template <class Body>
struct find_busy_kernel {
  static constexpr int registers = 32;  // so that a multiprocessor has all the warps that it can
  speculation::loop_environment environment;
  parts::busy_space busy;
  Body body;
  GPUTM_INLINE void operator()() const { speculation::find_busy(environment, busy, body); }
};
/// Behind that: lists them.
struct list_busy_kernel {
  static constexpr int registers = 32;
  parts::busy_space busy;
  GPUTM_INLINE void operator()() const { busy.make_list(); }
};
/// Behind that: the loop.
template <class E, class Body>
struct busy_loop_kernel {
  static constexpr int registers = 80;
  speculation::loop_environment environment;
  parts::busy_space busy;
  speculation::busy_body<Body> body;
  GPUTM_INLINE void operator()() const {
    environment.next.clear();
    speculation::run_busy<E>(environment, busy, body);
  }
};

template <class Body>
inline constexpr bool is_read_only = requires {
  requires Body::read_only;
};
template <class Body>
inline constexpr bool is_read_only<mostly_idle<Body>> = is_read_only<Body>;
template <class Body>
constexpr void check_loop_body() {
  static_assert(std::is_trivially_copyable_v<Body>, "bodies are copied to the device: they must be trivially copyable");
  static_assert(!is_read_only<Body>, "read_only is for transactions: an iteration that stores nothing changes nothing");
}

// A kernel is loaded when it is first asked about, which may allocate. So workspaces ask.
template <class Kernel, LoopEngine E>
void load(memory<E>& tm) {
  (void)resident_blocks<Kernel>(tm.on(), launch_shape{1, 0, 32, tm.on()->warp_width()});
}
template <class Body, LoopEngine E>
loop_workspace<E> make_workspace(const stream& s, memory<E>& tm, std::uint64_t n, const loop_config& config,
                                 launch_config grid) {
  grid = resolve<loop_kernel<E, Body>>(tm, grid, n);
  if constexpr (E::loop.in_place)
    if (config.in_place) {
      load<in_place_kernel<E, Body, in_place_kind::rows>>(tm);
      load<in_place_kernel<E, Body, in_place_kind::lists>>(tm);
      const bool scouts = n >= std::min(gputm::detail::scout_from(config), loop_workspace<E>::again_from);
      if (scouts) load<scout_kernel<E, Body>>(tm);
      if (scouts || config.capacity.writes > parts::owned_rows::most)
        load<in_place_kernel<E, Body, in_place_kind::any_rows>>(tm);
    }
  return {s, tm, n, config, grid, false};
}
/// The same for a body that is mostly_idle.
template <class Body, LoopEngine E>
loop_workspace<E> make_busy_workspace(const stream& s, memory<E>& tm, std::uint64_t n, loop_config config,
                                      launch_config grid) {
  constexpr std::uint64_t likely = 32;  // one iteration in so many has something to do, as far as threads go
  grid = resolve<busy_loop_kernel<E, Body>>(tm, grid, (std::max<std::uint64_t>(n, 1) - 1) / likely + 1);
  load<find_busy_kernel<Body>>(tm);
  load<list_busy_kernel>(tm);
  load<loop_kernel<E, mostly_idle<Body>>>(tm);  // of loops for whose list there is no memory
  config.in_place = false;
  return {s, tm, n, config, grid, true};
}

template <LoopEngine E, class Body>
void enqueue_loop(const stream& s, memory<E>& tm, loop_workspace<E>& w, std::uint64_t n, const Body& body) {
  const bool scouted = w.wants_scout(n);
  loop_kernel<E, Body> kernel{w.environment(tm, n, scouted), body};
  if constexpr (E::loop.in_place) {
    speculation::loop_environment& e = kernel.environment;
    const auto enqueue_pass = [&]<in_place_kind Kind>() {
      enqueue(s, tm.on(), w.shape_in_place(n), in_place_kernel<E, Body, Kind>{e, body});
      e.in_place.tried = true;
    };
    std::optional<in_place_kind> kind = w.hopes_for_in_place(n);
    if (scouted) kind = in_place_kind::any_rows;
    if (scouted) {
      w.note_scout(n);
      enqueue(s, tm.on(), w.shape_of_scout(n), scout_kernel<E, Body>{e, body});
    }
    if (kind == in_place_kind::lists)
      enqueue_pass.template operator()<in_place_kind::lists>();
    else if (kind == in_place_kind::any_rows)
      enqueue_pass.template operator()<in_place_kind::any_rows>();
    else if (kind)
      enqueue_pass.template operator()<in_place_kind::rows>();
  }
  if constexpr (E::loop.barriers)
    enqueue_resident(s, tm.on(), w.shape(), kernel);
  else
    enqueue(s, tm.on(), w.shape(), kernel);
}
/// The same for a body that is mostly_idle.
template <LoopEngine E, class Body>
void enqueue_busy_loop(const stream& s, memory<E>& tm, loop_workspace<E>& w, std::uint64_t n, const Body& body) {
  const parts::busy_space busy = w.busy().space(n);
  const speculation::loop_environment e = w.environment(tm, n, false);
  const launch_shape shape = w.busy().shape(busy);
  enqueue(s, tm.on(), shape, find_busy_kernel<Body>{e, busy, body});
  enqueue(s, tm.on(), shape, list_busy_kernel{busy});
  enqueue_resident(s, tm.on(), w.shape(), busy_loop_kernel<E, Body>{e, busy, {body, busy.list}});
}

}  // namespace launching

/// A workspace for speculate_async with this body, and with the arrays that the memory has now. Later loops may have
/// another number of iterations; if the body is mostly_idle, and these are skip_idle_from or more, no more than these.
template <class Body, LoopEngine E>
loop_workspace<E> make_loop_workspace(const stream& s, memory<E>& tm, std::int64_t n, const loop_config& config = {}) {
  launching::check_loop_body<Body>();
  gputm::detail::check_iterations(n);
  gputm::detail::check_stream(s, tm.on());
  launch_config grid;
  grid.capacity = config.capacity;
  grid.blocks = config.blocks;
  grid.threads = config.threads;
  if (E::loop.one_thread) grid.blocks = grid.threads = 1;
  const auto iterations = static_cast<std::uint64_t>(n);
  if constexpr (may_skip_idle<E, Body>)
    if (iterations >= config.skip_idle_from)
      return launching::make_busy_workspace<decltype(Body::body)>(s, tm, iterations, config, grid);
  return launching::make_workspace<Body>(s, tm, iterations, config, grid);
}

/// Enqueues a loop; neither allocates nor waits, and can be captured in a CUDA graph. Counters and the first error go
/// to the workspace, which is reset first; read them with workspace.collect(). Throws invalid_argument while another
/// stream may still run a launch on this memory. If launching throws, nobody knows what the arrays hold.
template <LoopEngine E, class Body>
void speculate_async(const stream& s, memory<E>& tm, loop_workspace<E>& w, std::int64_t n, const Body& body) {
  launching::check_loop_body<Body>();
  gputm::detail::check_iterations(n);
  const auto iterations = static_cast<std::uint64_t>(n);
  const bool skips_idle = may_skip_idle<E, Body> && w.skips_idle();
  w.check(tm, iterations, skips_idle);
  gputm::detail::check_stream(s, tm.on());
  w.begin(s, tm);
  w.reset(s);
  if (n == 0) return;
  w.expect_loop();
  if constexpr (may_skip_idle<E, Body>)
    if (skips_idle) launching::enqueue_busy_loop(s, tm, w, iterations, body.body);
  if (!skips_idle) launching::enqueue_loop(s, tm, w, iterations, body);
  w.note_loop(iterations);
}

/// Runs the loop and waits. The result is that of
///
///   for (int i = 0; i < n; ++i) body(it, i);
///
/// one iteration after another on the same device, bit for bit (but for the engine `doall`, which checks nothing).
/// Body: a trivially copyable functor,
///
///   template <gputm::Transaction It>
///   GPUTM_FN gputm::outcome operator()(It& it, int i) const {
///     GPUTM_TRY(float x, it.load(a[i]));
///     GPUTM_TRY(it.store(a[b[i]], x + 1));   // any element of any array of the memory; dependences are found out
///     if (x > limit) it.break_loop();        // this is the last iteration: later ones leave no trace
///     return gputm::commit;                  // or gputm::cancel: this iteration changes nothing
///   }
///
/// An iteration may run several times, on data that is out of date, before it takes effect: the body has no side
/// effects but its stores. What it does wrong (an index out of range, more writes than config.capacity, more operations
/// than config.longest_iteration, the outcome retry) is an error only where the sequential loop would do the same. Then
/// the iterations below have taken effect and those from it on have not (but for `doall`), and this throws
/// index_out_of_range, capacity_exceeded, no_progress or, for an array of another memory, invalid_argument, which name
/// the iteration.
/// Throws invalid_argument for n < 0, n > 2^31 - 1, or sizes that cannot be; and what launching can throw.
template <LoopEngine E, class Body>
loop_statistics speculate(const stream& s, memory<E>& tm, std::int64_t n, const Body& body,
                          const loop_config& config = {}) {
  gputm::detail::check_iterations(n);
  gputm::detail::check_stream(s, tm.on());
  if (n == 0) return {};
  loop_config alone = config;
  // nobody comes after it who could use what it has found out; so without a scout it need not try
  alone.in_place = config.in_place && static_cast<std::uint64_t>(n) >= gputm::detail::scout_from(config);
  auto w = make_loop_workspace<Body>(s, tm, n, alone);
  speculate_async(s, tm, w, n, body);
  return w.collect(s, tm);
}

}  // namespace GPUTM_BUILD
}  // namespace gputm
