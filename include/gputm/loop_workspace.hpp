// Floor 4: what speculative loops need besides the memory: logs, marks, state, and what is known of the loops before.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "gputm/busy_list.hpp"
#include "gputm/kernel.hpp"
#include "gputm/loop_config.hpp"
#include "gputm/speculation/concept.hpp"

namespace gputm {
namespace detail {

/// What a loop of `n` iterations needs on a grid. Compiled, as what follows, in src/loop.cpp; check_iterations(),
/// check_arrays() and plan_loop() throw invalid_argument.
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
  std::uint64_t joint_at = 0;        ///< joint_space lies there among the logs; 0: there is none
  std::uint64_t in_place_bytes = 0;  ///< that loops in place need besides; 0: no loop is run in place
  parts::stray_space strays;         ///< without memory
  std::uint64_t strays_at = 0, roles_at = 0;
  std::uint64_t saved_at = 0, saved_values_at = 0;  ///< saved_space, if it has memory of its own
  std::uint64_t saved_keys_at = 0;                  ///< 0: it has no keys
  bool postpones = false;                           ///< passes by claims may postpone iterations
  std::uint64_t reads_at = 0;                       ///< of postponed_space, if they have memory of their own; or 0
  std::uint64_t filter_at = 0;                      ///< of wanted elements
  std::uint32_t filter_words = 0;
  std::uint32_t saved_positions = 0;   ///< then; 0: it lies within the logs
  std::uint32_t threads_in_place = 0;  ///< of a multiprocessor in such a pass; 0: as many as it can have
  std::uint64_t scout_from = 0;        ///< detail::scout_from()
  std::uint32_t memory = 0;            ///< its number
  std::uint32_t arrays = 0;            ///< that it has
};
inline constexpr std::uint64_t usual_log_bytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t usual_marks_bytes = std::uint64_t{4} << 30;
void check_iterations(std::int64_t n);
/// Iterations from which on a first loop has a scout.
std::uint64_t scout_from(const loop_config&);
void check_arrays(const loop_sizes&, const memory_core&);
loop_sizes plan_loop(const loop_config&, const loop_traits&, const memory_core&, std::uint64_t n,
                     std::uint32_t grid_threads);
/// The error of a workspace for which there is no memory, though it asked for as little as these sizes say.
[[noreturn]] void throw_out_of_memory(const loop_sizes&, const loop_config&, const out_of_memory&);
struct pass_grid {
  launch_shape shape;
  std::uint32_t twice;  ///< in_place_space
};
/// That of a pass in place, of a workspace whose loops have this shape: a thread for two iterations, and for one
/// towards the end, none of which waits for another; or, unless that is 0, so many threads of a multiprocessor.
pass_grid plan_pass(const launch_shape&, std::uint32_t threads_of_multiprocessor, const device&, std::uint64_t n);
/// Copies what a loop reported and throws its fault, if it has one.
loop_statistics collect_loop(const stream&, const memory_core&, const void* control, const void* state);

}  // namespace detail

/// Device memory for loops of one configuration on one memory, one after another.
template <LoopEngine E>
class loop_workspace {
  launch_shape shape_;
  detail::loop_sizes sizes_;
  // in this order: kernels may tell the host until others are freed
  buffer hope_, words_, table_, logs_, in_place_;
  std::optional<detail::busy_list> busy_;  ///< if bodies are mostly_idle, and there is memory for it

  // A loop's state and control lie in one of two copies. It clears the other one for the next loop: to clear it between
  // two kernels takes an H200 more than a microsecond.
  static constexpr std::size_t line = 128, control_at = (sizeof(parts::loop_state) + line - 1) / line * line;
  static constexpr std::size_t copy_bytes = (control_at + sizeof(parts::control) + line - 1) / line * line;
  unsigned copy_ = 0;
  std::uint64_t last_iterations_ = 0;  ///< of the loop before
  std::uint64_t scouted_ = 0;          ///< iterations of the longest loop that has had a scout
  std::uint32_t scouts_ = 0;           ///< that loops have had
  bool missing_ = false;               ///< the last loop has not come to its end: launching has thrown, and some of it
                                       ///< may have run
  bool other_is_clear_ = true, recorded_ = false;

  std::byte* copy(unsigned which) const { return words_.template as<std::byte>() + which * copy_bytes; }
  parts::loop_state* state() const { return reinterpret_cast<parts::loop_state*>(copy(copy_)); }
  parts::control* control() const { return reinterpret_cast<parts::control*>(copy(copy_) + control_at); }
  /// What a loop changes: it counts in its state, and reports faults. An H200 would take 3 us to zero the rest as well.
  static constexpr std::size_t changed = control_at + offsetof(parts::control, counters);
  static_assert(changed % sizeof(std::uint64_t) == 0);
  device device_;
  detail::launches::ticket launch_;

