// Floor 3: what an iteration's run in a first pass with long rows is for: all warps load these together (joint_space).
#pragma once

#include "gputm/parts/joint_rows.hpp"

namespace gputm::speculation {

/// It lies in memory: a run goes from row to row. It collects those that have been loaded, and asks for the next one,
/// if there is another: then it ends, and the iteration runs again when that has been loaded.
struct joint_turn {
  static constexpr std::uint32_t most = 4;  ///< rows of an iteration; others it loads itself

  const parts::joint_space& space;
  std::uint32_t row[most] = {};  ///< their numbers, in the order of the body's calls
  std::uint32_t rows = 0;        ///< that have been asked for
  std::uint32_t collected = 0;   ///< by this run
  bool asked = false;            ///< it has asked for the last one of them
  bool refused = false;          ///< there was no room for another, or a row could not be loaded
  bool loads = false;            ///< it is a lane's that is here to load a piece of the last one, whoever's it is
  std::uint32_t piece = 0;       ///< then: which one

  /// Another run begins.
  GPUTM_INLINE void begin() {
    collected = 0;
    asked = false;
  }
  /// For lanes that load piece `k`.
  GPUTM_INLINE void begin_piece(std::uint32_t k) {
    begin();
    refused = false;
    loads = true;
    piece = k;
    const std::uint32_t last = space.row_of(k);
    rows = space.row(last).before + 1;
    std::uint32_t number = last;
    GPUTM_NO_UNROLL
    for (std::uint32_t i = rows; i-- != 0; number = space.row(number).previous) row[i] = number;
  }
};

}  // namespace gputm::speculation
