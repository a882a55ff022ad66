// Floor 3: what an algorithm is. One file each; see CONTRIBUTING.md for how to add one.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "gputm/parts/abort_reason.hpp"
#include "gputm/parts/contention.hpp"
#include "gputm/parts/log_space.hpp"
#include "gputm/parts/phases.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm {

/// What an algorithm promises and needs, known at compile time.
struct algorithm_traits {
  bool opaque = false;            ///< every attempt, committed or not, sees one consistent state
  bool multi_version = false;     ///< read-only transactions read an old snapshot
  bool needs_server = false;      ///< some blocks of the launch are servers
  bool several_servers = false;   ///< as many as memory_options::servers, else one
  bool server_cluster = false;    ///< its servers use each other's shared memory, where they can be a cluster
  bool warp_collective = false;   ///< the lanes of a warp commit together
  bool in_place_writes = false;   ///< stores reach memory before the commit
  bool keeps_stores = false;      ///< what a body has stored stays if it then cancels, or asks for a retry
  bool isolated = true;           ///< false for the baseline that synchronises nothing
  bool one_thread = false;        ///< transactions run one after another, on one thread
  bool needs_footprint = false;   ///< the body must state its accesses beforehand
  bool launches_overlap = false;  ///< isolation holds between launches: nothing of it lies in the workspace
  bool logs_read_only = true;     ///< read-only transactions fill a read log, and need capacity for it
};

/// Choices that belong to a memory.
struct memory_options {
  std::uint32_t words_per_lock = 1;     ///< elements under one lock: a power of two
  std::uint32_t versions = 10;          ///< multi-version: versions kept of each element, at least 2
  std::uint32_t record_entries = 1024;  ///< multi-version: commits that the record, or each part, keeps, at least 2

  std::uint32_t servers = 2;  ///< server blocks, of an algorithm that can have several: at least 1

  /// log2 of words_per_lock.
  constexpr std::uint32_t lock_shift() const { return static_cast<std::uint32_t>(std::countr_zero(words_per_lock)); }
};

/// The shape of one launch.
struct launch_shape {
  std::uint32_t clients = 0;       ///< blocks whose threads run transactions
  std::uint32_t servers = 0;       ///< blocks behind them that serve: the last ones
  std::uint32_t threads = 0;       ///< in a block
  std::uint32_t warp_width = 0;    ///< lanes of a full warp
  std::uint32_t shared_limit = 0;  ///< bytes of dynamic shared memory that a block can have
  std::uint32_t shared_bytes = 0;  ///< of them, what shared_bytes() asked for
  std::uint32_t cluster = 1;       ///< blocks of a cluster: all servers are one of them; 1: there are none

  GPUTM_INLINE constexpr std::uint32_t warps_in_block() const { return (threads + warp_width - 1) / warp_width; }
  GPUTM_INLINE constexpr std::uint32_t client_warps() const { return clients * warps_in_block(); }
  GPUTM_INLINE constexpr std::uint32_t client_threads() const { return clients * threads; }
  /// Servers begin a cluster; blocks between clients and them have nothing to do.
  GPUTM_INLINE constexpr std::uint32_t first_server() const { return (clients + cluster - 1) / cluster * cluster; }
  GPUTM_INLINE constexpr std::uint32_t blocks() const { return first_server() + servers; }
};

/// What every transaction of a launch gets when it is constructed.
template <class Globals>
struct stm_environment {
  const region_table* regions;  ///< outlives the kernel
  Globals globals;              ///< the algorithm's own words
  std::byte* launch_memory;     ///< what launch_bytes() asked for; null without it
  parts::log_space logs;
  std::uint32_t rank;  ///< of this thread in the grid: unique in this launch, not among launches that overlap
  launch_shape shape;
  parts::control* control;  ///< for the time of phases
};

/// What a server block gets.
template <class Globals>
struct server_environment {
  Globals globals;
  std::byte* launch_memory;
  parts::log_capacity capacity;
  launch_shape shape;
  parts::control* control;
};