  /// The configuration, changed so that it needs less memory than sizes_ say: marks, or logs, those if `of_logs`; false
  /// if that cannot be.
  bool needs_less(loop_config& c, bool of_logs) const {
    constexpr std::uint64_t few_bytes = 64u << 20;
    of_logs = of_logs || c.marks_bytes == 0;  // a hashed table is as large as windows ask for
    for (const std::uint64_t most : {detail::usual_log_bytes, few_bytes})
      if (of_logs && (c.log_bytes == 0 || c.log_bytes > most)) {
        c.log_bytes = most;
        if (sizes_.log_bytes > most) return true;
      }
    const bool may = c.marks_bytes != 0;
    c.marks_bytes = 0;
    return may;
  }
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
  detail::pass_grid grid_of_pass(std::uint64_t n) const {
    return detail::plan_pass(shape_, sizes_.threads_in_place, device_, n);
  }
  /// Blocks.
  std::uint32_t scouts() const { return device_.is_host() ? speculation::scouts_on_host : speculation::scouts_on_gpu; }
  bool has_room_for_scouts(std::uint64_t n, std::uint32_t blocks) const {
    const std::uint32_t threads = blocks * device_->warp_width();
    return n >= threads && sizes_.logs.has_room_among_entries(threads);
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
    const auto words = [base](std::uint64_t at) { return reinterpret_cast<std::uint64_t*>(base + at); };
    return {words(sizes_.saved_at), words(sizes_.saved_values_at),
            sizes_.saved_keys_at != 0 ? words(sizes_.saved_keys_at) : nullptr, sizes_.saved_positions,
            sizes_.logs.value_words};
  }
  /// None may be if there is no room for what iterations read.
  parts::postponed_space postponed(std::uint64_t n) const {
    using space = parts::postponed_space;
    const bool of_its_own = sizes_.saved_positions != 0 && sizes_.reads_at != 0;
    if (!sizes_.postpones || (!of_its_own && !space::has_room(sizes_.logs, n, sizes_.saved_positions == 0))) return {};
    std::byte* const base = in_place_.template as<std::byte>();
    std::uint64_t* const own = reinterpret_cast<std::uint64_t*>(base + sizes_.reads_at);
    return space::of(sizes_.logs, n, of_its_own ? own : sizes_.logs.entries(),
                     {reinterpret_cast<std::uint32_t*>(base + sizes_.filter_at), sizes_.filter_words});
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
    space.postponed = postponed(n);
    const detail::pass_grid grid = grid_of_pass(n);
    space.blocks = grid.shape.clients;
    space.twice = grid.twice;
    space.unproven = unproven;
    space.scouts = scouts();
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
  loop_workspace(loop_workspace&&) = default;
  /// Not member by member: the old one's are freed in the order that its destructor has.
  loop_workspace& operator=(loop_workspace&& other) noexcept {
    if (this != &other) {
      std::destroy_at(this);
      std::construct_at(this, std::move(other));
    }
    return *this;
  }
  loop_workspace(const stream& s, memory<E>& tm, std::uint64_t n, const loop_config& c, const launch_config& grid,
                 bool lists_busy)
      : device_(tm.on()) {
    detail::check_config(grid);
    shape_ = {grid.blocks, 0, grid.threads, device_->warp_width(), 0};
    words_ = buffer(device_, 2 * copy_bytes);
    bool allocated = false;
    for (loop_config fitting = c; !allocated;) {
      try {
        allocate(tm, n, fitting);
        allocated = true;
      } catch (const out_of_memory& e) {
        const bool of_logs = table_.size() != 0;
        table_ = buffer();
        if (!needs_less(fitting, of_logs)) detail::throw_out_of_memory(sizes_, c, e);
      }
    }
    if (lists_busy) {
      try {
        busy_.emplace(device_, n);
      } catch (const out_of_memory&) {  // then such a loop runs as any other
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
    if (missing_) forget_all(s);  // it may have left marks, statuses and lists that the next one would take for its own
    missing_ = false;
    if (other_is_clear_ && !recorded_) {
      copy_ ^= 1;
      other_is_clear_ = false;
    } else {
      device_->fill_zero(s.handle(), copy(copy_), changed);
    }
  }
  /// A loop is about to be enqueued on `s`. Throws invalid_argument while another stream may still run a launch on this
  /// memory.
  void begin(const stream& s, memory<E>& tm) { tm.core().launches().begin(s, launch_, E::traits.launches_overlap); }
  /// A loop is about to be launched: until note_loop() there is nothing to collect.
  void expect_loop() { missing_ = true; }
  /// A loop of environment(), of `n` iterations, is under way.
  void note_loop(std::uint64_t n) {
    other_is_clear_ = true;
    last_iterations_ = n;
    missing_ = false;
  }
  parts::joint_space joint() const {
    if (sizes_.joint_at == 0) return {};
    return {logs_.template as<std::byte>() + sizes_.joint_at, &state()->joint};
  }
  std::uint64_t* left_out() const {
    if (sizes_.joint_at == 0) return nullptr;
    return reinterpret_cast<std::uint64_t*>(logs_.template as<std::byte>() + sizes_.joint_at +
                                            parts::joint_space::bytes());
  }
  /// What the kernel of a loop of `n` iterations needs; `scouted`: a scout goes before it.
  speculation::loop_environment environment(const memory<E>& tm, std::uint64_t n, bool scouted) const {
    parts::loop_limits limits = sizes_.limits;
    limits.set_iterations(n);
    const speculation::words_to_clear next{reinterpret_cast<std::uint64_t*>(copy(copy_ ^ 1)),
                                           changed / sizeof(std::uint64_t)};
    return {tm.ref().regions,     control(), state(),   sizes_.table, sizes_.logs, sizes_.ranges, limits, next,
            in_place(n, scouted), joint(),   left_out()};
  }
  /// Whether the next loop had better be run in place at first; if that turns out wrong, only time is lost.
  std::optional<in_place_kind> hopes_for_in_place(std::uint64_t n) const {
    using known = parts::in_place_hope;
    const std::uint32_t h = hope();
    if (h == known::none || n > (h & known::most_iterations)) return {};
    const std::uint32_t owners = h >> known::ready_bits;
    if (owners == parts::in_place_past::lists) return in_place_kind::lists;
    return owners == parts::in_place_past::rows ? in_place_kind::rows : in_place_kind::any_rows;
  }
  /// Whether a scout had better look at the next loop first: at a long one, or one that comes again, of which nobody
  /// knows anything. Its kernels have been loaded if the workspace has been made for such a one. What it tells may not
  /// have arrived here yet when the next loop is enqueued, which does not make another one any better.
  bool wants_scout(std::uint64_t n) const {
    const bool fits = n <= saved().positions && has_room_for_scouts(n, scouts());
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
  /// Blocks of one warp, so that as many multiprocessors work on it; with probes, if there is room for them.
  launch_shape shape_of_scout(std::uint64_t n) const {
    launch_shape shape = shape_;
    shape.threads = device_->warp_width();
    const std::uint32_t all = scouts() + (device_.is_host() ? speculation::probes_on_host : speculation::probes_on_gpu);
    shape.clients = has_room_for_scouts(n, all) ? all : scouts();
    return shape;
  }
  /// Whether loops with a body that is mostly_idle go by a list of their busy iterations.
  bool skips_idle() const { return busy_.has_value(); }
  const detail::busy_list& busy() const { return *busy_; }
  /// Before anything is changed. Throws invalid_argument for another memory, if this one has got more arrays, and, if
  /// the loop goes by a list, `busy`, for one longer than this has been made for.
  void check(const memory<E>& tm, std::uint64_t n, bool busy) const {
    detail::check_arrays(sizes_, tm.core());
    if (busy && !busy_->has_room(n))
      throw invalid_argument("a loop of " + std::to_string(n) + " iterations, mostly idle, in a workspace made for " +
                             std::to_string(sizes_.limits.iterations) + ": make one for the longest loop");
  }
  launch_shape shape_in_place(std::uint64_t n) const { return grid_of_pass(n).shape; }
  /// Waits for the stream, that of the last loop, then returns this one's counters. Throws what it reported; what
  /// earlier loops have reported that nobody has collected is lost. Throws invalid_argument for another memory, or for
  /// another stream that may still run it, and error if launching the loop has thrown.
  loop_statistics collect(const stream& s, const memory<E>& tm) {
    (void)*device_;  // throws if this has been moved from
    detail::check_memory(sizes_.memory, tm.core());
    detail::check_stream(s, device_);
    launch_.check(s, "collecting");
    launch_.collected();
    if (missing_)
      throw error(
          "the last loop of this workspace has not been launched, since that threw: there is nothing to collect, "
          "and nobody knows what the arrays hold; write them anew, and launch another loop");
    return detail::collect_loop(s, tm.core(), control(), state());
  }
};

}  // namespace gputm
