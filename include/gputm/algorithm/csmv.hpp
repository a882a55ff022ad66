// CSMV: a client-server multi-version STM. Floor 3.
//
// Source: thesis chapter 4, algorithms 1 to 3. As JVSTM-GPU, with the record of commits (ATR) in the hands of
// server blocks of the same launch. The lanes of a client warp commit together:
//   1. pre-validation: a lane that read or wrote what a lower one writes gives way to it, if that one goes on;
//   2. those that are left send their keys to the server, in one batch (commit_channel);
//   3. a worker warp of the server validates the batch against the record: all its lanes share the entries
//      that the transactions must be held against (collaborative validation); then it takes places in the
//      record for all that passed, by one CAS, and answers with their commit stamps, ascending by lane;
//   4. the clients write back, and one lane publishes the stamps of all, once GTS is the first of them - 1.
// Read-only transactions read a snapshot, and never see the server.
//
// What differs from the text: conflict bits are set, not toggled; write-write conflicts count in both
// validations, so blind writes are safe; 'aborted' is a verdict, and no stamp; batches of several groups of one
// warp may be under way; a worker waits until the entries up to the last one taken are complete, and not for a quiet
// record.
//
// Semantics: strictly serialisable and opaque. Progress: of a batch at least the lowest lane commits, unless
// another batch has.
#pragma once

#include <algorithm>

#include "gputm/algorithm/csmv_index.hpp"
#include "gputm/algorithm/csmv_partitioned.hpp"
#include "gputm/algorithm/csmv_rounds.hpp"
#include "gputm/algorithm/csmv_server.hpp"
#include "gputm/algorithm/snapshot_transaction.hpp"

namespace gputm::algorithm {

template <record_place Place, csmv_mechanisms With>
struct basic_csmv : multi_version {
  static constexpr const char* name = With == csmv_mechanisms::no_collaboration     ? "csmv_no_cv"
                                      : With == csmv_mechanisms::client_server_only ? "csmv_only_cs"
                                      : With == csmv_mechanisms::rounds             ? "csmv_rounds"
                                      : With == csmv_mechanisms::index              ? "csmv_index"
                                      : Place == record_place::shared               ? "csmv_sh"
                                      : Place == record_place::stamps_shared        ? "csmv_ts"
                                      : Place == record_place::replicated           ? "csmv_replicated"
                                      : Place == record_place::partitioned          ? "csmv_partitioned"
                                                                                    : "csmv_gb";
  static constexpr algorithm_traits traits{
      .opaque = true,
      .multi_version = true,
      .needs_server = true,
      .several_servers = Place == record_place::replicated || Place == record_place::partitioned,
      .server_cluster = Place == record_place::partitioned,
      .warp_collective = true,
      .logs_read_only = false};
  /// Server blocks of a launch.
  static constexpr std::uint32_t servers(const memory_options& o) { return traits.several_servers ? o.servers : 1; }

  using globals = multi_version::globals;
  using layout = csmv_layout<Place, With>;

  static std::size_t launch_bytes(const memory_options& o, const parts::log_capacity& c, const launch_shape& s) {
    return layout::launch_bytes(o.record_entries, c, s);
  }
  /// For as many entries as fit, of record_entries.
  static std::size_t shared_bytes(const memory_options& o, const parts::log_capacity& c, const launch_shape& s) {
    const std::size_t before = layout::before_record(c, s) + layout::record_head, entry = layout::entry_bytes(c);
    const std::size_t room = entry != 0 && before < s.shared_limit ? (s.shared_limit - before) / entry : 2;
    return before + std::max<std::size_t>(layout::fitting(o.record_entries, room), 2) * entry;
  }
  static GPUTM_INLINE void serve(const server_environment<globals>& env) {
    using record_server = std::conditional_t<layout::partitioned, csmv_partitioned_server<layout>, csmv_server<layout>>;
    using server = std::conditional_t<layout::rounds, csmv_rounds_server<layout>,
                                      std::conditional_t<layout::indexed, csmv_index_server<layout>, record_server>>;
    server(env).serve();
  }

