// CSMV's server: owns the record of commits, and answers batches of transactions. Floor 3, see csmv.hpp.
//
// Collaborative validation in the thesis (algorithm 2) takes one transaction after another, and spreads the entries
// that it must be held against over the lanes. Here the lanes first put the keys of the whole batch into a table in
// shared memory, and then hold each entry once against all of the batch; where the keys are too many for the table,
// the thesis' way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gputm/algorithm/snapshot_transaction.hpp"
#include "gputm/parts/commit_channel.hpp"
#include "gputm/parts/commit_index.hpp"
#include "gputm/parts/commit_record.hpp"
#include "gputm/parts/key_table.hpp"
#include "gputm/parts/replicated_record.hpp"
#include "gputm/parts/round_list.hpp"
#include "gputm/parts/server_crew.hpp"
#include "gputm/parts/time_stamp.hpp"
#include "gputm/parts/version_ring.hpp"

namespace gputm::algorithm {

/// Where the record is: all of it in shared memory; its stamps; nothing (thesis: sh, ts, gb); or in global memory with
/// a copy in the shared memory of each of several servers (thesis section 6.1).
enum class record_place : std::uint8_t { shared, stamps_shared, global, replicated };
/// What the ablations of thesis section 5.3 leave out: collaborative validation (noCV); that, pre-validation,
/// batched insertion and client-side write-back (onlyCS). Rounds: all, in rounds (section 6.1). Index: an index of last
/// writers takes the record's place.
enum class csmv_mechanisms : std::uint8_t { all, no_collaboration, client_server_only, rounds, index };

/// What lies where. Launch memory: {channel, what is global of the record}; dynamic shared memory: {crew, what is
/// shared of the record}.
template <record_place Place, csmv_mechanisms With>
struct csmv_layout {
  static constexpr bool batches = With != csmv_mechanisms::client_server_only;
  static constexpr bool rounds = With == csmv_mechanisms::rounds;
  static constexpr bool indexed = With == csmv_mechanisms::index;
  static constexpr bool collaborates = With == csmv_mechanisms::all || rounds;
  /// The server block alone uses a record that is not replicated, wherever it is.
  using block_record = parts::commit_record<simt::scope::block>;
  using grid_record = parts::commit_record<simt::scope::device>;
  using record_type =
      std::conditional_t<indexed, parts::commit_index,
                         std::conditional_t<Place == record_place::replicated, parts::replicated_record, block_record>>;

