// Floor 3: what iterations' loads and stores in passes in place share, whatever tells what they own.
#pragma once

#include "gputm/speculation/in_place_window.hpp"
#include "gputm/speculation/iteration.hpp"

namespace gputm::speculation {

/// Knows to which ranges of elements the pass may store; and loads several elements at once of which none is in one.
class ranged_access : public tentative_access {  // all run again if one fails
  const std::uint32_t logged_, offset_;

 protected:
  const loop_environment& env_;
  const std::uint32_t position_, tag_;

  GPUTM_INLINE ranged_access(const loop_environment& env, const in_place_window& w, std::uint32_t position)
      : logged_(w.logged), offset_(w.offset), env_(env), position_(position), tag_(w.tag) {}
  GPUTM_INLINE bool may_be_stored_to(std::uint32_t number, std::uint32_t index) const {
    return (env_.ranges.of(number, index, offset_) & logged_) != 0;
  }

 public:
  static constexpr unsigned loads_at_once = 8;
  /// Of elements to which nobody stores.
  template <class T, std::size_t N>
  GPUTM_INLINE bool load_some(const region& r, std::uint32_t number, const std::uint32_t (&index)[N], std::uint32_t,
                              T (&out)[N]) {
    bool any = false;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) any |= may_be_stored_to(number, index[i]);
    if (any) return false;
    parts::read_elements(r, index, out);
    return true;
  }
};

}  // namespace gputm::speculation
