// Floor 3: what an iteration that runs again has added up of a row before it ended, since elements are not there yet.
#pragma once

#include <cstdint>
#include <cstring>

#include "gputm/parts/left_out_list.hpp"
#include "gputm/parts/loop_log.hpp"

namespace gputm::speculation {

/// Whose reduction, and of what: two are the same if all of this is.
struct reduction_call {
  const void* index = nullptr;                     ///< where the indices lie
  std::uint32_t position = parts::loop_log::none;  ///< the iteration's, in the window
  std::uint32_t array = 0, count = 0;              ///< which elements, and how many
  std::uint32_t reads = 0;                         ///< that the iteration had in its log before

  /// Of two that lie in memory or not: all loads overlap.
  GPUTM_INLINE bool operator==(const reduction_call& o) const {
    return !((index != o.index) | (position != o.position) | (array != o.array) | (count != o.count) |
             (reads != o.reads));
  }
};

/// It lies in memory, one for each lane: the iteration runs from its beginning again once such an element is there, and
/// goes on where it was when it comes to the same call. All that it had added is final as long as the repair lasts.
/// Elements that it has left out are on its list, which a later row that is not kept may take over: then this one is
/// forgotten.
class begun_reduction {
 public:
  /// Bytes of an accumulator that is kept.
  static constexpr std::uint32_t most_bytes = 64;

 private:
  const parts::left_out_list list_;
  reduction_call call_;
  std::uint32_t done_ = 0, left_out_ = 0, logged_ = 0, read_logged_ = 0, read_unlogged_ = 0;
  alignas(8) std::byte empty_[most_bytes], all_[most_bytes];

 public:
  GPUTM_INLINE explicit begun_reduction(const parts::left_out_list& list) : list_(list) {}
  GPUTM_INLINE const parts::left_out_list& list() const { return list_; }
  /// How a row stands.
  struct place {
    std::uint32_t done = 0;           ///< so many of the first elements are added,
    std::uint32_t left_out = 0;       ///< but for so many of them
    std::uint32_t logged = 0;         ///< so many of these are in the iteration's log
    std::uint32_t read_logged = 0;    ///< the ranges that those are of,
    std::uint32_t read_unlogged = 0;  ///< and the others
  };
  /// `empty`: what the accumulator was at first.
  template <class Accumulator>
  GPUTM_INLINE void keep(const reduction_call& call, const Accumulator& empty, const Accumulator& all,
                         const place& at) {
    call_ = call;
    done_ = at.done;
    left_out_ = at.left_out;
    logged_ = at.logged;
    read_logged_ = at.read_logged;
    read_unlogged_ = at.read_unlogged;
    memcpy(empty_, &empty, sizeof empty);
    memcpy(all_, &all, sizeof all);
  }
  /// Nothing has begun.
  GPUTM_INLINE void forget() { call_.position = parts::loop_log::none; }
  /// Where that call was; `all` is empty, and gets what was added. Nowhere if it is another one.
  template <class Accumulator>
  GPUTM_INLINE place find(const reduction_call& call, Accumulator& all) const {
    // what lies in memory is asked for before any of it is looked at
    Accumulator added = all;
    memcpy(static_cast<void*>(&added), all_, sizeof added);
    const place at{done_, left_out_, logged_, read_logged_, read_unlogged_};
    const bool same = call_ == call, from_same = is(empty_, all);
    if (!(same & from_same)) return {};
    all = added;
    return at;
  }

 private:
  template <class Accumulator>
  static GPUTM_INLINE bool is(const std::byte (&kept)[most_bytes], const Accumulator& value) {
    constexpr std::uint32_t words = sizeof value / 4;
    std::uint32_t a[words], b[words], differ = 0;
    memcpy(a, kept, sizeof a);
    memcpy(b, &value, sizeof b);
    GPUTM_UNROLL
    for (std::uint32_t k = 0; k < words; ++k) differ |= a[k] ^ b[k];
    return differ == 0;
  }
};

}  // namespace gputm::speculation