  /// Words of a letter's text: keys; where the server writes back, element, size and value of every write, too.
  static GPUTM_INLINE constexpr std::uint32_t text_words(const parts::log_capacity& c) {
    return c.locks() + (batches ? 0 : 3 * c.writes + c.payload_words);
  }
  static constexpr std::size_t channel_bytes(const parts::log_capacity& c, const launch_shape& s) {
    return parts::commit_channel::bytes(s.client_warps(), s.warp_width, text_words(c));
  }
  static GPUTM_INLINE parts::commit_channel channel(std::byte* launch_memory, const parts::log_capacity& c,
                                                    const launch_shape& s) {
    return {reinterpret_cast<std::uint64_t*>(launch_memory), s.client_warps(), s.warp_width, text_words(c)};
  }
  // Shared memory before the record: {how the warps share the work, for each of its warps a desk {table of keys, copies
  // of a batch's letters}}. The desks take at most half of what a block can have, the copies three quarters of that:
  // else there are none, and tables for smaller batches.
  static GPUTM_INLINE constexpr std::size_t desk_limit(const launch_shape& s) {
    return s.shared_limit / 2 / s.warps_in_block();
  }
  /// Short letters are copied.
  static GPUTM_INLINE constexpr std::size_t copies_bytes(const parts::log_capacity& c, const launch_shape& s) {
    const std::size_t bytes = 8 * s.warp_width * std::size_t{parts::letter::words(text_words(c))};
    return batches && text_words(c) <= 16 && bytes <= desk_limit(s) / 4 * 3 ? bytes : 0;
  }
  static GPUTM_INLINE constexpr std::uint32_t table_slots(const parts::log_capacity& c, const launch_shape& s) {
    if (!collaborates) return 0;
    std::uint32_t slots = parts::key_table::slots_for(s.warp_width, c.locks());
    while (slots > 8 && parts::key_table::bytes(slots) + copies_bytes(c, s) > desk_limit(s)) slots /= 2;
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
  static constexpr std::size_t global_record_bytes(std::uint32_t entries, const parts::log_capacity& c) {
    return Place == record_place::shared          ? 0
           : Place == record_place::stamps_shared ? block_record::key_bytes(entries, c.writes)
                                                  : block_record::bytes(entries, c.writes);
  }
  /// Entries of a record that shall have `wanted`, where there is room for `room`. An index has eight slots in the
  /// place of each, so that elements rarely share one, and a power of two of them.
  static GPUTM_INLINE constexpr std::size_t fitting(std::size_t wanted, std::size_t room) {
    if (!indexed) return wanted < room ? wanted : room;
    std::size_t slots = 2;
    while (slots < 8 * wanted && 2 * slots <= room) slots *= 2;
    return slots;
  }
  /// Entries of this launch's record: what shared_bytes() has found room for.
  static GPUTM_INLINE std::uint32_t record_entries(const multi_version::globals& g, const parts::log_capacity& c,
                                                   const launch_shape& s) {
    if constexpr (Place == record_place::global) return g.record_entries;
    return static_cast<std::uint32_t>((s.shared_bytes - crew_bytes(c, s) - record_head) / entry_bytes(c));
  }
  static GPUTM_INLINE record_type record(const server_environment<multi_version::globals>& env) {
    const std::uint32_t entries = record_entries(env.globals, env.capacity, env.shape), keys = env.capacity.writes;
    auto* shared = reinterpret_cast<std::uint64_t*>(simt::dynamic_shared() + crew_bytes(env.capacity, env.shape));
    auto* global = reinterpret_cast<std::uint64_t*>(
        env.launch_memory +
        parts::commit_channel::bytes(env.shape.client_warps(), env.shape.warp_width, text_words(env.capacity)));
    if constexpr (indexed)
      return {shared, entries};
    else if constexpr (Place == record_place::shared)
      return {shared, entries, keys};
    if constexpr (Place == record_place::global) return {global, entries, keys};
    if constexpr (Place == record_place::stamps_shared) return {shared, global, entries, keys};
    if constexpr (Place == record_place::replicated)
      return {block_record(shared, entries, keys), grid_record(global, env.globals.record_entries, keys)};
  }
};

/// Layout: a csmv_layout. One object a thread.
template <class Layout>
class csmv_server {
 protected:
  using found = parts::record_check;
  static constexpr simt::mask_t all = simt::full_mask;

  const server_environment<multi_version::globals>& env_;
  const parts::commit_channel channel_;
  const typename Layout::record_type record_;
  const parts::time_stamp time_;
  const parts::key_table table_;  // of this warp, for its largest batch
  std::uint64_t* const copies_;   // of a batch's letters; null where they are not copied
  const std::uint32_t lanes_;     // of this warp: any number serves batches of any number

  /// What has become of a batch so far; the same in every lane.
  struct fates {
    simt::mask_t live, overwritten = 0;
    GPUTM_INLINE void end(simt::mask_t conflicts, simt::mask_t gone) {
      live &= ~(conflicts | gone);
      overwritten |= gone;
    }
  };

 public:
  GPUTM_INLINE explicit csmv_server(const server_environment<multi_version::globals>& env)
      : env_(env),
        channel_(Layout::channel(env.launch_memory, env.capacity, env.shape)),
        record_(Layout::record(env)),
        time_(*env.globals.time),
        table_(Layout::table(env)),
        copies_(Layout::copies(env)),
        lanes_(simt::count(simt::ballot(all, true))) {}

  /// Every thread of the block calls it.
  GPUTM_INLINE void serve() const {
    serve_by([this](std::uint32_t warp, simt::mask_t batch) {
      if constexpr (Layout::batches)
        commit_together(warp, batch);
      else
        commit_one_by_one(warp, batch);
    });
  }

