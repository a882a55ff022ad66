// Floor 4: speculative loops. speculate() runs `for (int i = 0; i < n; ++i) body(i)` on many threads, with the result
// that one thread would have, bit for bit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "gputm/kernel.hpp"
#include "gputm/mostly_idle.hpp"
#include "gputm/speculation/busy_loop.hpp"
#include "gputm/speculation/concept.hpp"

namespace gputm {

/// Sizes and limits of a speculative loop. Zeros are chosen by gputm.
struct loop_config {
  gputm::capacity capacity{};      ///< elements that one iteration may store to, and loads that it may do without
                                   ///< having to wait until it is the first of a window. Logs, and on a GPU threads,
                                   ///< follow it: more than iterations need makes loops slower
  std::uint32_t blocks = 0;        ///< all of them are resident together
  std::uint32_t threads = 0;       ///< in a block. If this and `blocks` are 0, and there are iterations for all
                                   ///< threads of a GPU, one multiprocessor's are one block; fewer of them where
                                   ///< iterations have room for 32 loads and stores
  std::uint32_t window = 0;        ///< iterations under speculation at a time, at most
  std::uint32_t first_window = 0;  ///< the same for a first window in which all reads are logged: of a workspace's
                                   ///< first loop, and of one after a loop that was not calm to its end. 0: all of a
                                   ///< loop that one window can be, if violations are repaired; else, if windows adapt,
                                   ///< one for each thread
  std::uint32_t smallest_window = 32;  ///< that a window shrinks to
  bool adapt = true;                   ///< windows follow the violations; else all have `window`
  bool in_place = true;                ///< gpu_tls runs loops in place whose iterations store to elements of their own,
                                       ///< as those before in their workspace, or as a scout has found out. One of
                                       ///< several windows takes as much memory again as `log_bytes`, at most
  bool overlap = true;                 ///< a window of gpu_tls may begin before the commits of the one before are done,
                                       ///< and begins anew if one of its iterations reads near to what the loop stores
  bool peek = true;                    ///< reads of gpu_tls, if they are few, may look whether earlier loops have
                                       ///< stored to their element. If none has, and all that a loop stores to had
                                       ///< been stored to before, it needs no check
  std::uint32_t repairs = 16;          ///< times that a window's violating iterations run again in it; 0: never
  std::optional<bool> repair_whole = {};  ///< a window is repaired as a whole before it gives up positions, however
                                          ///< many are in violation: that costs runs of bodies, and saves windows.
                                          ///< Unless set: on GPUs
  std::uint32_t patience = 128;    ///< looks of one that runs again, and needs the value of another one that does,
                                   ///< whether that has run, before it leaves that to the next time; 1,024 times as
                                   ///< many where long ones run again. 0: none, so values go from one to the next once
                                   ///< each time
  std::uint32_t stretch = 8192;    ///< iterations that one thread runs in a row when windows fail, at most; 0, or
                                   ///< without `adapt`: one, and only if nothing else can commit
  std::optional<bool> timed = {};  ///< such a stretch also follows a window that was slower than one thread.
                                   ///< Unless set: on GPUs, for gpu_tls and its forms that repair
  std::uint32_t table_slots = 0;   ///< of a hashed table: a power of two. 0: hashed only if memory is short
  std::uint64_t marks_bytes = std::uint64_t{4} << 30;  ///< and 16 bytes for every element of the memory are no
                                                       ///< more; direct_update needs 8
  std::uint32_t tags = parts::writer_table::tags;      ///< windows (times two) between two clearings of the table
  std::uint64_t scout_from = 1u << 19;  ///< iterations; a first loop of fewer has no scout, nor has one whose workspace
                                        ///< has been made for fewer: a kernel before it that runs some of them, to find
                                        ///< out whether all had better run in place. Half as many will do if an
                                        ///< iteration has room for 32 loads and stores or more
  std::uint64_t skip_idle_from = 1u << 18;  ///< iterations: a workspace made for fewer runs a body that is mostly_idle
                                            ///< as any other
  std::uint64_t longest_iteration = 1u << 24;  ///< loads and stores of an iteration, beyond which it is a runaway; at
                                               ///< most 2^32 - 2, which larger values mean
  std::uint64_t log_bytes = 0;  ///< the logs' share of device memory; the window shrinks to fit it. 0: a GiB, or more
                                ///< if an iteration for each thread needs more, up to an eighth of a GPU's memory
};

/// Counters of one loop.
struct loop_statistics {
  std::uint64_t iterations = 0;  ///< that took effect
  std::uint64_t rounds = 0;      ///< windows, those that committed nothing included
  std::uint64_t checked = 0;     ///< windows that were checked: reads were near to stores, or something went wrong
  std::uint64_t executed = 0;    ///< runs of the body, those of a scout included, and of a look for busy iterations
  std::uint64_t serial = 0;      ///< iterations that one thread ran alone, since windows failed or were slower
  std::uint64_t in_place = 0;    ///< iterations that ran in place (loop_config::in_place)
  std::uint64_t forwarded = 0;   ///< reads of a value that a lower iteration had not committed yet
  std::array<std::uint64_t, violation_kinds> violations{};  ///< iterations seen to be in violation

