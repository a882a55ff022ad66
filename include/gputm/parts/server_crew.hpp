// Floor 2: how the warps of a server block share its work. With several warps, the first receives: each of its
// lanes watches some of the client warps, and hands every batch to a worker warp that is idle. A block of one
// warp does both by turns, and so does a block of one thread. They stop when every client thread has left. Several
// servers have client warps each of their own, and their workers may also work for each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/parts/batch_watch.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// What the warps of a crew that work may have to do besides batches. ever: whether there is such work; waiting(): lane
/// 0 asks it; work(): all lanes call it after that.
struct no_other_work {
  static constexpr bool ever = false;
  static GPUTM_INLINE bool waiting() { return false; }
  static GPUTM_INLINE void work() {}
};

class server_crew {
  using order = simt::order;
  static constexpr simt::scope block = simt::scope::block;
  static constexpr std::uint32_t none = batch_watch::none, other_work = ~0u;  // the latter no batch's number

  std::uint32_t* words_;  // in shared memory: {closed, then what each worker warp has to do}
  commit_channel channel_;
  std::uint32_t warps_;
  std::uint64_t clients_;
  server_rank rank_;

  GPUTM_INLINE std::uint32_t& closed() const { return words_[0]; }
  GPUTM_INLINE std::uint32_t& slot(std::uint32_t warp) const { return words_[1 + warp]; }

  template <class Handle>
  GPUTM_INLINE void handle_one(std::uint32_t batch, const Handle& handle) const {
    const std::uint32_t warp = batch_watch::warp(batch), leader = batch_watch::leader(batch);
    simt::sync_warp(simt::full_mask);  // carries the acquire of the lane that found the batch on to the others
    handle(warp, channel_.batch(warp, leader));
    simt::sync_warp(simt::full_mask);  // the release in answer() covers what all lanes have written
    if (simt::lane() == 0) channel_.answer(warp, leader);
  }

  template <class Handle, class Other>
  GPUTM_INLINE void receive_and_work(const Handle& handle, const Other& other) const {
    for (batch_watch mine(rank_);;) {
      const std::uint32_t found = mine.find(channel_);
      simt::mask_t finders = simt::ballot(simt::full_mask, found != none);
      if (finders == 0) {
        if (simt::any(simt::full_mask, simt::lane() == 0 && channel_.all_left(clients_))) return;
        if constexpr (Other::ever)
          if (simt::any(simt::full_mask, simt::lane() == 0 && other.waiting())) other.work();
        simt::backoff(32);
      }
      for (; finders != 0; finders &= finders - 1)
        handle_one(simt::shfl(simt::full_mask, found, simt::lowest(finders)), handle);
    }
  }

  /// The lanes stay together: apart, each would pay for the latencies of all.
  GPUTM_INLINE void receive() const {
    batch_watch mine(rank_);
    std::uint32_t found = none, turn = 0;
    GPUTM_NO_UNROLL
    for (;;) {
      if (found == none) found = mine.find(channel_);
      const simt::mask_t finders = simt::ballot(simt::full_mask, found != none);
      if (finders != 0) {
        const bool went = hand_over(finders, found, turn++);
        if (went) found = none;
        if (simt::any(simt::full_mask, went)) continue;
      } else if (simt::any(simt::full_mask, simt::lane() == 0 && channel_.all_left(clients_))) {
        break;
      }
      simt::backoff(0);
    }
    if (simt::lane() == 0) simt::atomic<block>(closed()).store(1, order::relaxed);
  }
  /// Gives batches of the finders to idle workers; whether this lane's has gone. Lanes and workers take turns at being
  /// the first; a narrow warp sees some of the workers at a time.
  GPUTM_INLINE bool hand_over(simt::mask_t finders, std::uint32_t found, std::uint32_t turn) const {
    const std::uint32_t lanes = simt::count(simt::ballot(simt::full_mask, true)), workers = warps_ - 1;
    const std::uint32_t first = turn % lanes;  // of the lanes
    const std::uint32_t worker = 1 + (turn + simt::lane()) % workers;
    const bool free = simt::lane() < workers && simt::atomic<block>(slot(worker)).load(order::relaxed) == none;
    const simt::mask_t idle = simt::ballot(simt::full_mask, free);
    // the k-th finder, from `first` on, gives to the k-th idle worker
    const simt::mask_t early = finders & ~((simt::mask_t{1} << first) - 1);
    const std::uint32_t mine = simt::lane() >= first ? simt::count(simt::below(early))
                                                     : simt::count(early) + simt::count(simt::below(finders));
    const bool goes = found != none && mine < simt::count(idle);
    simt::mask_t rest = idle;
    for (std::uint32_t k = 0; goes && k < mine; ++k) rest &= rest - 1;
    const std::uint32_t to = simt::shfl(simt::full_mask, worker, goes ? simt::lowest(rest) : 0);
    // release: pairs with the acquire in next_batch(): it carries the acquire in take() on. A CAS: the look above
    // may have been at an old value.
    std::uint32_t nothing = none;
    return goes && simt::atomic<block>(slot(to)).compare_exchange(nothing, found, order::release);
  }

  template <class Handle, class Other>
  GPUTM_INLINE void work(const Handle& handle, const Other& other) const {
    for (;;) {
      const std::uint32_t batch = simt::shfl(simt::full_mask, simt::lane() == 0 ? next_batch(other) : none, 0);
      if (batch == none) return;
      if (Other::ever && batch == other_work) {
        other.work();
        continue;
      }
      handle_one(batch, handle);
      // relaxed: the client has its answer; the receiver reads nothing of it
      if (simt::lane() == 0) simt::atomic<block>(slot(simt::warp_rank())).store(none, order::relaxed);
    }
  }
  /// None when there will not be another one.
  template <class Other>
  GPUTM_INLINE std::uint32_t next_batch(const Other& other) const {
    for (;;) {
      // acquire: pairs with the release in hand_over()
      const std::uint32_t batch = simt::atomic<block>(slot(simt::warp_rank())).load(order::acquire);
      if (batch != none) return batch;
      if (other.waiting()) return other_work;
      if (simt::atomic<block>(closed()).load(order::relaxed)) return none;
      simt::backoff(32);
    }
  }

 public:
  static GPUTM_INLINE constexpr std::size_t bytes(std::uint32_t warps) { return (1 + warps + 1) / 2 * 8; }

  /// `words`: bytes() of shared memory; `warps`: of this block; `clients`: client threads of the launch.
  GPUTM_INLINE server_crew(std::uint32_t* words, const commit_channel& channel, std::uint32_t warps,
                           std::uint64_t clients, server_rank rank)
      : words_(words), channel_(channel), warps_(warps), clients_(clients), rank_(rank) {}

  /// Every thread of the block calls it; then a barrier.
  GPUTM_INLINE void open() const {
    for (std::uint32_t k = simt::thread_rank(); k < 1 + warps_; k += simt::block_size()) words_[k] = 0;
  }
  /// Every thread of the block calls it. handle(warp, batch) is called by all lanes of a warp. Other work is
  /// done before the client whose batch it is for gets its answer: so there is none when all have left.
  template <class Handle, class Other = no_other_work>
  GPUTM_INLINE void run(const Handle& handle, const Other& other = {}) const {
    if (warps_ == 1)
      receive_and_work(handle, other);
    else if (simt::warp_rank() == 0)
      receive();
    else
      work(handle, other);
    simt::sync_block();
    if (simt::thread_rank() == 0) channel_.close(rank_.of);
  }
};

}  // namespace gputm::parts