  template <unsigned K>
  class transaction;
};

template <record_place Place, csmv_mechanisms With>
template <unsigned K>
class basic_csmv<Place, With>::transaction : public snapshot_transaction<K> {
  using base = snapshot_transaction<K>;
  using base::env_;
  using base::log_;

  GPUTM_INLINE parts::commit_channel channel() const {
    return layout::channel(env_.launch_memory, env_.logs.capacity, env_.shape);
  }
  GPUTM_INLINE std::uint32_t client_warp() const {
    return simt::block_rank() * env_.shape.warps_in_block() + simt::warp_rank();
  }

 public:
  GPUTM_INLINE explicit transaction(const typename base::environment& env) : base(env) {}

  GPUTM_INLINE bool commit() { return commit_together(simt::mask_t{1} << simt::lane(), true); }

  GPUTM_INLINE bool commit_together(simt::mask_t lanes, bool wants) {
    lanes = simt::ballot(lanes, true);  // those that there are
    const bool updates = wants && log_.wrote();
    simt::mask_t batch = simt::ballot(lanes, updates);
    if (batch == 0) return wants;
    parts::stopwatch watch;
    const auto channel = this->channel();
    const parts::letter mine = channel.of(client_warp(), simt::lane());
    if (updates) write(mine);
    if constexpr (layout::batches) batch = prevalidate(lanes, batch, mine);
    const bool sent = batch >> simt::lane() & 1;
    if (updates) watch.lap(env_.control, phase::validation);  // among the lanes
    channel.exchange(client_warp(), lanes, batch);
    if (sent) watch.lap(env_.control, phase::server_wait);
    const bool through = sent && this->passed(mine.found());
    if constexpr (layout::batches) write_back_together(lanes, through, mine);
    if (through) watch.lap(env_.control, phase::write_back);
    return updates ? through : wants;
  }

  GPUTM_INLINE void leave() const { channel().leave(); }

 private:
  GPUTM_INLINE void write(const parts::letter& to) const {
    to.head(log_.snapshot(), log_.writes(), log_.keys());
    std::uint32_t k = 0;
    log_.each_written([&](std::uint64_t key, std::uint64_t, std::uint32_t, auto) { to.write(k++, key); });
    log_.each_only_read([&](std::uint64_t key) { to.write(k++, key); });
    if constexpr (!layout::batches)  // the server writes back
      log_.each_written([&](std::uint64_t, std::uint64_t element, std::uint32_t bytes, auto payload) {
        to.write(k++, element);
        to.write(k++, bytes);
        for (std::uint32_t i = 0; i < (bytes + 7) / 8; ++i) to.write(k++, payload(i));
      });
  }

