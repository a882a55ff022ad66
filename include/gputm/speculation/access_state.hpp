// Floor 3: what any access of an iteration with deferred writes goes by, and what it notes: the iteration's place in
// the window, its log, and what is wrong with this run.
#pragma once

#include "gputm/parts/loop_state.hpp"
#include "gputm/parts/window_view.hpp"
#include "gputm/parts/write_buffer.hpp"
#include "gputm/speculation/pass.hpp"

namespace gputm::speculation {

/// One run of an iteration in such a pass.
template <pass Kind>
class access_state {
 protected:
  static constexpr bool calm = is_calm<Kind>, repair = is_repair<Kind>, dense = Kind == pass::dense;
  static constexpr bool spread = Kind == pass::spread, joint = Kind == pass::joint;

  parts::write_buffer writes_;
  const parts::window_view& view_;
  const parts::element_ranges& ranges_;
  parts::writer_marker& marker_;
  const std::uint32_t position_, logged_, offset_, repair_, tag_;
  const std::uint32_t not_first_;  // all bits or none: to the first iteration memory is right, whatever it reads; its
                                   // log is for in_place_learning alone, and need not be complete
  const bool overlaps_, peeks_;
  std::uint32_t reads_ = 0, forwarded_ = 0;
  parts::loop_findings found_;
  std::uint32_t awaited_ = parts::window_view::memory;  // who has yet to run, and would have what this run wants
  std::uint32_t trouble_ = 0;  // one word: it lives in a register, through all accesses that go well
  static constexpr std::uint32_t early = 1, is_crowded = 2, has_strayed = 4, too_many_reads = 8, too_many_writes = 16;
  static constexpr std::uint32_t has_changed = 32;

  GPUTM_INLINE access_state(const parts::window_view& view, const parts::element_ranges& ranges,
                            parts::writer_marker& marker, std::uint32_t position, const parts::loop_window& w)
      : writes_(view.log(position)),
        view_(view),
        ranges_(ranges),
        marker_(marker),
        position_(position),
        logged_(w.logged),
        offset_(w.range_offset()),
        repair_(repair ? w.repair : 0),
        tag_(w.tag),
        not_first_(position != 0 ? parts::element_ranges::all : 0),
        overlaps_(calm && w.pending != 0),
        peeks_(calm && w.peeks() && position != 0) {}

  GPUTM_INLINE bool has(std::uint32_t trouble) const { return (trouble_ & trouble) != 0; }
  GPUTM_INLINE bool full(std::uint32_t which) {
    trouble_ |= which;
    return false;
  }
  GPUTM_INLINE std::uint32_t room_for_reads() const { return writes_.log().read_capacity() - reads_; }

 public:
  GPUTM_INLINE bool first() const { return position_ == 0; }
};

}  // namespace gputm::speculation
