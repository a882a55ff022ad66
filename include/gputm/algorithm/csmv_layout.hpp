// What lies where in a launch of CSMV. Floor 3, see csmv.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gputm/algorithm/snapshot_transaction.hpp"
#include "gputm/parts/commit_channel.hpp"
#include "gputm/parts/commit_index.hpp"
#include "gputm/parts/commit_record.hpp"
#include "gputm/parts/key_table.hpp"
#include "gputm/parts/partitioned_record.hpp"
#include "gputm/parts/replicated_record.hpp"
#include "gputm/parts/round_list.hpp"
#include "gputm/parts/server_crew.hpp"
#include "gputm/parts/server_team.hpp"

namespace gputm::algorithm {

/// Where the record is: all of it in shared memory; its stamps; nothing (thesis: sh, ts, gb); in global memory with a
/// copy in the shared memory of each of several servers; or a part of it in that of each (thesis section 6.1).
enum class record_place : std::uint8_t { shared, stamps_shared, global, replicated, partitioned };
/// What the ablations of thesis section 5.3 leave out: collaborative validation (noCV); that, pre-validation,
/// batched insertion and client-side write-back (onlyCS). Rounds: all, in rounds (section 6.1). Index: an index of last
/// writers takes the record's place.
enum class csmv_mechanisms : std::uint8_t { all, no_collaboration, client_server_only, rounds, index };

/// Launch memory: {channel, what is global of the record, what servers have in common}; dynamic shared memory: {crew,
/// where servers are a cluster, a share of what they have in common, what is shared of the record}.
template <record_place Place, csmv_mechanisms With>
struct csmv_layout {
  static constexpr bool batches = With != csmv_mechanisms::client_server_only;
  static constexpr bool rounds = With == csmv_mechanisms::rounds;
  static constexpr bool indexed = With == csmv_mechanisms::index;
  static constexpr bool collaborates = With == csmv_mechanisms::all || rounds;
  static constexpr bool partitioned = Place == record_place::partitioned;
  /// The server block alone uses a record that is not replicated, wherever it is.
  using block_record = parts::commit_record<simt::scope::block>;
  using grid_record = parts::commit_record<simt::scope::device>;
  using shared_record = std::conditional_t<indexed, parts::commit_index,
                                           std::conditional_t<partitioned, parts::partitioned_record, block_record>>;
  using record_type = std::conditional_t<Place == record_place::replicated, parts::replicated_record, shared_record>;