  std::uint64_t re_executed() const { return executed - iterations; }
  std::uint64_t operator[](violation v) const { return violations[static_cast<std::size_t>(v)]; }
};

/// The violation's name as in the JSON of the command line.
constexpr const char* name(violation v) {
  constexpr const char* names[] = {"raw", "war", "waw", "crowded", "capacity", "body"};
  return names[static_cast<std::size_t>(v)];
}

namespace detail {

/// What a loop of `n` iterations needs on a grid. Compiled, in src/loop.cpp; all three throw invalid_argument.
struct loop_sizes {
  parts::loop_limits limits;
  parts::loop_log_space logs;
  parts::table_space table;  ///< without memory
  parts::element_ranges ranges;
  std::uint64_t table_bytes = 0;  ///< that it needs: marks, its lists' heads, and a word for each position
  std::uint64_t heads_at = 0;
  std::uint64_t contested_at = 0;
  std::uint64_t log_bytes = 0;  ///< that the logs need, the lists' links from links_at on
  std::uint64_t links_at = 0;
  std::uint64_t in_place_bytes = 0;  ///< that loops in place need besides; 0: no loop is run in place
  parts::stray_space strays;         ///< without memory
  std::uint64_t strays_at = 0, roles_at = 0;
  std::uint64_t saved_at = 0, saved_values_at = 0;  ///< saved_space, if it has memory of its own
  std::uint32_t saved_positions = 0;                ///< then; 0: it lies within the logs
  std::uint32_t threads_in_place = 0;               ///< of a multiprocessor in such a pass; 0: as many as it can have
  std::uint64_t scout_from = 0;                     ///< detail::scout_from()
  std::uint32_t memory = 0;                         ///< its number
  std::uint32_t arrays = 0;                         ///< that it has
};
inline constexpr std::uint64_t usual_log_bytes = std::uint64_t{1} << 30;
void check_iterations(std::int64_t n);
/// Iterations from which on a first loop has a scout.
std::uint64_t scout_from(const loop_config&);
void check_arrays(const loop_sizes&, const memory_core&);
loop_sizes plan_loop(const loop_config&, const loop_traits&, const memory_core&, std::uint64_t n,
                     std::uint32_t grid_threads);
/// Copies what a loop reported and throws its fault, if it has one.
loop_statistics collect_loop(const stream&, const memory_core&, const void* control, const void* state);

}  // namespace detail

/// Whether loops with this body may go by a list of their busy iterations (speculation/busy_loop.hpp).
template <class E, class Body>
inline constexpr bool may_skip_idle = false;
template <class E, class Body>
inline constexpr bool may_skip_idle<E, mostly_idle<Body>> = E::loop.skips_idle;

/// Device memory for loops of one configuration on one memory, one after another.
template <LoopEngine E>
class loop_workspace {
  launch_shape shape_;
  detail::loop_sizes sizes_;
  // in this order: kernels may tell the host until others are freed
  buffer hope_, words_, table_, logs_, in_place_, busy_;
  bool skips_idle_;  ///< of bodies that are mostly_idle; false if there is no memory for that

