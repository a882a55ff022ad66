// Floor 3: what all iterations of a pass in place (in_place_pass.hpp) go by.
#pragma once

#include "gputm/speculation/loop_environment.hpp"

namespace gputm::speculation {

/// The same on all threads.
struct in_place_window {
  parts::owned_rows rows;
  std::uint32_t iterations = 0;
  std::uint32_t tag = 0;     ///< of its marks
  std::uint32_t logged = 0;  ///< element_ranges that may be stored to
  std::uint32_t offset = 0;  ///< of them
  std::uint32_t strays = 0;  ///< which ones are expected at all; and `anywhere`
  parts::read_rows reads;
  bool claims = false;   ///< iterations claim what they access (claimed_access.hpp); nothing else is known of it
  bool updates = false;  ///< then: what they load as well as what they store to

  static constexpr std::uint32_t to_others = 1, to_nobodys = 2;
  static constexpr std::uint32_t anywhere = 4;  ///< in_place_past's
  static constexpr std::uint32_t any = to_others | to_nobodys;
  /// Those of loops before, or that a scout has seen. If there were none, nobody looks for them.
  static GPUTM_INLINE std::uint32_t expected_strays(const loop_environment& env) {
    const parts::in_place_past& past = *env.in_place.past;
    const std::uint32_t others = simt::plain_load(past.to_others), nobodys = simt::plain_load(past.to_nobodys);
    return (others != 0 ? to_others : 0) | (nobodys != 0 ? to_nobodys : 0);
  }
  /// That of a pass with this tag. `may_claim`: of a kind that may be one by claims.
  static GPUTM_INLINE in_place_window of(const loop_environment& env, std::uint32_t tag, bool may_claim) {
    const parts::loop_past& past = *env.table.past;
    const parts::in_place_past& known = *env.in_place.past;
    return {env.in_place.rows(),
            static_cast<std::uint32_t>(env.limits.iterations),
            tag,
            simt::plain_load(past.calm) & parts::element_ranges::all,
            simt::plain_load(past.offset),
            expected_strays(env) | (simt::plain_load(known.anywhere) != 0 ? anywhere : 0),
            env.in_place.reads(),
            may_claim && simt::plain_load(known.owners) == parts::in_place_past::claims,
            may_claim && simt::plain_load(known.updates) != 0};
  }
  /// Whether what a pass by claims leaves are lists (owned_list) for loops behind it: keys are where theirs are. But if
  /// such lists have come to nothing before, addresses are others in each loop.
  static GPUTM_INLINE bool may_leave_lists(const loop_environment& env) {
    const parts::in_place_past& past = *env.in_place.past;
    return env.in_place.saved.keys == env.logs.write_keys() && env.logs.writes <= parts::owned_list::most &&
           simt::plain_load(past.lists_of_claims) != past.lost;
  }
  /// in_place_words::mode.
  GPUTM_INLINE std::uint32_t mode(const loop_environment& env) const {
    if (claims)
      return parts::in_place_words::by_claims | (may_leave_lists(env) ? parts::in_place_words::leaves_lists : 0);
    return ((strays & anywhere) != 0 ? parts::in_place_words::anywhere : 0) |
           (reads.arrays != 0 ? parts::in_place_words::by_rows : 0);
  }
};

}  // namespace gputm::speculation
