// Floor 2: those of a thread's positions in a window that are worth a look. A window is run in turns: in turn k the
// thread of rank r has position k * threads + r. Where few positions do anything, a thread goes straight to its own,
// and the lanes of a warp need not have theirs in the same turn.
#pragma once

#include <bit>
#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// A set of turns, exact for the first `turns`; it has all later ones, whatever they are. Anything unless it is made by
/// `= {}` or all(): kernels have some in memory that few loops come to use.
class position_set {
  std::uint64_t bits_;

 public:
  static constexpr std::uint32_t turns = 64;

  /// This thread's position in a turn.
  static GPUTM_INLINE std::uint32_t position(std::uint32_t turn) {
    return simt::grid_thread_rank() + turn * simt::grid_threads();
  }
  static GPUTM_INLINE std::uint32_t turn_of(std::uint32_t position) { return position / simt::grid_threads(); }

  static GPUTM_INLINE position_set all() {
    position_set s{};
    s.bits_ = ~std::uint64_t{0};
    return s;
  }
  GPUTM_INLINE void put(std::uint32_t turn, bool in) {
    if (turn >= turns) return;
    const std::uint64_t bit = std::uint64_t{1} << turn;
    bits_ = in ? bits_ | bit : bits_ & ~bit;
  }
  /// The first turn from `turn` on that it has.
  GPUTM_INLINE std::uint32_t next(std::uint32_t turn) const {
    if (turn >= turns) return turn;
    const std::uint64_t rest = bits_ >> turn;
    return rest != 0 ? turn + lowest(rest) : turns;
  }
  GPUTM_INLINE bool has(std::uint32_t turn) const { return turn >= turns || (bits_ >> turn & 1) != 0; }
  /// What any lane of this warp has. All of them call it.
  GPUTM_INLINE position_set of_all_lanes() const {
    position_set s{};
    s.bits_ = simt::reduce_or(simt::full_mask, bits_);
    return s;
  }
  GPUTM_INLINE position_set with(const position_set& other) const {
    position_set s{};
    s.bits_ = bits_ | other.bits_;
    return s;
  }

 private:
  static GPUTM_INLINE std::uint32_t lowest(std::uint64_t bits) {
    return GPUTM_PICK(static_cast<std::uint32_t>(__ffsll(static_cast<long long>(bits)) - 1),
                      static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
};

}  // namespace gputm::parts
