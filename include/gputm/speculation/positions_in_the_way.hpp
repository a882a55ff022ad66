// Floor 3: the search for iterations that are in the way of others, which a pass by claims has postponed
// (postponed_pass.hpp).
#pragma once

#include "gputm/speculation/saving_access.hpp"

namespace gputm::speculation {

/// Some of a thread's positions, looked at together: which of those that have run in a pass by claims have stored to
/// what is wanted, or read it?  All of a kind are loaded at once, those that nobody asks for included: a load of its
/// own for each would have to be waited for.
class positions_in_the_way {
 public:
  static constexpr unsigned at_once = 6;

 private:
  using list = parts::postponed_space;
  const loop_environment& env_;
  const std::uint32_t slots_;  ///< words of what a position has read
  std::uint32_t position_[at_once], saved_[at_once];
  std::uint32_t wanted_ = 0, reads_ = 0;  // bits

  GPUTM_INLINE void look_at(const std::uint64_t (&element)[at_once], const bool (&asked)[at_once]) {
    std::uint32_t role[at_once];
    bool passes[at_once];
    GPUTM_UNROLL
    for (unsigned j = 0; j < at_once; ++j) passes[j] = env_.in_place.postponed.filter.passes(element[j]);
    GPUTM_UNROLL
    for (unsigned j = 0; j < at_once; ++j) role[j] = (asked[j] & passes[j]) ? env_.in_place.role(element[j]) : 0;
    GPUTM_UNROLL
    for (unsigned j = 0; j < at_once; ++j) wanted_ |= role[j] == parts::in_place_space::wanted ? 1u << j : 0u;
  }
  GPUTM_INLINE parts::saved_values before(unsigned j) const { return {env_.in_place.saved, position_[j]}; }

 public:
  /// `first` and the others are a grid's threads apart.
  GPUTM_INLINE positions_in_the_way(const loop_environment& env, const in_place_window& w, std::uint32_t first)
      : env_(env), slots_(w.updates ? 0 : env.in_place.postponed.slots) {
    const std::uint32_t n = w.iterations, all = saved_by_claims::all(env);
    bool waits[at_once];
    GPUTM_UNROLL
    for (unsigned j = 0; j < at_once; ++j) {
      const std::uint32_t p = first + j * simt::grid_threads();
      position_[j] = p < n ? p : n - 1;
      saved_[j] = before(j).bits(w.tag, all, waits[j]);
      if (p >= n) waits[j] = true;
    }
    GPUTM_UNROLL
    for (unsigned j = 0; j < at_once; ++j) {
      if (waits[j]) saved_[j] = 0;
      reads_ |= waits[j] ? 0u : 1u << j;
    }
  }
  /// A bit for each.
  GPUTM_INLINE std::uint32_t wanted() const { return wanted_; }
  GPUTM_INLINE void look_at_stores() {
    std::uint32_t most = 0;
    GPUTM_UNROLL
    for (const std::uint32_t saved : saved_) most = saved > most ? saved : most;
    GPUTM_NO_UNROLL
    for (std::uint32_t slot = 0; slot < most; ++slot) {
      std::uint64_t key[at_once], element[at_once];
      bool asked[at_once];
      GPUTM_UNROLL
      for (unsigned j = 0; j < at_once; ++j) key[j] = before(j).key(slot);
      GPUTM_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        asked[j] = slot < saved_[j];
        element[j] = env_.table.number(asked[j] ? key[j] : 0);
      }
      look_at(element, asked);
    }
  }
  GPUTM_INLINE void look_at_reads() {
    GPUTM_NO_UNROLL
    for (std::uint32_t slot = 0; slot < slots_ && reads_ != 0; ++slot) {
      std::uint64_t word[at_once];
      GPUTM_UNROLL
      for (unsigned j = 0; j < at_once; ++j)
        word[j] = simt::plain_load(env_.in_place.postponed.word(slot, position_[j]));
      GPUTM_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        std::uint64_t element[at_once];
        bool asked[at_once];
        GPUTM_UNROLL
        for (unsigned j = 0; j < at_once; ++j) {
          const std::uint32_t number = list::part(word[j], half);
          asked[j] = (reads_ >> j & 1) != 0 && number != list::end;
          if (!asked[j]) reads_ &= ~(1u << j);
          element[j] = asked[j] ? number : 0;
        }
        look_at(element, asked);
      }
    }
  }
};

}  // namespace gputm::speculation