  /// Algorithm 1. Which lanes of the batch commit before which others is decided by their order, so a lane is in
  /// conflict with a lower one that writes what this one has read or writes. Returns those that go on.
  GPUTM_INLINE simt::mask_t prevalidate(simt::mask_t lanes, simt::mask_t batch, const parts::letter& letter) {
    const simt::mask_t rivals = rivals_of(lanes, batch, letter);
    simt::mask_t going = 0, undecided = batch;  // the others give way
    GPUTM_NO_UNROLL
    while (undecided != 0) {  // each round decides the lowest of them at least
      const bool open = undecided >> simt::lane() & 1;
      going |= simt::ballot(lanes, open && (rivals & (going | undecided)) == 0);
      undecided &= ~(going | simt::ballot(lanes, open && (rivals & going) != 0));
    }
    const bool goes = going >> simt::lane() & 1;
    // no batch is larger than the record
    const std::uint32_t entries = layout::record_entries(env_.globals, env_.logs.capacity, env_.shape);
    const bool late = !layout::indexed && goes && simt::count(simt::below(going)) >= entries;
    if ((batch >> simt::lane() & 1) && !goes) log_.fail(abort_reason::read_conflict);
    if (late) log_.fail(abort_reason::record_overwritten);
    return simt::ballot(lanes, goes && !late);
  }
  /// The lower lanes of the batch that write what this lane's transaction has touched. The lanes show each other
  /// what they write by shuffles: letters of other lanes would cost a latency each.
  GPUTM_INLINE simt::mask_t rivals_of(simt::mask_t lanes, simt::mask_t batch, const parts::letter& letter) {
    const bool mine = batch >> simt::lane() & 1;
    const std::uint32_t written = mine ? log_.writes() : 0;
    simt::mask_t rivals = 0, writers = batch;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; (writers = simt::ballot(lanes, k < written)) != 0; ++k) {
      const std::uint64_t key = k < written ? letter.read(k) : 0;
      GPUTM_NO_UNROLL
      for (simt::mask_t rest = writers; rest != 0; rest &= rest - 1) {
        const std::uint32_t other = simt::lowest(rest);
        const std::uint64_t its = simt::shfl(lanes, key, other);
        if (mine && other < simt::lane() && log_.touched(its)) rivals |= simt::mask_t{1} << other;
      }
    }
    return rivals;
  }

  /// No other write-back under way touches these elements: commits that are not in each other's snapshots and
  /// write one element are in conflict.
  GPUTM_INLINE void write_back_together(simt::mask_t lanes, bool through, const parts::letter& mine) const {
    const simt::mask_t committed = simt::ballot(lanes, through);
    if (committed == 0) return;
    const std::uint64_t stamp = through ? mine.stamp() : 0;
    if (through) log_.write_back(stamp);
    simt::sync_warp(lanes);  // the release in publish() covers what all lanes have written
    if (simt::lane() == simt::lowest(committed)) this->time().publish(stamp, stamp + simt::count(committed) - 1);
    simt::sync_warp(lanes);  // nobody says that it has committed before that can be seen
  }
};

/// The record in shared memory: entries are few where write sets may be large.
using csmv_sh = basic_csmv<record_place::shared, csmv_mechanisms::all>;
/// Its stamps in shared memory, the write sets in global memory.
using csmv_ts = basic_csmv<record_place::stamps_shared, csmv_mechanisms::all>;
/// All of it in global memory.
using csmv_gb = basic_csmv<record_place::global, csmv_mechanisms::all>;
/// Several servers (memory_options::servers): each holds transactions against a copy of its own of the record.
using csmv_replicated = basic_csmv<record_place::replicated, csmv_mechanisms::all>;
/// Several servers: each has a part of the record, of record_entries at most, and all hold a transaction against it.
using csmv_partitioned = basic_csmv<record_place::partitioned, csmv_mechanisms::all>;
/// The server holds all transactions that have come in against the record before it adds any.
using csmv_rounds = basic_csmv<record_place::shared, csmv_mechanisms::rounds>;
/// In place of the record, an index of last writers: the server's work does not grow with the commits in flight.
using csmv_index = basic_csmv<record_place::shared, csmv_mechanisms::index>;
/// Ablation: each lane of a worker warp validates a transaction of its own.
using csmv_no_cv = basic_csmv<record_place::shared, csmv_mechanisms::no_collaboration>;
/// Ablation: clients and server, and nothing else: no pre-validation, no batches, the server writes back.
using csmv_only_cs = basic_csmv<record_place::shared, csmv_mechanisms::client_server_only>;

static_assert(Algorithm<csmv_sh> && Algorithm<csmv_ts> && Algorithm<csmv_gb>);
static_assert(Algorithm<csmv_no_cv> && Algorithm<csmv_only_cs> && Algorithm<csmv_rounds> && Algorithm<csmv_index>);
static_assert(Algorithm<csmv_replicated> && Algorithm<csmv_partitioned>);

}  // namespace gputm::algorithm
