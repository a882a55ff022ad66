// CSMV's server: owns the record of commits, and answers batches of transactions. Floor 3, see csmv.hpp.
//
// Collaborative validation in the thesis (algorithm 2) takes one transaction after another, and spreads the entries
// that it must be held against over the lanes. Here the lanes first put the keys of the whole batch into a table in
// shared memory, and then hold each entry once against all of the batch. Keys that are too many for the table take
// turns in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/algorithm/csmv_layout.hpp"
#include "gputm/parts/commit_channel.hpp"
#include "gputm/parts/commit_record.hpp"
#include "gputm/parts/key_table.hpp"
#include "gputm/parts/server_crew.hpp"
#include "gputm/parts/time_stamp.hpp"
#include "gputm/parts/version_ring.hpp"

namespace gputm::algorithm {

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
  /// The keys of a batch: all of them are in the table; or, if they are too many, they take turns, some of each
  /// transaction at a time.
  struct batch_keys {
    parts::key_table table;
    bool in_turns = false;
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
    run([this](std::uint32_t warp, simt::mask_t batch) {
      if constexpr (Layout::batches)
        commit_together(warp, batch);
      else
        commit_one_by_one(warp, batch);
    });
  }

 protected:
  /// Every thread of the block calls it. commit(warp, batch) decides a batch.
  template <class Commit, class Other = parts::no_other_work>
  GPUTM_INLINE void run(const Commit& commit, const Other& other = {}) const {
    const parts::server_rank rank = Layout::rank(env_);
    const parts::server_crew crew(reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), channel_,
                                  env_.shape.warps_in_block(), env_.shape.client_threads(), rank);
    crew.open();
    // nobody commits before all servers have met
    record_.open(time_.snapshot(), rank.number == 0, simt::thread_rank(), simt::block_size());
    simt::sync_block();
    if (simt::thread_rank() == 0) channel_.meet(rank.of);
    simt::sync_block();
    crew.run(commit, other);
  }

  // ---- algorithm 3: the batch as a whole
  GPUTM_INLINE void commit_together(std::uint32_t warp, simt::mask_t batch) const {
    parts::stopwatch watch;
    take_copies(warp, batch);
    fates f{batch};
    std::uint64_t checked = 0, last;  // the live ones have been held against the entries up to `checked`
    const batch_keys keys = Layout::collaborates ? gather(warp, batch, checked) : batch_keys{table_};
    do {
      last = simt::shfl(all, record_.last(), 0);
      validate(keys, warp, f, checked, last);
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
    insert_all(warp, f.live, last);
    answer_all(warp, batch, f, last);
  }
  GPUTM_INLINE void insert_all(std::uint32_t warp, simt::mask_t live, std::uint64_t last) const {
    const std::uint64_t first = record_.place(last) + 1, until = record_.place(last + simt::count(live));
    if constexpr (Layout::partitioned) record_.expect(until);
    each_of(live, [&](std::uint32_t t) {
      const std::uint64_t stamp = stamp_of(live, t, last);
      if (record_.holds(stamp)) insert(text_of(warp, t), record_.place(stamp));
    });
    simt::sync_warp(all);  // the release in complete() covers what all lanes have filled in
    if (simt::lane() == 0 && live != 0) record_.complete(first, until);
  }
  GPUTM_INLINE void answer_all(std::uint32_t warp, simt::mask_t batch, const fates& f, std::uint64_t last) const {
    each_of(batch, [&](std::uint32_t t) {
      const parts::letter l = channel_.of(warp, t);
      if (f.live >> t & 1)
        l.answer(found::clean, stamp_of(f.live, t, last));
      else
        l.answer(f.overwritten >> t & 1 ? found::overwritten : found::conflict, 0);
    });
  }
  /// Stamps ascend by lane.
  static GPUTM_INLINE std::uint64_t stamp_of(simt::mask_t live, std::uint32_t lane, std::uint64_t last) {
    return last + 1 + simt::count(live & ((simt::mask_t{1} << lane) - 1));
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
  GPUTM_INLINE void insert(const parts::letter& l, std::uint64_t place) const {
    const std::uint32_t written = l.written();
    record_.wait_for_replaced(place);
    record_.fill(place, written, [&](auto sink) {
      for (std::uint32_t k = 0; k < written; ++k) sink(l.read(k));
    });
  }

  /// Holds the live ones against the commits after `checked` and their snapshots, up to `last`. The functions below
  /// count in places of the record.
  GPUTM_INLINE void validate(const batch_keys& keys, std::uint32_t warp, fates& f, std::uint64_t checked,
                             std::uint64_t last) const {
    const std::uint64_t from = record_.place(checked), to = record_.place(last);
    if constexpr (!Layout::collaborates)
      validate_apart(warp, f, from, to);
    else
      validate_by_table(keys, warp, f, from, to);
  }

  // ---- collaborative validation of a batch at a time
  /// Puts the keys of the batch into a table, if they fit; `oldest`: of its snapshots.
  GPUTM_INLINE batch_keys gather(std::uint32_t warp, simt::mask_t batch, std::uint64_t& oldest) const {
    std::uint32_t keys = 0;
    std::uint64_t first = ~std::uint64_t{0};
    each_of(batch, [&](std::uint32_t t) {
      const parts::letter l = text_of(warp, t);
      keys += l.keys();
      if (l.snapshot() < first) first = l.snapshot();
    });
    oldest = simt::reduce_min(all, first);
    keys = simt::reduce_add(all, keys);
    if (keys > table_.room()) return {table_, true};
    const parts::key_table table = table_.for_keys(keys);
    put(table, warp, batch, 0, keys);
    return {table};
  }
  /// Fills a table with up to `n` keys of each of `some`, from number `first` on.
  GPUTM_INLINE void put(const parts::key_table& table, std::uint32_t warp, simt::mask_t some, std::uint32_t first,
                        std::uint32_t n) const {
    table.clear(simt::lane(), lanes_);
    simt::sync_warp(all);
    each_of(some, [&](std::uint32_t t) {
      const parts::letter l = text_of(warp, t);
      const std::uint32_t keys = l.keys(), end = keys < first + n ? keys : first + n;
      constexpr unsigned at_once = 4;
      for (std::uint32_t i = first; i < end; i += at_once) {
        std::uint64_t key[at_once];
        l.read_some(i, end, key);
        for (unsigned k = 0; k < at_once && i + k < end; ++k) table.add(key[k], t);
      }
    });
    simt::sync_warp(all);
  }
  GPUTM_INLINE void validate_by_table(const batch_keys& keys, std::uint32_t warp, fates& f, std::uint64_t checked,
                                      std::uint64_t last) const {
    if (last <= checked || f.live == 0) return;
    std::uint32_t first = 0;
    GPUTM_NO_UNROLL
    do {
      if (keys.in_turns) {
        const simt::mask_t left = with_keys_from(warp, f.live, first);
        if (left == 0) return;
        // one of each at least: csmv_layout::table_slots()
        const std::uint32_t n = keys.table.room() / simt::count(left);
        simt::sync_warp(all);  // lanes that still look for the keys before them
        put(keys.table, warp, left, first, n);
        first += n;
      }
      validate_batch(keys.table, warp, f, checked, last);
    } while (keys.in_turns);
  }
  /// Those of `some` that have a key of number `first`.
  GPUTM_INLINE simt::mask_t with_keys_from(std::uint32_t warp, simt::mask_t some, std::uint32_t first) const {
    simt::mask_t mine = 0;
    each_of(some, [&](std::uint32_t t) {
      if (text_of(warp, t).keys() > first) mine |= simt::mask_t{1} << t;
    });
    return simt::reduce_or(all, mine);
  }
  /// Calls visit(t) for this lane's transactions among `batch`.
  template <class Visit>
  GPUTM_INLINE void each_of(simt::mask_t batch, Visit visit) const {
    for (std::uint32_t t = simt::lane(); t < simt::warp_width(); t += lanes_)
      if (batch >> t & 1) visit(t);
  }
  /// Those of `some` that have not seen the commit in the place `place`.
  GPUTM_INLINE simt::mask_t older(std::uint32_t warp, simt::mask_t some, std::uint64_t place) const {
    const std::uint64_t stamp = record_.stamp(place);
    simt::mask_t found = 0;
    for (simt::mask_t rest = some; rest != 0; rest &= rest - 1)
      if (text_of(warp, simt::lowest(rest)).snapshot() < stamp) found |= rest & ~(rest - 1);
    return found;
  }
  /// Holds each entry after `checked` up to `last` against the whole batch, as far as its keys are in the table. Fences
  /// cost more than everything else here, so there is one before, and one after all entries.
  GPUTM_INLINE void validate_batch(const parts::key_table& table, std::uint32_t warp, fates& f, std::uint64_t checked,
                                   std::uint64_t last) const {
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
    gone = simt::reduce_or(all, gone);
    f.end(simt::reduce_or(all, conflict), gone);
  }

  /// Who of `live` is in conflict with the commit in the place `place`.
  GPUTM_INLINE simt::mask_t conflicts_of(const parts::key_table& table, std::uint32_t warp, simt::mask_t live,
                                         std::uint64_t place) const {
    const std::uint32_t slot[] = {record_.slot_of(place)};
    simt::mask_t hit = 0;
    record_.each_key(slot, [&](unsigned, std::uint64_t key) { hit |= table.owners(key); });
    return older(warp, hit & live, place);
  }

  // ---- algorithm 2 without collaboration
  /// Each lane has transactions of its own.
  GPUTM_INLINE void validate_apart(std::uint32_t warp, fates& f, std::uint64_t checked, std::uint64_t last) const {
    decide_apart(f, [&](std::uint32_t t) { return hold(text_of(warp, t), checked, last); });
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
  /// Holds a transaction against the entries after `checked` and its snapshot up to `last`, from the newest backwards.
  GPUTM_INLINE found hold(const parts::letter& l, std::uint64_t checked, std::uint64_t last) const {
    const std::uint64_t snapshot = record_.place(l.snapshot()), after = checked > snapshot ? checked : snapshot;
    if (last > after && last - after > record_.entries()) return found::overwritten;
    const std::uint32_t keys = l.keys();
    for (; after < last; --last) {
      const found f = record_.check(last, [&](std::uint64_t key) {
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
      const found f = hold(l, checked, last);
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
