// Floor 2: worker warps of several server blocks that decide batches together: those with one number, one of each
// block. One of them leads at a time. It tells the others, step by step, what to do, and hears what they have found:
// some validations, then what is to be inserted. Everybody answers every step, and the leader waits for that, so
// whoever leads next finds them all idle, and knows of all steps. They take turns at leading, in the order in which
// they ask; one that waits for its turn does its part in what the others lead, so nobody waits for ever.
//
// Lies in any memory that all servers reach; belongs to one launch. In shared memory GPUs add and or 32 bits at once,
// and 64 by attempts: so words that several warps change have 32, and counters among them wrap around.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// One object a thread. Functions are called by all lanes of a warp, where they do not say otherwise.
class server_team {
  using order = simt::order;
  static constexpr simt::mask_t all = simt::full_mask;

 public:
  struct words {
    std::uint64_t steps;               ///< that there have been
    std::uint64_t batch, last;         ///< of the last one, the leader's
    std::uint32_t turns, turn;         ///< that have been asked for; whose it is
    std::uint32_t answers;             ///< to all steps
    std::uint32_t ended, overwritten;  ///< the verdict so far
  };

 private:
  words* words_;
  std::uint32_t others_;
  std::uint64_t seen_ = 0;  // steps that this warp knows of; the same in all of its lanes

 public:
  /// Hold what is left of a batch against the entries up to `last`; decided: its places, after `last`, have been taken.
  struct step {
    std::uint32_t warp;  ///< of the clients
    simt::mask_t live;   ///< of its lanes
    std::uint64_t last;
    bool decided;
  };
  /// Which of the lanes go no further, and for whom of them entries have been overwritten.
  struct verdict {
    simt::mask_t ended = 0, overwritten = 0;
  };

  GPUTM_INLINE server_team(words& w, std::uint32_t servers) : words_(&w), others_(servers - 1) {}

  /// One thread; then a barrier of all servers, which orders it.
  GPUTM_INLINE void open() const { *words_ = {}; }

  // ---- the others
  /// Lane 0: whether there is a step that this warp does not know of.
  GPUTM_INLINE bool called() const { return simt::atomic(words_->steps).load(order::relaxed) != seen_; }
  /// Waits for the next step.
  GPUTM_INLINE step next() {
    ++seen_;
    if (simt::lane() == 0)
      // acquire: pairs with the release in tell()
      (void)simt::await_at_least(words_->steps, seen_);
    simt::sync_warp(all);  // carries the acquire on to the other lanes
    const std::uint64_t batch = simt::plain_load(words_->batch), last = simt::plain_load(words_->last);
    return {static_cast<std::uint32_t>(batch >> 32), static_cast<simt::mask_t>(batch), last >> 1, (last & 1) != 0};
  }
  GPUTM_INLINE void answer(const verdict& mine) const {
    simt::sync_warp(all);  // the release below covers what all lanes have read and written
    if (simt::lane() != 0) return;
    // relaxed: the release below orders them
    if (mine.ended != 0) simt::atomic(words_->ended).fetch_or(mine.ended, order::relaxed);
    if (mine.overwritten != 0) simt::atomic(words_->overwritten).fetch_or(mine.overwritten, order::relaxed);
    // release: pairs with the acquire in hear(); the answers of all are one release sequence
    simt::atomic(words_->answers).fetch_add(1, order::release);
  }

  // ---- the leader
  /// Returns when this warp may lead; calls take_part() for what the others lead before.
  template <class TakePart>
  GPUTM_INLINE void wait_for_turn(const TakePart& take_part) const {
    // relaxed: says only who is before whom
    const std::uint32_t mine = simt::lane() == 0 ? simt::atomic(words_->turns).fetch_add(1, order::relaxed) : 0;
    GPUTM_NO_UNROLL
    while (!simt::any(all, simt::lane() == 0 && comes_before_a_call(mine))) take_part();
  }
  GPUTM_INLINE void tell(const step& s) {
    ++seen_;
    if (simt::lane() != 0) return;
    simt::plain_store(words_->batch, std::uint64_t{s.warp} << 32 | s.live);
    simt::plain_store(words_->last, s.last << 1 | std::uint64_t{s.decided});
    // release: pairs with the acquire in next()
    simt::atomic(words_->steps).store(seen_, order::release);
  }
  /// Waits until all have answered the last step; what they have found together.
  GPUTM_INLINE verdict hear() const {
    verdict found;
    if (simt::lane() == 0) {
      // acquire: pairs with the release in answer()
      simt::await_equal(words_->answers, static_cast<std::uint32_t>(seen_ * others_));
      found = {take(words_->ended), take(words_->overwritten)};
    }
    return {simt::shfl(all, found.ended, 0), simt::shfl(all, found.overwritten, 0)};
  }
  /// After the last answers have been heard.
  GPUTM_INLINE void end_turn() const {
    if (simt::lane() != 0) return;
    const std::uint32_t mine = simt::atomic(words_->turn).load(order::relaxed);
    // release: pairs with the acquire in comes_before_a_call(): all words are the next leader's
    simt::atomic(words_->turn).store(mine + 1, order::release);
  }

 private:
  /// Part of a verdict, which starts anew.
  static GPUTM_INLINE simt::mask_t take(std::uint32_t& word) {
    const simt::mask_t found = simt::atomic(word).load(order::relaxed);
    if (found != 0) simt::atomic(word).store(0, order::relaxed);  // tell() orders it before new ones
    return found;
  }
  /// Lane 0: waits for this turn, or for a step of another leader; whether it was the turn.
  GPUTM_INLINE bool comes_before_a_call(std::uint32_t turn) const {
    for (;;) {
      // acquire: pairs with the release in end_turn()
      if (simt::atomic(words_->turn).load(order::acquire) == turn) return true;
      if (called()) return false;
      simt::backoff(32);
    }
  }
};

}  // namespace gputm::parts
