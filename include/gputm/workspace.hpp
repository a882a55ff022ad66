// Floor 4: what a launch needs besides the memory: logs, counters, signals, the first error. Made once,
// used by any number of launches of the same configuration, one at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "gputm/client.hpp"
#include "gputm/history.hpp"
#include "gputm/stats.hpp"

namespace gputm {

/// The shape of a launch. Zeros are chosen by gputm: as many blocks as can be resident.
struct launch_config {
  gputm::capacity capacity{};
  std::uint32_t blocks = 0;   ///< that run transactions; an algorithm that needs servers adds its own to them
  std::uint32_t threads = 0;  ///< in a block, servers' included
  gputm::patience patience{};
  std::uint64_t history_words = 0;  ///< a thread, for launches that record (with_history)
  bool clusters = true;             ///< servers that can use a cluster are one, where device and grid allow it
};

namespace detail {

/// Sums the counters; throws what the launch reported. Compiled, in src/workspace.cpp.
statistics read_counters(const parts::control&);
/// `loop`: inputs are iterations.
[[noreturn]] void throw_fault(const parts::control&, const memory_core&, bool loop = false);
/// Throw invalid_argument for a capacity beyond the limit; for that, or a grid beyond its own.
void check_capacity(const capacity&);
void check_config(const launch_config&);
/// Throws invalid_argument for several threads of an algorithm that runs on one, and for a recorder beyond all memory.
void check_shape(const launch_config&, const char* algorithm, bool one_thread, bool records);
/// The same bytes; throws invalid_argument if a block cannot have them.
std::uint32_t checked_shared_bytes(const char* algorithm, std::size_t bytes, std::uint32_t writes, const backend&);
/// Throws invalid_argument if a workspace of the memory of this number is used with another one, or with one that has
/// been moved from.
void check_memory(std::uint32_t made_for, const memory_core&);
/// Throws invalid_argument if the memory has got larger elements than those of so many bytes that it had when a
/// workspace was made.
void check_elements(std::uint32_t largest, const memory_core&);
parts::log_space plan_logs(const gputm::capacity&, const memory_core&);
/// Blocks of a cluster of all servers; 1 where there cannot be one.
inline std::uint32_t cluster_of(std::uint32_t servers, const backend& d) {
  return std::has_single_bit(servers) && servers <= d.largest_cluster() ? servers : 1;
}
/// What an algorithm adds to a configuration without zeros.
template <class A>
launch_shape shape_of(const gputm::device& d, const memory_options& o, const launch_config& c) {
  launch_shape s{c.blocks, 0, c.threads, d->warp_width()};
  s.shared_limit = static_cast<std::uint32_t>(d->shared_bytes_of_block());
  if constexpr (A::traits.needs_server) s.servers = A::servers(o);
  if (A::traits.server_cluster && c.clusters) s.cluster = cluster_of(s.servers, *d);
  const parts::log_capacity sizes{c.capacity.reads, c.capacity.writes};
  if constexpr (requires { A::shared_bytes(o, sizes, s); })
    s.shared_bytes = checked_shared_bytes(A::name, A::shared_bytes(o, sizes, s), c.capacity.writes, *d);
  return s;
}
/// What there is to know of a kernel before its grid is chosen.
struct grid_needs {
  const char* algorithm;
  bool one_thread;             ///< the algorithm runs on no more
  bool large_blocks;           ///< where the grid fills a GPU: as few blocks as can be, as large as can be
  std::uint32_t most_threads;  ///< of a multiprocessor of a GPU, if the grid is gputm's choice; 0: as many as can be
  launch_shape (*shape_of)(const device&, const memory_options&, const launch_config&);
  std::uint32_t (*resident_blocks)(const device&, const launch_shape&);  ///< that can be on the device at once
};
/// Fills in the zeros of `config`: for `work` pieces of work, as many threads as are useful and resident beside
/// the algorithm's servers. A grid that does not fit in clusters has none. Throws grid_not_resident for one that is too
/// large. Compiled, in src/grid.cpp.
launch_config choose_grid(const grid_needs&, const memory_core&, launch_config, std::uint64_t work);
/// Decodes the slices of a history_recorder, and appends.
void decode_history(const std::vector<std::uint64_t>& words, std::uint64_t capacity, history::history& into);

}  // namespace detail

/// Device memory for launches of one shape on one memory. `config` has no zeros left.
template <Algorithm A, class Policy = with_statistics>
class workspace {
  static constexpr bool records = std::is_same_v<typename Policy::recorder, history_recorder>;
  launch_config config_;
  launch_shape shape_;
  parts::log_space logs_;
  buffer control_, words_, launch_memory_, clock_, history_;
  device device_;
  std::uint32_t memory_;           // its number
  std::uint32_t largest_element_;  // that it had, in bytes: logs have room for such
  detail::launches::ticket launch_;