  // A loop's state and control lie in one of two copies. It clears the other one for the next loop: to clear it between
  // two kernels takes an H200 more than a microsecond.
  static constexpr std::size_t line = 128, control_at = (sizeof(parts::loop_state) + line - 1) / line * line;
  static constexpr std::size_t copy_bytes = (control_at + sizeof(parts::control) + line - 1) / line * line;
  unsigned copy_ = 0;
  std::uint64_t last_iterations_ = 0;  ///< of the loop before
  std::uint64_t scouted_ = 0;          ///< iterations of the longest loop that has had a scout
  std::uint32_t scouts_ = 0;           ///< that loops have had
  bool unsettled_ = false;             ///< a pass in place may have run, and not the kernel behind it
  bool other_is_clear_ = true, recorded_ = false;

  std::byte* copy(unsigned which) const { return words_.template as<std::byte>() + which * copy_bytes; }
  parts::loop_state* state() const { return reinterpret_cast<parts::loop_state*>(copy(copy_)); }
  parts::control* control() const { return reinterpret_cast<parts::control*>(copy(copy_) + control_at); }
  /// What a loop changes: it counts in its state, and reports faults. An H200 would take 3 us to zero the rest as well.
  static constexpr std::size_t changed = control_at + offsetof(parts::control, counters);
  static_assert(changed % sizeof(std::uint64_t) == 0);
  device device_;

  /// The configuration, changed so that it needs less memory than sizes_ say; false if that cannot be.
  bool needs_less(loop_config& c) const {
    constexpr std::uint64_t few_bytes = 64u << 20;
    if (c.log_bytes == 0) {
      c.log_bytes = detail::usual_log_bytes;
      if (sizes_.log_bytes > c.log_bytes) return true;
    }
    const bool may = c.marks_bytes != 0;
    c.marks_bytes = 0;  // a hashed table, and logs of smaller windows
    c.log_bytes = std::min(c.log_bytes, few_bytes);
    return may;
  }
  static constexpr std::uint32_t most_threads_in_place = 96;   ///< of a block
  static constexpr std::uint32_t most_threads_on_host = 4096;  ///< of a pass in place: each has a stack
  static constexpr std::uint32_t last_blocks = 16;  ///< of a multiprocessor of a GPU; an H100's holds 12 to 16
  static constexpr std::uint32_t most_scouts = 3;

