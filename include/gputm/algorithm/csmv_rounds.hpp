// CSMV's server in rounds: all transactions that have reached it are held against the record before any of them is
// added to it. Floor 3, see csmv.hpp.
//
// Source: thesis section 6.1, last part. A round:
//   1. the first warp takes all batches that have come in;
//   2. the warps hold them against the record, a batch each;
//   3. the first warp adds those that passed, in order, each after it has been held against those added before it,
//      until the record is full of them; then 2. and 3. again for the rest, against these.
// So no transaction is aborted because of what its own round added to the record. One whose snapshot was older than the
// record when its round began still is.
#pragma once

#include <cstdint>

#include "gputm/algorithm/csmv_server.hpp"
#include "gputm/parts/round_list.hpp"

namespace gputm::algorithm {

/// Layout: a csmv_layout. One object a thread.
template <class Layout>
class csmv_rounds_server : csmv_server<Layout> {
  using base = csmv_server<Layout>;
  using base::all;
  using typename base::batch_keys;
  using typename base::fates;
  using watch = parts::batch_watch;

  const parts::round_list list_{simt::dynamic_shared()};

 public:
  using base::base;

  /// Every thread of the block calls it.
  GPUTM_INLINE void serve() const {
    const std::uint32_t warps = this->env_.shape.warps_in_block();
    // nobody commits without the server
    this->record_.open(this->time_.snapshot(), true, simt::thread_rank(), simt::block_size());
    watch mine{parts::server_rank{}};
    for (;;) {
      if (simt::warp_rank() == 0) collect(mine);
      simt::sync_block();  // carries the acquires of those who found the batches on to all
      const std::uint32_t count = list_.count();
      if (count == 0) break;
      std::uint64_t checked = 0;
      for (std::uint32_t first = 0; first < count; first = list_.undecided()) {
        const std::uint64_t last = this->record_.last();  // the same in all threads: nobody adds to it now
        for (std::uint32_t i = first + simt::warp_rank(); i < count; i += warps) look_at(i, checked, last);
        simt::sync_block();
        if (simt::warp_rank() == 0) admit(first, count, last);
        simt::sync_block();
        checked = last;
      }
    }
    simt::sync_block();
    if (simt::thread_rank() == 0) this->channel_.close(1);
  }

 private:
  /// Waits for batches, and takes all that there are; none when all clients have left.
  GPUTM_INLINE void collect(watch& mine) const {
    const std::uint32_t lanes = this->lanes_;
    std::uint32_t count = 0;
    GPUTM_NO_UNROLL
    while (count + lanes <= parts::round_list::most) {
      const std::uint32_t found = mine.find(this->channel_);
      const simt::mask_t finders = simt::ballot(all, found != watch::none);
      if (finders == 0 && count != 0) break;
      if (found != watch::none) {
        const simt::mask_t batch = this->channel_.batch(watch::warp(found), watch::leader(found));
        list_.set(count + simt::count(simt::below(finders)), {found, batch, 0});
      }
      count += simt::count(finders);
      if (finders != 0) continue;
      if (simt::any(all, simt::lane() == 0 && this->channel_.all_left(this->env_.shape.client_threads()))) break;
      simt::backoff(32);
    }
    if (simt::lane() == 0) list_.set_count(count);
  }
  /// Holds the live ones of a batch against the entries after `checked` and their snapshots, up to `last`.
  GPUTM_INLINE fates hold_against(std::uint32_t warp, fates f, std::uint64_t checked, std::uint64_t last) const {
    simt::sync_warp(all);  // lanes that still read the copies of the batch before
    this->take_copies(warp, f.live);
    if (f.live == 0) return f;
    std::uint64_t oldest = 0;
    const batch_keys keys = this->gather(warp, f.live, oldest);
    this->validate(keys, warp, f, checked > oldest ? checked : oldest, last);
    return f;
  }
  GPUTM_INLINE void look_at(std::uint32_t i, std::uint64_t checked, std::uint64_t last) const {
    const auto e = list_.get(i);
    parts::stopwatch time;
    const fates f = hold_against(watch::warp(e.batch), {e.live, e.overwritten}, checked, last);
    if (simt::lane() != 0) return;
    list_.set(i, {e.batch, f.live, f.overwritten});
    time.lap(this->env_.control, phase::validation, simt::count(e.live));
  }
  /// Adds what has passed up to `last`, and answers, as far as there is room.
  GPUTM_INLINE void admit(std::uint32_t first, std::uint32_t count, std::uint64_t last) const {
    GPUTM_NO_UNROLL
    for (; first < count; ++first) {
      const auto e = list_.get(first);
      const std::uint32_t warp = watch::warp(e.batch), leader = watch::leader(e.batch);
      parts::stopwatch time;
      const std::uint64_t now = simt::shfl(all, this->record_.last(), 0);
      const fates f = hold_against(warp, {e.live, e.overwritten}, last, now);
      const std::uint64_t until = now + simt::count(f.live);
      if (until - last > this->record_.entries()) break;
      if (simt::lane() == 0) this->record_.reserve(now, until);
      this->conclude_all(warp, this->channel_.batch(warp, leader), f, now);
      simt::sync_warp(all);  // the release in answer() covers what all lanes have written
      if (simt::lane() == 0) this->channel_.answer(warp, leader);
      if (simt::lane() == 0) time.lap(this->env_.control, phase::record_insert, simt::count(e.live));
    }
    if (simt::lane() == 0) list_.set_undecided(first);
  }
};

}  // namespace gputm::algorithm