  /// Words of a letter's text: keys; where the server writes back, element, size and value of every write, too.
  static GPUTM_INLINE constexpr std::uint32_t text_words(const parts::log_capacity& c) {
    return c.locks() + (batches ? 0 : 3 * c.writes + c.payload_words);
  }
  static GPUTM_INLINE constexpr std::size_t channel_bytes(const parts::log_capacity& c, const launch_shape& s) {
    return parts::commit_channel::bytes(s.client_warps(), s.warp_width, text_words(c));
  }
  static GPUTM_INLINE parts::commit_channel channel(std::byte* launch_memory, const parts::log_capacity& c,
                                                    const launch_shape& s) {
    return {reinterpret_cast<std::uint64_t*>(launch_memory), s.client_warps(), s.warp_width, text_words(c)};
  }
  // Shared memory before the record: {how the warps share the work, for each of its warps a desk {table of keys, copies
  // of a batch's letters}}. The desks take half of what a block can have, the copies three quarters of that: else there
  // are none, and smaller tables. Where a block of more than 25 warps can have 64 KiB, the smallest tables take more.
  static GPUTM_INLINE constexpr std::size_t desk_limit(const launch_shape& s) {
    return s.shared_limit / 2 / s.warps_in_block();
  }
  /// Room for a key of each transaction.
  static GPUTM_INLINE constexpr std::uint32_t least_slots(const launch_shape& s) {
    return collaborates ? parts::key_table::slots_for(s.warp_width, 1) : 0;
  }
  /// Short letters are copied.
  static GPUTM_INLINE constexpr std::size_t copies_bytes(const parts::log_capacity& c, const launch_shape& s) {
    const std::size_t bytes = 8 * s.warp_width * std::size_t{parts::letter::words(text_words(c))};
    const bool fit = bytes <= desk_limit(s) / 4 * 3 && bytes + parts::key_table::bytes(least_slots(s)) <= desk_limit(s);
    return batches && text_words(c) <= 16 && fit ? bytes : 0;
  }
  static GPUTM_INLINE constexpr std::uint32_t table_slots(const parts::log_capacity& c, const launch_shape& s) {
    if (!collaborates) return 0;
    std::uint32_t slots = parts::key_table::slots_for(s.warp_width, c.locks());
    while (slots > least_slots(s) && parts::key_table::bytes(slots) + copies_bytes(c, s) > desk_limit(s)) slots /= 2;
    return slots;
  }
  static GPUTM_INLINE constexpr std::size_t desk_bytes(const parts::log_capacity& c, const launch_shape& s) {
    return parts::key_table::bytes(table_slots(c, s)) + copies_bytes(c, s);
  }
  static GPUTM_INLINE constexpr std::size_t work_bytes(const launch_shape& s) {
    return rounds ? parts::round_list::bytes : parts::server_crew::bytes(s.warps_in_block());
  }
  static GPUTM_INLINE constexpr std::size_t crew_bytes(const parts::log_capacity& c, const launch_shape& s) {
    return work_bytes(s) + s.warps_in_block() * desk_bytes(c, s);
  }
  // What the servers of a partitioned record have in common, {last place taken, teams}. Where they are a cluster, each
  // has a share of the teams in its shared memory, and the first has the last place.
  static GPUTM_INLINE constexpr std::size_t common_bytes(const launch_shape& s) {
    const std::size_t teams = (s.warps_in_block() + s.cluster - 1) / s.cluster;
    return partitioned ? sizeof(std::uint64_t) + teams * sizeof(parts::server_team::words) : 0;
  }
  static GPUTM_INLINE constexpr std::size_t shared_common_bytes(const launch_shape& s) {
    return s.cluster > 1 ? common_bytes(s) : 0;
  }
  /// This server's share.
  static GPUTM_INLINE std::byte* common(const server_environment<multi_version::globals>& env, std::uint32_t server) {
    if (env.shape.cluster > 1) return simt::dynamic_shared_of(server) + crew_bytes(env.capacity, env.shape);
    return env.launch_memory + channel_bytes(env.capacity, env.shape);
  }
  /// Before the record.
  static GPUTM_INLINE constexpr std::size_t before_record(const parts::log_capacity& c, const launch_shape& s) {
    return crew_bytes(c, s) + shared_common_bytes(s);
  }
  /// Of this warp.
  static GPUTM_INLINE std::byte* desk(const server_environment<multi_version::globals>& env) {
    return simt::dynamic_shared() + work_bytes(env.shape) + simt::warp_rank() * desk_bytes(env.capacity, env.shape);
  }
  static GPUTM_INLINE parts::key_table table(const server_environment<multi_version::globals>& env) {
    return {desk(env), table_slots(env.capacity, env.shape)};
  }
  /// Of all lanes' letters; null without.
  static GPUTM_INLINE std::uint64_t* copies(const server_environment<multi_version::globals>& env) {
    if (copies_bytes(env.capacity, env.shape) == 0) return nullptr;
    return reinterpret_cast<std::uint64_t*>(desk(env) + parts::key_table::bytes(table_slots(env.capacity, env.shape)));
  }
  static constexpr std::size_t record_head = 16;
  /// Shared memory of one entry.
  static GPUTM_INLINE constexpr std::size_t entry_bytes(const parts::log_capacity& c) {
    return indexed                                ? parts::commit_index::slot_bytes
           : Place == record_place::global        ? 0
           : Place == record_place::stamps_shared ? 8
                                                  : 8 * (2 + std::size_t{c.writes});
  }
  static GPUTM_INLINE constexpr std::size_t global_record_bytes(std::uint32_t entries, const parts::log_capacity& c) {
    return Place == record_place::shared || partitioned ? 0
           : Place == record_place::stamps_shared       ? block_record::key_bytes(entries, c.writes)
                                                        : block_record::bytes(entries, c.writes);
  }
  static constexpr std::size_t launch_bytes(std::uint32_t entries, const parts::log_capacity& c,
                                            const launch_shape& s) {
    return channel_bytes(c, s) + global_record_bytes(entries, c) + (s.cluster > 1 ? 0 : common_bytes(s));
  }
  /// Entries of a record that shall have `wanted`, where there is room for `room`. An index has eight slots in the
  /// place of each, so that elements rarely share one, and a power of two of them.
  static GPUTM_INLINE constexpr std::size_t fitting(std::size_t wanted, std::size_t room) {
    if (!indexed) return wanted < room ? wanted : room;
    std::size_t slots = 2;
    while (slots < 8 * wanted && 2 * slots <= room) slots *= 2;
    return slots;
  }
  /// Entries of this launch's record, of all servers together.
  static GPUTM_INLINE std::uint32_t record_entries(const multi_version::globals& g, const parts::log_capacity& c,
                                                   const launch_shape& s) {
    return block_entries(g, c, s) * (partitioned ? s.servers : 1);
  }
  /// Of one server: what shared_bytes() has found room for.
  static GPUTM_INLINE std::uint32_t block_entries(const multi_version::globals& g, const parts::log_capacity& c,
                                                  const launch_shape& s) {
    if constexpr (Place == record_place::global) return g.record_entries;
    return static_cast<std::uint32_t>((s.shared_bytes - before_record(c, s) - record_head) / entry_bytes(c));
  }
  static GPUTM_INLINE parts::server_rank rank(const server_environment<multi_version::globals>& env) {
    return {simt::block_rank() - env.shape.first_server(), env.shape.servers};
  }
  /// The server that opens the team of this warp, and has it, if they are a cluster.
  static GPUTM_INLINE std::uint32_t team_owner(const launch_shape& s) { return simt::warp_rank() % s.cluster; }
  /// Of the warps that have this one's number; of a partitioned record.
  static GPUTM_INLINE parts::server_team team(const server_environment<multi_version::globals>& env) {
    std::byte* teams = common(env, team_owner(env.shape)) + sizeof(std::uint64_t);
    const std::size_t before = simt::warp_rank() / env.shape.cluster * sizeof(parts::server_team::words);
    return {*reinterpret_cast<parts::server_team::words*>(teams + before), env.shape.servers};
  }
  static GPUTM_INLINE record_type record(const server_environment<multi_version::globals>& env) {
    const std::uint32_t entries = block_entries(env.globals, env.capacity, env.shape), keys = env.capacity.writes;
    auto* shared = reinterpret_cast<std::uint64_t*>(simt::dynamic_shared() + before_record(env.capacity, env.shape));
    auto* global = reinterpret_cast<std::uint64_t*>(env.launch_memory + channel_bytes(env.capacity, env.shape));
    if constexpr (indexed)
      return {shared, entries};
    else if constexpr (Place == record_place::shared)
      return {shared, entries, keys};
    if constexpr (Place == record_place::global) return {global, entries, keys};
    if constexpr (Place == record_place::stamps_shared) return {shared, global, entries, keys};
    if constexpr (Place == record_place::replicated)
      return {block_record(shared, entries, keys), grid_record(global, env.globals.record_entries, keys)};
    if constexpr (partitioned)
      return {block_record(shared, entries, keys), reinterpret_cast<std::uint64_t*>(common(env, 0)), rank(env)};
  }
};

}  // namespace gputm::algorithm