  /// Table and logs of the sizes that the configuration asks for.
  void allocate(const memory<E>& tm, std::uint64_t n, const loop_config& c) {
    sizes_ = detail::plan_loop(c, E::loop, tm.core(), n, shape_.clients * shape_.threads);
    table_ = buffer(device_, line + sizes_.table_bytes);
    std::byte* const table = table_.template as<std::byte>();
    sizes_.table.past = reinterpret_cast<parts::loop_past*>(table);
    sizes_.table.base = table + line;
    sizes_.table.heads = reinterpret_cast<std::uint64_t*>(table + line + sizes_.heads_at);
    sizes_.table.contested = reinterpret_cast<std::uint32_t*>(table + line + sizes_.contested_at);
    logs_ = buffer(device_, sizes_.log_bytes);
    sizes_.logs.base = logs_.template as<std::uint64_t>();
    sizes_.logs.links = reinterpret_cast<std::uint32_t*>(logs_.template as<std::byte>() + sizes_.links_at);
    if (skips_idle_) busy_ = buffer(device_, busy_bytes(n));
  }
  // Warps that make the list, on a GPU: half of those that can be resident, since each goes through the counts of the
  // others; all of them if each has still 16 words to look at then. On an H200 16 million iterations take 6 % less with
  // all, a million 2 % more. A host has as many as tests need.
  std::uint32_t most_chunks() const { return device_.is_host() ? 24 : 64 * device_->multiprocessors(); }
  std::uint32_t chunks_of(std::uint64_t words) const {
    const std::uint64_t most = most_chunks(), of_16 = std::clamp(words / 16, most / 2, most);
    return static_cast<std::uint32_t>(std::min(words, of_16));
  }
  std::uint64_t busy_words(std::uint64_t n) const { return parts::busy_space::words_of(n, device_->warp_width()); }
  std::uint64_t busy_bytes(std::uint64_t n) const {
    return (1 + most_chunks() + busy_words(n) + n) * sizeof(std::uint32_t);
  }
  /// What passes in place need; without it there are none.
  void allocate_in_place() {
    if (sizes_.in_place_bytes == 0) return;
    try {
      hope_ = buffer::visible(device_, sizeof(std::uint32_t));
      in_place_ = buffer(device_, sizes_.in_place_bytes);
    } catch (const out_of_memory&) {
      in_place_ = buffer();
      if (sizes_.saved_positions == 0) return;
      sizes_.saved_positions = 0;  // loops of one window need less
      sizes_.in_place_bytes = sizes_.saved_values_at = sizes_.saved_at;
      allocate_in_place();
    }
  }
  /// As before the first loop.
  void forget_all(const stream& s) {
    device_->fill_zero(s.handle(), table_.template as<void>(), table_.size());
    device_->fill_zero(s.handle(), logs_.template as<void>(), sizes_.logs.head_bytes());
    device_->fill_zero(s.handle(), words_.template as<void>(), words_.size());
    last_iterations_ = 0;
    scouted_ = 0;
    scouts_ = 0;
    if (in_place_.size() == 0) return;
    device_->fill_zero(s.handle(), in_place_.template as<void>(), sizes_.saved_values_at);
    // relaxed: a hint
    std::atomic_ref(*hope_.template as<std::uint32_t>())
        .store(parts::in_place_hope::unknown, std::memory_order_relaxed);
  }
  struct pass_grid {
    launch_shape shape;
    std::uint32_t twice;  ///< in_place_space
  };
  /// That of a pass in place: a thread for two iterations, and for one towards the end, none of which waits for
  /// another; or fewer where an iteration accesses many elements.
  pass_grid grid_of_pass(std::uint64_t n) const {
    pass_grid grid{shape_, 0};
    launch_shape& shape = grid.shape;
    shape.threads = std::min(shape.threads, most_threads_in_place);
    shape.clients = static_cast<std::uint32_t>((n + shape.threads - 1) / shape.threads);
    const std::uint32_t multiprocessors = device_->multiprocessors();
    if (sizes_.threads_in_place != 0) {
      const std::uint32_t blocks = std::max(1u, sizes_.threads_in_place / shape.threads) * multiprocessors;
      shape.clients = std::min(shape.clients, blocks);
    } else {
      const std::uint32_t last = multiprocessors * (device_.is_host() ? 1 : last_blocks);
      grid.twice = shape.clients > last ? (shape.clients - last) / 2 : 0;
      shape.clients -= grid.twice;
    }
    const std::uint32_t on_host = std::max(1u, most_threads_on_host / shape.threads);
    if (device_.is_host() && shape.clients > on_host) {
      grid.twice = 0;
      shape.clients = on_host;
    }
    return grid;
  }
  /// in_place_hope, perhaps not the latest.
  std::uint32_t hope() const {
    if (in_place_.size() == 0) return parts::in_place_hope::none;
    // relaxed: a hint
    return std::atomic_ref(*hope_.template as<std::uint32_t>()).load(std::memory_order_relaxed);
  }
  parts::saved_space saved() const {
    if (sizes_.saved_positions == 0) return parts::saved_space::within(sizes_.logs);
    std::byte* const base = in_place_.template as<std::byte>();
    return {reinterpret_cast<std::uint64_t*>(base + sizes_.saved_at),
            reinterpret_cast<std::uint64_t*>(base + sizes_.saved_values_at), sizes_.saved_positions,
            sizes_.logs.value_words};
  }
  /// A loop of `n` iterations learns if it is the second one in turn, and nobody knows yet, or knows for good: what
  /// that takes had better not be for one loop alone.
  parts::in_place_space in_place(std::uint64_t n, bool unproven) const {
    parts::in_place_space space;
    if (in_place_.size() == 0) return space;
    std::byte* const base = in_place_.template as<std::byte>();
    space.past = reinterpret_cast<parts::in_place_past*>(base);
    space.strays = sizes_.strays;
    space.strays.base = reinterpret_cast<std::uint64_t*>(base + sizes_.strays_at);
    space.saved = saved();
    const pass_grid grid = grid_of_pass(n);
    space.blocks = grid.shape.clients;
    space.twice = grid.twice;
    space.unproven = unproven;
    space.roles = reinterpret_cast<std::uint32_t*>(base + sizes_.roles_at);
    space.hope = hope_.template as<std::uint32_t>();
    // what lists tell is lost if windows run after all; rows stay
    const std::optional<in_place_kind> kind = hopes_for_in_place(n);
    const bool may_learn = hope() != parts::in_place_hope::none && (!kind || kind == in_place_kind::lists);
    space.learns = n == last_iterations_ && may_learn && n <= space.saved.positions;
    return space;
  }

