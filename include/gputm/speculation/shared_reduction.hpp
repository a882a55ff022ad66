// Floor 3: iteration::reduce_each() where others take part in it: lanes of the same warp, or all warps of the grid.
#pragma once

#include <cstdint>

#include "gputm/gather.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/speculation/begun_reduction.hpp"
#include "gputm/speculation/shared_loads.hpp"

namespace gputm::speculation {

/// Of the elements of a gather(), which are of type T. Access: an iteration's (iteration.hpp), of an engine whose
/// iterations may load for each other; it says what they can do:
///
///   shares_loads   the lanes of a warp load for each other
///   joins          all warps load a long row together: the attempt ends, asks for it, and finds it when it runs again
///   resumes        what comes too early for an element goes on there when it runs again
template <class Access, class T, class Where, class Accumulator>
class shared_reduction {
  /// They load words.
  static constexpr bool shares_loads = [] {
    if constexpr (parts::is_gathered<Where> && requires { Access::shares_loads; })
      return Access::shares_loads && (sizeof(T) == 4 || sizeof(T) == 8);
    return false;
  }();
  static constexpr bool joins = [] {
    if constexpr (requires { Access::joins; })
      return Access::joins && shares_loads && sizeof(Accumulator) <= parts::joint_sum::most_bytes;
    return false;
  }();
  static constexpr bool resumes = [] {
    if constexpr (parts::is_gathered<Where> && requires { Access::resumes; })
      return Access::resumes && sizeof(Accumulator) <= begun_reduction::most_bytes;
    return false;
  }();

  /// An attempt may end here for want of a value, also where it cannot keep what it has added.
  static constexpr bool may_await = [] {
    if constexpr (requires { Access::resumes; }) return resumes || (shares_loads && Access::resumes);
    return false;
  }();

  Access& access_;
  const region_table& regions_;
  const Where& where_;
  const Accumulator& empty_;
  const reduction_call call_;

 public:
  static constexpr bool exists = shares_loads || resumes;

  /// `number`: of the array, max_regions or more if there is none. `count` elements are to be added to what is `empty`.
  GPUTM_INLINE shared_reduction(Access& access, const region_table& regions, const Where& where, std::uint32_t number,
                                std::uint32_t count, const Accumulator& empty)
      : access_(access),
        regions_(regions),
        where_(where),
        empty_(empty),
        call_(access.call(where.index, number, count)) {}

  /// Adds what others have loaded to `all`, and how many elements that were, the first ones, to `done`. `left`: one
  /// more than the loads and stores that may follow. False if the attempt ends here.
  GPUTM_INLINE bool add(Accumulator& all, std::uint32_t& done, std::uint32_t& left) {
    if constexpr (may_await)
      if (access_.awaits()) return false;  // an earlier one has ended it, and the body goes on all the same
    const bool may = left > call_.count;   // else the iteration itself finds out what is wrong
    if constexpr (shares_loads)
      if (access_.exceeds_log(call_.array, call_.count)) return false;
    std::uint32_t got = 0;
    if constexpr (joins) {
      if (may && !simt::is_private(where_.index)) {  // others would read an array of their own
        if (asks()) return false;
        got = access_.collect(call_, kind, all);
      }
    }
    if constexpr (resumes)
      if (may) got = access_.resume(call_, kind, all);
    done += got;
    left -= got;
    if constexpr (shares_loads)
      if (access_.may_share()) add_shared(all, done, left);
    if constexpr (!may_await) return true;
    if (!access_.is_guest() && !access_.awaits()) return true;
    if (!access_.is_guest()) hold(all, done);
    return false;
  }
  /// The attempt ends, `done` elements being in `all`: if it is because the next one is not there yet, it goes on
  /// there.
  GPUTM_INLINE void hold(const Accumulator& all, std::uint32_t done) {
    if constexpr (resumes)
      access_.hold(call_, empty_, all, done);
    else if constexpr (may_await)
      access_.hold_nothing();
  }
  /// How many elements `all` has, after those that others have loaded, if that is to be told.
  static GPUTM_INLINE void note(std::uint32_t k, std::uint32_t& done) {
    if constexpr (resumes) done = k + 1;
  }

 private:
  static constexpr std::uint64_t kind = kind_of_loads<T, Where, Accumulator>();

  /// Whether the attempt ends since all warps are to load this row, or since this lane has loaded its piece of it.
  GPUTM_INLINE bool asks() {
    if (!access_.is_guest() || !access_.is_asked_for(call_, kind)) return access_.asks_for(call_, kind);
    Access::shared::template load_piece<T>(access_.lend(regions_), access_.turn().space, access_.turn().piece, where_,
                                           empty_);
    return true;
  }
  /// What has been loaded for this iteration.
  GPUTM_INLINE void take(const shared_yield<Accumulator>& got, Accumulator& all, std::uint32_t& done,
                         std::uint32_t& left) {
    all.merge(got.all);
    left -= got.count;
    done += got.count;
    access_.take(got);
  }
  /// Where a repair begins with this row: what all warps have added up of it in the first pass, put together by these
  /// lanes.
  GPUTM_INLINE void add_known(const parts::lane_team& team, Accumulator& all, std::uint32_t& done,
                              std::uint32_t& left) {
    parts::joint_part part;
    if (done == 0 && left > call_.count) part = access_.known_part(call_, kind, empty_);
    const simt::mask_t busy = simt::ballot(team.mask(), part.pieces != 0);
    if (busy == 0) return;
    const auto got = Access::shared::reduce_parts(access_.turn().space, team, busy, part, empty_);
    if (part.pieces != 0) take(got, all, done, left);
  }
  /// The elements from number `done` on, by all lanes that are here together, for those of them that ask for many.
  GPUTM_INLINE void add_shared(Accumulator& all, std::uint32_t& done, std::uint32_t& left) {
    const parts::lane_team team(simt::match_any(simt::together(), kind));
    if constexpr (resumes) add_known(team, all, done, left);
    Where rest = where_;
    rest.index += done;
    std::uint32_t count = call_.count - done;
    if (call_.array >= max_regions || left <= count) count = 0;  // the iteration itself finds out what is wrong
    if (access_.is_guest()) count = 0;
    if (simt::is_private(rest.index)) count = 0;
    const shared_errand mine = access_.errand(call_.array, count);
    const std::uint32_t much = count + mine.left_out;
    const simt::mask_t busy = team.busiest(much, resumes ? parts::lane_team::some : parts::lane_team::many);
    shared_yield<Accumulator> got{empty_};
    if (busy != 0) {
      if constexpr (resumes)
        got = Access::shared::template reduce<T>(access_.lend(regions_), team, busy, mine, rest, done, empty_);
      else
        got = Access::shared::template reduce_apart<T>(access_.lend(regions_), team, busy, mine, rest, done, empty_);
    }
    if ((busy >> simt::lane() & 1) == 0) {
      if (!Access::resumes || much == 0) return;
      got = Access::shared::template reduce_alone<T>(access_.lend(regions_), mine, rest, done, empty_);
    }
    take(got, all, done, left);
  }
};

}  // namespace gputm::speculation