 public:
  workspace(const stream& s, memory<A>& tm, const launch_config& config)
      : config_(config),
        device_(tm.on()),
        memory_(tm.core().regions().memory),
        largest_element_(tm.core().largest_element()) {
    detail::check_config(config);
    detail::check_shape(config, A::name, A::traits.one_thread, records);
    detail::check_stream(s, device_);
    shape_ = detail::shape_of<A>(device_, tm.core().options(), config);
    logs_ = detail::plan_logs(config.capacity, tm.core());
    const std::uint64_t words = parts::log_words(logs_, config.blocks, config.threads, device_->warp_width());
    control_ = buffer(device_, sizeof(parts::control));
    words_ = buffer(device_, words * sizeof(std::uint64_t));
    logs_.base = words_.template as<std::uint64_t>();
    device_->fill_zero(s.handle(), logs_.base, words_.size());
    if constexpr (requires(const memory_options& o) { A::launch_bytes(o, logs_.capacity); })
      launch_memory_ = buffer(device_, A::launch_bytes(tm.core().options(), logs_.capacity));
    if constexpr (requires(const memory_options& o) { A::launch_bytes(o, logs_.capacity, shape_); })
      launch_memory_ = buffer(device_, A::launch_bytes(tm.core().options(), logs_.capacity, shape_));
    if (launch_memory_.size() != 0)
      device_->fill_zero(s.handle(), launch_memory_.template as<void>(), launch_memory_.size());
    if constexpr (records) {
      clock_ = buffer(device_, 8);
      history_ = buffer(device_, std::uint64_t{config.blocks} * config.threads * config.history_words * 8);
      device_->fill_zero(s.handle(), clock_.template as<void>(), clock_.size());
      device_->fill_zero(s.handle(), history_.template as<void>(), history_.size());
    }
    reset(s);
    s.synchronize();
  }

  const launch_config& config() const { return config_; }
  /// Of every launch: servers included.
  const launch_shape& shape() const { return shape_; }

  /// Counters, signals and error back to zero; enqueued, neither allocates nor waits. Throws invalid_argument for a
  /// stream of another device.
  void reset(const stream& s) {
    detail::check_stream(s, device_);
    device_->fill_zero(s.handle(), control_.template as<void>(), sizeof(parts::control));
  }

  /// What kernels need, of a launch on `s` that is about to be enqueued. Throws invalid_argument for another memory,
  /// for one that has got larger elements since this was made, for a stream of another device, and while another stream
  /// may still run what the launch must not overlap.
  detail::client_parameters<A, Policy> begin(const stream& s, memory<A>& tm) {
    detail::check_memory(memory_, tm.core());
    detail::check_elements(largest_element_, tm.core());
    detail::check_stream(s, device_);
    tm.core().launches().begin(s, launch_, A::traits.launches_overlap);
    typename Policy::recorder::storage record{};
    if constexpr (records)
      record = {clock_.template as<std::uint64_t>(), history_.template as<std::uint64_t>(), config_.history_words,
                control_.template as<parts::control>()};
    return {tm.ref(),
            logs_,
            control_.template as<parts::control>(),
            launch_memory_.template as<std::byte>(),
            shape_,
            config_.patience,
            record};
  }

  /// Waits for the stream, then returns the counters of the launches since reset(). Throws what the first
  /// failing thread reported. After it the memory is ready for the next launch. Throws invalid_argument for
  /// another memory, and for another stream than the launch's, if that may still run it.
  statistics collect(const stream& s, memory<A>& tm) {
    detail::check_memory(memory_, tm.core());
    detail::check_stream(s, device_);
    launch_.check(s, "collecting");
    auto c = std::make_unique<parts::control>();
    device_->copy_from_device(s.handle(), c.get(), control_.template as<void>(), sizeof *c);
    s.synchronize();
    launch_.collected();
    if constexpr (requires { A::renew_after; })
      if (A::renew_after != ~std::uint64_t{0} && !tm.core().launches().any()) renew_if_due(s, tm);
    if (c->fault_kind != 0) detail::throw_fault(*c, tm.core());
    return detail::read_counters(*c);
  }

  /// Stamps are finite: long before the last one, between launches, clock and versions start over.
  void renew_if_due(const stream& s, memory<A>& tm) {
    std::uint64_t clock = 0;
    device_->copy_from_device(s.handle(), &clock, tm.core().globals(), sizeof clock);
    s.synchronize();
    if (clock > A::renew_after) tm.core().renew(s);
  }

  /// Appends what the launches so far recorded, and starts over. Waits for the stream. Throws invalid_argument for one
  /// of another device.
  void take_history(const stream& s, history::history& into) requires records {
    detail::check_stream(s, device_);
    std::vector<std::uint64_t> words(history_.size() / 8);
    device_->copy_from_device(s.handle(), words.data(), history_.template as<void>(), history_.size());
    device_->fill_zero(s.handle(), history_.template as<void>(), history_.size());
    s.synchronize();
    detail::decode_history(words, config_.history_words, into);
  }
};

}  // namespace gputm