/// A transaction of some algorithm on one thread, used for one attempt after another: begin(); loads and stores; then
///   commit()                if the body commits, and abandon() if that fails;
///   validate(), abandon()   if it cancels, asks for a retry, or has done something wrong: an error if reads are valid;
///   abandon()               after an operation that has failed, whatever the body says.
/// When the log is full the body runs on, with all that the attempt holds, and is abandoned in the end. Functions that
/// return bool return false on a conflict, after which only reason(), overflow(), validate(), abandon() and begin() may
/// be called; after one for want of room in the log also load(), whose value is right if that is again the only reason
/// why it fails. Optional: load_some(r, indices, out), arrays of one length, in a read-only attempt, for latencies that
/// overlap; room(n): whether it may be called for n elements now; loads_at_once: how many elements of up to 8 bytes.
template <class S>
concept StmTransaction = requires(S& s, const region& r, std::uint32_t i, int& out, const int& in, parts::urgency u) {
  { s.begin(u, true) } -> std::same_as<void>;   // starts an attempt; true: it will not store
  { s.load(r, i, out) } -> std::same_as<bool>;  // the index has been checked
  { s.store(r, i, in) } -> std::same_as<bool>;
  { s.validate() } -> std::same_as<bool>;  // are all reads so far still current
  { s.commit() } -> std::same_as<bool>;
  { s.abandon() } -> std::same_as<void>;  // ends the attempt without effect
  { s.reason() } -> std::same_as<abort_reason>;
  { s.overflow() } -> std::same_as<parts::overflow_kind>;
};

/// Of an algorithm whose lanes commit together (traits.warp_collective). commit_together(lanes, wants) is called by
/// all of `lanes`; a lane that `wants` has an attempt to commit, and learns whether it has. After a failure
/// reason() says why.
template <class S>
concept WarpTransaction = StmTransaction<S> && requires(S& s, simt::mask_t lanes) {
  { s.commit_together(lanes, true) } -> std::same_as<bool>;
};

/// What gives a memory its metadata: an algorithm, or an engine of speculative loops. A type that is never
/// instantiated.
///   name                        its short name
///   traits                      constexpr algorithm_traits
///   globals                     trivially copyable words for kernels (clocks, ...)
///   global_bytes(options), make_globals(pointer, options)          memory shared by all arrays
///   metadata_bytes(length, element_bytes, options)                 memory of one array
/// All of that memory is zero at first; zero must be a valid initial state. Optional, if stamps are finite:
///   renew_after                    the first 8 bytes of the globals are a clock; when it is beyond that, all of this
///                                  memory is zeroed once no launch is under way
///   transaction's exhausted(), stamps()    whether a launch has to end before that, with an error, and its stamps
template <class A>
concept MemoryKind = requires(std::byte* p, const memory_options& o) {
  { A::name } -> std::convertible_to<const char*>;
  { A::traits } -> std::convertible_to<algorithm_traits>;
  typename A::globals;
  { A::global_bytes(o) } -> std::convertible_to<std::size_t>;
  { A::make_globals(p, o) } -> std::same_as<typename A::globals>;
  { A::metadata_bytes(1u, 1u, o) } -> std::convertible_to<std::size_t>;
};

/// An algorithm of unordered transactions: besides the above
///   transaction<K>              an StmTransaction that keeps K log entries in registers
///   launch_bytes(options, capacity)  optional: memory of one launch's workspace, zero at first; or, if that depends
///   launch_bytes(options, capacity, shape)                         on it
///   shared_bytes(options, capacity, shape)  optional: dynamic shared memory of a block; more than shape.shared_limit
///                               if it needs more at least
/// One that needs servers: servers(options), how many; serve(server_environment), which every thread of those blocks
/// calls and which returns when all client threads have called their transaction's leave().
template <class A>
concept Algorithm = MemoryKind<A> && StmTransaction<typename A::template transaction<2>> &&
    (!A::traits.warp_collective || WarpTransaction<typename A::template transaction<2>>);

}  // namespace gputm