 public:
  static constexpr std::uint64_t again_from = 32768;  ///< iterations; from there on a loop that comes a second time in
                                                      ///< turn has a scout, whatever loop_config::scout_from
  loop_workspace(const stream& s, memory<E>& tm, std::uint64_t n, const loop_config& c, const launch_config& grid,
                 bool skips_idle)
      : skips_idle_(skips_idle), device_(tm.on()) {
    detail::check_config(grid);
    shape_ = {grid.blocks, 0, grid.threads, device_->warp_width(), 0};
    words_ = buffer(device_, 2 * copy_bytes);
    bool allocated = false;
    for (loop_config fitting = c; !allocated;) {
      try {
        allocate(tm, n, fitting);
        allocated = true;
      } catch (const out_of_memory&) {
        table_ = buffer();
        logs_ = buffer();
        busy_ = buffer();
        if (skips_idle_)
          skips_idle_ = false;  // then such a loop runs as any other
        else if (!needs_less(fitting))
          throw;
      }
    }
    allocate_in_place();
    forget_all(s);
    s.synchronize();
  }
  const launch_shape& shape() const { return shape_; }
  const parts::loop_limits& limits() const { return sizes_.limits; }

  /// The next loop finds counters, state and error at zero; what that takes is enqueued, neither allocates nor waits.
  void reset(const stream& s) {
    recorded_ = recorded_ || device_->is_recording(s.handle());  // it may run at any time: from now on nothing is known
    if (unsettled_) forget_all(s);
    unsettled_ = false;
    if (other_is_clear_ && !recorded_) {
      copy_ ^= 1;
      other_is_clear_ = false;
    } else {
      device_->fill_zero(s.handle(), copy(copy_), changed);
    }
  }
  /// A loop of environment(), of `n` iterations, is under way.
  void note_loop(std::uint64_t n) {
    other_is_clear_ = true;
    last_iterations_ = n;
    unsettled_ = false;
  }
  /// What the kernel of a loop of `n` iterations needs; `scouted`: a scout goes before it.
  speculation::loop_environment environment(const memory<E>& tm, std::uint64_t n, bool scouted) const {
    parts::loop_limits limits = sizes_.limits;
    limits.set_iterations(n);
    const speculation::words_to_clear next{reinterpret_cast<std::uint64_t*>(copy(copy_ ^ 1)),
                                           changed / sizeof(std::uint64_t)};
    return {tm.ref().regions, control(), state(), sizes_.table,        sizes_.logs,
            sizes_.ranges,    limits,    next,    in_place(n, scouted)};
  }
  /// Whether the next loop had better be run in place at first; if that turns out wrong, only time is lost.
  std::optional<in_place_kind> hopes_for_in_place(std::uint64_t n) const {
    using known = parts::in_place_hope;
    const std::uint32_t h = hope();
    if (h == known::none || n > (h & known::most_iterations)) return {};
    const std::uint32_t owners = h >> known::ready_bits;
    if (owners == parts::in_place_past::lists) return in_place_kind::lists;
    return owners == parts::in_place_past::wide_rows ? in_place_kind::any_rows : in_place_kind::rows;
  }
  /// Whether a scout had better look at the next loop first: at a long one, or one that comes again, of which nobody
  /// knows anything. Its kernels have been loaded if the workspace has been made for such a one. What it tells may not
  /// have arrived here yet when the next loop is enqueued, which does not make another one any better.
  bool wants_scout(std::uint64_t n) const {
    const std::uint32_t threads = shape_of_scout().client_threads();
    const bool fits = n <= saved().positions && n >= threads && sizes_.logs.has_room_among_entries(threads);
    const bool is_long = n >= sizes_.scout_from && sizes_.limits.iterations >= sizes_.scout_from;
    const bool comes_again = n == last_iterations_ && n >= again_from && sizes_.limits.iterations >= again_from;
    const bool is_new = n > scouted_ && scouts_ != most_scouts && !recorded_;
    return (is_long || comes_again) && fits && is_new && hope() == parts::in_place_hope::unknown;
  }
  /// A scout of a loop of `n` iterations is about to be launched.
  void note_scout(std::uint64_t n) {
    scouted_ = n;
    ++scouts_;
  }
  /// Blocks of one warp, so that as many multiprocessors work on it.
  launch_shape shape_of_scout() const {
    launch_shape shape = shape_;
    shape.threads = device_->warp_width();
    shape.clients = device_.is_host() ? 2 : 32;
    return shape;
  }
  /// Whether loops with a body that is mostly_idle go by a list of their busy iterations.
  bool skips_idle() const { return skips_idle_; }
  /// Before anything is changed. Throws invalid_argument for another memory, if this one has got more arrays, and, if
  /// the loop goes by a list, `busy`, for one longer than this has been made for.
  void check(const memory<E>& tm, std::uint64_t n, bool busy) const {
    detail::check_arrays(sizes_, tm.core());
    if (busy && busy_bytes(n) > busy_.size())
      throw invalid_argument("a loop of " + std::to_string(n) + " iterations, mostly idle, in a workspace made for " +
                             std::to_string(sizes_.limits.iterations) + ": make one for the longest loop");
  }
  /// What a list of a loop of `n` iterations needs.
  parts::busy_space busy(std::uint64_t n) const {
    parts::busy_space space;
    space.iterations = n;
    space.total = busy_.template as<std::uint32_t>();
    space.counts = space.total + 1;
    space.words = space.counts + most_chunks();
    space.list = space.words + busy_words(n);
    space.chunks = chunks_of(busy_words(n));
    return space;
  }
  launch_shape shape_of_busy(const parts::busy_space& space) const {
    launch_shape shape = shape_;
    constexpr std::uint32_t warps = 8;
    shape.threads = warps * device_->warp_width();
    shape.clients = (space.chunks + warps - 1) / warps;
    return shape;
  }
  /// Such a pass is about to be launched. Unless a kernel follows it, note_loop(), nobody ends it: the next loop must
  /// not take its strays, marks and statuses for its own, and begins with nothing known.
  void note_pass() { unsettled_ = true; }
  launch_shape shape_in_place(std::uint64_t n) const { return grid_of_pass(n).shape; }
  /// Waits for the stream, then returns the counters of the last loop. Throws what it reported; what earlier loops have
  /// reported that nobody has collected is lost. Throws invalid_argument for another memory.
  loop_statistics collect(const stream& s, const memory<E>& tm) const {
    (void)*device_;  // throws if this has been moved from
    detail::check_memory(sizes_.memory, tm.core());
    return detail::collect_loop(s, tm.core(), control(), state());
  }
};

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

}  // namespace launching