 protected:
  /// commit(warp, batch) is called by all lanes of a warp.
  template <class Commit>
  GPUTM_INLINE void serve_by(Commit commit) const {
    const parts::server_rank rank{simt::block_rank() - env_.shape.clients, env_.shape.servers};
    const parts::server_crew crew(reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), channel_,
                                  env_.shape.warps_in_block(), env_.shape.client_threads(), rank);
    crew.open();
    // nobody commits before all servers have met
    record_.open(time_.snapshot(), rank.number == 0, simt::thread_rank(), simt::block_size());
    simt::sync_block();
    if (simt::thread_rank() == 0) channel_.meet(rank.of);
    simt::sync_block();
    crew.run([&](std::uint32_t warp, std::uint32_t, simt::mask_t batch) { commit(warp, batch); });
  }

  // ---- algorithm 3: the batch as a whole
  GPUTM_INLINE void commit_together(std::uint32_t warp, simt::mask_t batch) const {
    parts::stopwatch watch;
    take_copies(warp, batch);
    fates f{batch};
    std::uint64_t checked = 0, last;  // the live ones have been held against the entries up to `checked`
    const parts::key_table table = Layout::collaborates ? gather(warp, batch, checked) : table_.for_keys(0);
    do {
      last = simt::shfl(all, record_.last(), 0);
      if constexpr (!Layout::collaborates)
        validate_apart(warp, f, checked, last);
      else if (table.usable())
        validate_batch(table, warp, f, checked, last);
      else
        validate_together(warp, f, checked, last);
      checked = checked > last ? checked : last;
    } while (f.live != 0 && !reserve(last, simt::count(f.live)));
    simt::sync_warp(all);  // the release fences of all lanes in fill() cover the CAS of the one that took the places
    if (simt::lane() == 0) watch.lap(env_.control, phase::validation, simt::count(batch));
    conclude_all(warp, batch, f, last);
    if (simt::lane() == 0) watch.lap(env_.control, phase::record_insert, simt::count(batch));
  }
  GPUTM_INLINE bool reserve(std::uint64_t last, std::uint32_t places) const {
    return simt::any(all, simt::lane() == 0 && record_.reserve(last, last + places));
  }
  /// Writes the answers, and fills in the places after `last`, which have been taken.
  GPUTM_INLINE void conclude_all(std::uint32_t warp, simt::mask_t batch, const fates& f, std::uint64_t last) const {
    each_of(batch, [&](std::uint32_t t) {
      answer(channel_.of(warp, t), t, f, last);
      if (f.live >> t & 1) insert(text_of(warp, t), stamp_of(f.live, t, last));
    });
    simt::sync_warp(all);  // the release in complete() covers what all lanes have filled in
    if (simt::lane() == 0 && f.live != 0) record_.complete(last + 1, last + simt::count(f.live));
  }
  /// Stamps ascend by lane.
  static GPUTM_INLINE std::uint64_t stamp_of(simt::mask_t live, std::uint32_t lane, std::uint64_t last) {
    return last + 1 + simt::count(live & ((simt::mask_t{1} << lane) - 1));
  }
  GPUTM_INLINE void answer(const parts::letter& l, std::uint32_t lane, const fates& f, std::uint64_t last) const {
    const bool passed = f.live >> lane & 1, gone = f.overwritten >> lane & 1;
    l.answer(passed ? found::clean
             : gone ? found::overwritten
                    : found::conflict,
             passed ? stamp_of(f.live, lane, last) : 0);
  }
  /// Letters are read several times, and other warps' acquires empty the cache: short ones are copied first.
  GPUTM_INLINE void take_copies(std::uint32_t warp, simt::mask_t batch) const {
    if (!copies_) return;
    each_of(batch, [&](std::uint32_t t) { channel_.of(warp, t).copy_to(copy(t)); });
    simt::sync_warp(all);
  }
  GPUTM_INLINE parts::letter copy(std::uint32_t t) const { return {copies_ + t, env_.shape.warp_width}; }
  /// What lane `t` of the client warp asks for.
  GPUTM_INLINE parts::letter text_of(std::uint32_t warp, std::uint32_t t) const {
    return copies_ ? copy(t) : channel_.of(warp, t);
  }
  GPUTM_INLINE void insert(const parts::letter& l, std::uint64_t stamp) const {
    const std::uint32_t written = l.written();
    record_.wait_for_replaced(stamp);
    record_.fill(stamp, written, [&](auto sink) {
      for (std::uint32_t k = 0; k < written; ++k) sink(l.read(k));
    });
  }

