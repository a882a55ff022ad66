// Floor 3: what an iteration's run in a first pass with long rows is for: all warps load these together (joint_space).
// Or what its run in a repair can use of them.
#pragma once

#include "gputm/parts/joint_rows.hpp"

namespace gputm::speculation {

/// Rows of an iteration, in the order of the body's calls; others it loads itself.
struct asked_rows {
  static constexpr std::uint32_t most = 4;

  std::uint32_t number[most];  ///< in the joint_space
  std::uint32_t count;
};

/// It lies in memory: a run goes from row to row. It collects those that have been loaded, and asks for the next one,
/// if there is another: then it ends, and the iteration runs again when that has been loaded.
struct joint_turn {
  const parts::joint_space& space;
  asked_rows rows = {};         ///< that have been asked for
  std::uint32_t collected = 0;  ///< by this run
  bool asked = false;           ///< it has asked for the last one of them
  bool refused = false;         ///< there was no room for another, or a row could not be loaded
  bool loads = false;           ///< it is a lane's that is here to load a piece of the last one, whoever's it is
  std::uint32_t piece = 0;      ///< then: which one

  GPUTM_INLINE bool has_collected_all() const { return collected == rows.count; }
  /// The number of the next one to be collected.
  GPUTM_INLINE std::uint32_t next() const { return rows.number[collected]; }

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
    find_rows(space.row_of(k));
  }
  /// Of a repair: the iteration's first run in it begins. `last`: the number of its last row.
  GPUTM_INLINE void begin_repair(std::uint32_t last) {
    begin();
    refused = false;
    find_rows(last);
  }
  /// A run of a repair ends: what it has not collected its log may have no more.
  GPUTM_INLINE void end_run() {
    rows.count = collected;
    begin();
  }

 private:
  GPUTM_INLINE void find_rows(std::uint32_t last) {
    rows.count = space.row(last).before + 1;
    std::uint32_t number = last;
    GPUTM_NO_UNROLL
    for (std::uint32_t i = rows.count; i-- != 0; number = space.row(number).previous) rows.number[i] = number;
  }
};

}  // namespace gputm::speculation