namespace launching {

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
    if (kind) w.note_pass();
    if (scouted) {
      w.note_scout(n);
      enqueue(s, tm.on(), w.shape_of_scout(), scout_kernel<E, Body>{e, body});
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
  const parts::busy_space busy = w.busy(n);
  const speculation::loop_environment e = w.environment(tm, n, false);
  const launch_shape shape = w.shape_of_busy(busy);
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
  launching::check_stream(s, tm.on());
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
/// to the workspace, which is reset first; read them with workspace.collect(). If launching throws, nobody knows what
/// the arrays hold.
template <LoopEngine E, class Body>
void speculate_async(const stream& s, memory<E>& tm, loop_workspace<E>& w, std::int64_t n, const Body& body) {
  launching::check_loop_body<Body>();
  gputm::detail::check_iterations(n);
  const auto iterations = static_cast<std::uint64_t>(n);
  const bool skips_idle = may_skip_idle<E, Body> && w.skips_idle();
  w.check(tm, iterations, skips_idle);
  w.reset(s);
  if (n == 0) return;
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
/// index_out_of_range, capacity_exceeded or no_progress, which name the iteration.
/// Throws invalid_argument for n < 0, n > 2^31 - 1, or sizes that cannot be; and what launching can throw.
template <LoopEngine E, class Body>
loop_statistics speculate(const stream& s, memory<E>& tm, std::int64_t n, const Body& body,
                          const loop_config& config = {}) {
  gputm::detail::check_iterations(n);
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