  // ---- collaborative validation of a batch at a time
  /// Puts the keys of the batch into a table, without slots if they do not fit; `oldest`: of its snapshots.
  GPUTM_INLINE parts::key_table gather(std::uint32_t warp, simt::mask_t batch, std::uint64_t& oldest) const {
    std::uint32_t keys = 0;
    std::uint64_t first = ~std::uint64_t{0};
    each_of(batch, [&](std::uint32_t t) {
      const parts::letter l = text_of(warp, t);
      keys += l.keys();
      if (l.snapshot() < first) first = l.snapshot();
    });
    keys = simt::reduce_unordered(all, keys, [](std::uint32_t a, std::uint32_t b) { return a + b; });
    const parts::key_table table = table_.for_keys(keys);
    if (!table.usable()) return table;
    oldest = simt::reduce_unordered(all, first, [](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; });
    table.clear(simt::lane(), lanes_);
    simt::sync_warp(all);
    each_of(batch, [&](std::uint32_t t) {
      const parts::letter l = text_of(warp, t);
      for (std::uint32_t i = 0; i < l.keys(); ++i) table.add(l.read(i), t);
    });
    simt::sync_warp(all);
    return table;
  }
  /// Calls visit(t) for this lane's transactions among `batch`.
  template <class Visit>
  GPUTM_INLINE void each_of(simt::mask_t batch, Visit visit) const {
    for (std::uint32_t t = simt::lane(); t < simt::warp_width(); t += lanes_)
      if (batch >> t & 1) visit(t);
  }
  /// Those of `some` that have not seen the commit `stamp`.
  GPUTM_INLINE simt::mask_t older(std::uint32_t warp, simt::mask_t some, std::uint64_t stamp) const {
    simt::mask_t found = 0;
    for (simt::mask_t rest = some; rest != 0; rest &= rest - 1)
      if (text_of(warp, simt::lowest(rest)).snapshot() < stamp) found |= rest & ~(rest - 1);
    return found;
  }
  /// Holds each entry after `checked` up to `last` against the whole batch. Fences cost more than everything else
  /// here, so there is one before, and one after all of it.
  GPUTM_INLINE void validate_batch(const parts::key_table& table, std::uint32_t warp, fates& f, std::uint64_t checked,
                                   std::uint64_t last) const {
    if (last <= checked) return;
    simt::mask_t gone = 0, conflict = 0;
    if (last - checked > record_.entries()) {
      checked = last - record_.entries();
      gone = older(warp, f.live, checked);
    }
    record_.prepare(last, simt::lane(), lanes_);
    constexpr std::uint32_t at_once = 4;
    std::uint32_t slot[at_once] = {record_.back(record_.slot_of(last), simt::lane())};
    for (std::uint64_t k = simt::lane(); checked + k < last; k += at_once * lanes_) {
      simt::mask_t suspects = 0;  // entries, not lanes
      GPUTM_UNROLL
      for (unsigned i = 1; i < at_once; ++i) slot[i] = record_.back(slot[i - 1], lanes_);
      record_.each_key(slot,
                       [&](unsigned i, std::uint64_t key) { suspects |= std::uint32_t{table.perhaps(key)} << i; });
      for (; suspects != 0; suspects &= suspects - 1) {
        const std::uint64_t back = k + std::uint64_t{lanes_} * simt::lowest(suspects);
        if (checked + back < last) conflict |= conflicts_of(table, warp, f.live, last - back);
      }
      slot[0] = record_.back(slot[at_once - 1], lanes_);
    }
    const std::uint64_t lost = record_.overwritten_up_to();
    if (lost > checked) gone |= older(warp, f.live, lost);
    const auto unite = [](simt::mask_t a, simt::mask_t b) { return a | b; };
    gone = simt::reduce_unordered(all, gone, unite);
    f.end(simt::reduce_unordered(all, conflict, unite), gone);
  }

  /// Who of `live` is in conflict with the commit `stamp`.
  GPUTM_INLINE simt::mask_t conflicts_of(const parts::key_table& table, std::uint32_t warp, simt::mask_t live,
                                         std::uint64_t stamp) const {
    const std::uint32_t slot[] = {record_.slot_of(stamp)};
    simt::mask_t hit = 0;
    record_.each_key(slot, [&](unsigned, std::uint64_t key) { hit |= table.owners(key); });
    return older(warp, hit & live, stamp);
  }

