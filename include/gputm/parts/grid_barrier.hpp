// Floor 2: a barrier for all blocks of a launch that are resident together (a cooperative launch on a GPU), with
// a serial section: what the last one to arrive does before anybody goes on; or, in a poll, only if somebody needs it.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

struct grid_barrier_words {
  static constexpr unsigned polls = 2;
  struct alignas(128) poll {
    std::uint64_t blocks;    ///< that have arrived; how many of them have had trouble; and how many a note
    std::uint32_t answered;  ///< its serial section is over
  };
  alignas(128) std::uint64_t arrived;   ///< blocks, over all rounds
  alignas(128) std::uint64_t released;  ///< rounds that are over
  poll asked[polls];
};

/// One thread's view. The words are zero when the launch begins; every thread of the grid calls the same functions in
/// the same order.
class grid_barrier {
  using order = simt::order;
  grid_barrier_words* words_;
  std::uint64_t round_ = 0;

  // The parts of grid_barrier_words::poll::blocks; a grid has fewer than 2^21 blocks that are resident together.
  static constexpr std::uint64_t one_note = 1, one_trouble = std::uint64_t{1} << 21, one_block = std::uint64_t{1} << 42;

  /// Thread 0, for a block that meets behind it: so nobody need ask for the result (simt::await).
  template <class T>
  static GPUTM_INLINE T wait_for(T& word, T least) {
    return simt::await(word, [least](T now) { return now >= least; });
  }

 public:
  GPUTM_INLINE explicit grid_barrier(grid_barrier_words& words) : words_(&words) {}

  /// Waits for all threads; one of them runs `serial` in between. Everything before the barrier happens before
  /// the serial section, and that before everything behind the barrier.
  template <class Serial>
  GPUTM_INLINE void wait(const Serial& serial) {
    ++round_;
    simt::sync_block();  // thread 0 arrives for what all threads of the block have done
    if (simt::thread_rank() == 0) {
      // acq_rel: the arrivals of a round are a release sequence; the last one pairs with all before it
      const std::uint64_t before = simt::atomic(words_->arrived).fetch_add(1, order::acq_rel);
      if (before + 1 == round_ * simt::grid_size()) {
        serial();
        simt::atomic(words_->released).store(round_, order::release);  // pairs with the acquire below
      } else {
        (void)wait_for(words_->released, round_);  // acquire: pairs with the release above
      }
    }
    simt::sync_block();  // and goes on for all of them
  }
  GPUTM_INLINE void wait() {
    wait([] {});
  }
  /// A copy of this one has been waited for so often.
  GPUTM_INLINE void pass(std::uint32_t times) { round_ += times; }

  /// As wait(), but `serial` runs only if a thread has had `trouble`: else everybody goes on as soon as all have
  /// arrived, which saves the serial section and the time until others know that it is over. Whether any thread has had
  /// trouble. Each `number`, below grid_barrier_words::polls, is good once a launch; has_noted() then tells whether any
  /// thread has had a `note`.
  template <class Serial>
  GPUTM_INLINE bool poll(unsigned number, bool trouble, bool note, const Serial& serial) {
    trouble = simt::sync_block_count(trouble) != 0;  // thread 0 arrives for what all threads of the block have done
    note = simt::sync_block_count(note) != 0;
    bool quiet = true;
    if (simt::thread_rank() == 0) {
      std::uint64_t& word = words_->asked[number].blocks;
      const std::uint64_t mine = one_block + (trouble ? one_trouble : 0) + (note ? one_note : 0);
      const std::uint64_t everybody = simt::grid_size() * one_block;
      // acq_rel: the arrivals are a release sequence, and whoever sees the last one pairs with all of them
      std::uint64_t now = simt::atomic(word).fetch_add(mine, order::acq_rel) + mine;
      const bool last = now >= everybody;
      if (!last) now = wait_for(word, everybody);  // acquire: pairs with the arrivals
      std::uint32_t& answered = words_->asked[number].answered;
      quiet = now % one_block < one_trouble;
      if (!quiet && last) {
        serial();
        simt::atomic(answered).store(1, order::release);  // pairs with the acquire below
      } else if (!quiet) {
        (void)wait_for(answered, std::uint32_t{1});  // acquire: pairs with the release above
      }
    }
    return simt::sync_block_count(!quiet) != 0;  // and goes on for all of them
  }
  /// The same answer on all threads, after such a poll.
  GPUTM_INLINE bool has_noted(unsigned number) const {
    return simt::plain_load(words_->asked[number].blocks) % one_trouble != 0;
  }
};

}  // namespace gputm::parts