  // ---- algorithm 2: one transaction after another, its entries spread over the lanes
  GPUTM_INLINE void validate_together(std::uint32_t warp, fates& f, std::uint64_t checked, std::uint64_t last) const {
    record_.prepare(last, simt::lane(), lanes_);
    for (simt::mask_t rest = f.live; rest != 0; rest &= rest - 1) {
      const std::uint32_t t = simt::lowest(rest);
      const found mine = hold(text_of(warp, t), checked, last, simt::lane(), lanes_);
      const bool gone = simt::any(all, mine == found::overwritten), conflict = simt::any(all, mine == found::conflict);
      f.end(simt::mask_t{conflict} << t, simt::mask_t{gone} << t);
    }
  }
  /// Without collaboration: each lane has transactions of its own.
  GPUTM_INLINE void validate_apart(std::uint32_t warp, fates& f, std::uint64_t checked, std::uint64_t last) const {
    decide_apart(f, [&](std::uint32_t t) { return hold(text_of(warp, t), checked, last, 0, 1); });
  }
  /// decide(t): of this lane's transactions.
  template <class Decide>
  GPUTM_INLINE void decide_apart(fates& f, Decide decide) const {
    for (std::uint32_t base = 0; base < simt::warp_width(); base += lanes_) {
      const std::uint32_t t = base + simt::lane();
      found mine = found::clean;
      if (t < simt::warp_width() && (f.live >> t & 1)) mine = decide(t);
      const simt::mask_t gone = simt::ballot(all, mine == found::overwritten) << base;
      f.end(simt::ballot(all, mine == found::conflict) << base, gone);
    }
  }
  /// Holds a transaction against the entries after `checked` and its snapshot up to `last`, from the newest
  /// backwards: number `first` and every `step`-th from there.
  GPUTM_INLINE found hold(const parts::letter& l, std::uint64_t checked, std::uint64_t last, std::uint32_t first,
                          std::uint32_t step) const {
    const std::uint64_t snapshot = l.snapshot(), after = checked > snapshot ? checked : snapshot;
    if (last > after && last - after > record_.entries()) return found::overwritten;
    const std::uint32_t keys = l.keys();
    for (std::uint64_t k = first; after + k < last; k += step) {
      const found f = record_.check(last - k, [&](std::uint64_t key) {
        for (std::uint32_t i = 0; i < keys; ++i)
          if (l.read(i) == key) return true;
        return false;
      });
      if (f != found::clean) return f;
    }
    return found::clean;
  }

  // ---- clients and server only: each lane commits transactions of its own, as JVSTM-GPU does
  GPUTM_INLINE void commit_one_by_one(std::uint32_t warp, simt::mask_t batch) const {
    each_of(batch, [&](std::uint32_t t) { commit_alone(channel_.of(warp, t)); });
  }
  GPUTM_INLINE void commit_alone(const parts::letter& l) const {
    std::uint64_t checked = l.snapshot();
    for (;;) {
      const std::uint64_t last = record_.last();
      const found f = hold(l, checked, last, 0, 1);
      if (f != found::clean) return l.answer(f, 0);
      if (last > checked) checked = last;
      if (record_.reserve(last, checked + 1)) break;
      simt::backoff(32);
    }
    const std::uint64_t stamp = checked + 1;
    insert(l, stamp);
    write_back(l, stamp);
    time_.publish(stamp, stamp);
    l.answer(found::clean, stamp);
  }
  GPUTM_INLINE void write_back(const parts::letter& l, std::uint64_t stamp) const {
    const std::uint32_t written = l.written();
    std::uint32_t at = l.keys();
    for (std::uint32_t w = 0; w < written; ++w) {
      const std::uint64_t element = l.read(at++);
      const auto bytes = static_cast<std::uint32_t>(l.read(at++));
      parts::version_ring(reinterpret_cast<std::uint64_t*>(l.read(w)), bytes, env_.globals.versions)
          .push(stamp, element, bytes, [&](std::uint32_t i) { return l.read(at + i); });
      at += (bytes + 7) / 8;
    }
  }
};

}  // namespace gputm::algorithm
