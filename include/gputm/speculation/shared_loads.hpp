// Floor 3: loads of one iteration by several lanes of its warp, where a body asks for many elements by gather(): one
// thread takes a few at a time, and all others wait for the longest one.
#pragma once

#include "gputm/gather.hpp"
#include "gputm/parts/lane_team.hpp"
#include "gputm/parts/window_view.hpp"

namespace gputm::speculation {

/// What an iteration has others load for it.
struct shared_errand {
  std::uint32_t array = 0;     ///< its number in the memory
  std::uint32_t count = 0;     ///< elements
  std::uint32_t position = 0;  ///< the iteration's, in the window
  std::uint32_t reads = 0;     ///< entries that it has in its log
  std::uint32_t stored = 0;    ///< ranges that it has stored to
  std::uint32_t overlaps = 0;  ///< whether somebody may be writing back what the window would log
};

/// What has come of it.
template <class Accumulator>
struct shared_yield {
  Accumulator all;
  std::uint32_t count = 0;          ///< so many of the first elements are in it
  std::uint32_t logged = 0;         ///< so many of these are in the iteration's log now, too
  std::uint32_t read_logged = 0;    ///< the ranges that those are of,
  std::uint32_t read_unlogged = 0;  ///< and the others
};

/// Loads of a first pass, which looks for nobody's deferred write. Apart, and all of it by value or in the kernel's
/// parameters: beside a body it would have too few registers to have several loads under way.
class shared_loads {
  const parts::window_view view_;
  const parts::element_ranges& ranges_;
  const region_table& regions_;
  const std::uint32_t logged_, offset_;

  static constexpr unsigned each = 4;  // loads that a lane has under way; with more it spills what it has loaded

  /// Where number `first` and the next ones are: number first + k * width + this lane's rank is the k-th. Behind the
  /// last one that one again, and no branch, so the loads overlap.
  template <class Index>
  static GPUTM_INLINE void fetch_indices(const parts::lane_team& team, std::uint32_t first, std::uint32_t count,
                                         const Index* those, Index (&index)[each]) {
    GPUTM_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      const std::uint32_t i = first + k * team.width() + team.rank();
      index[k] = those[i < count ? i : count - 1];
    }
  }

 public:
  /// `logged`, `offset`: of the window, whose ranges are logged and where ranges begin.
  GPUTM_INLINE shared_loads(const parts::window_view& view, const parts::element_ranges& ranges,
                            const region_table& regions, std::uint32_t logged, std::uint32_t offset)
      : view_(view), ranges_(ranges), regions_(regions), logged_(logged), offset_(offset) {}

  /// Tells apart lanes that are together in calls with different types: only those of one kind can load for each other.
  template <class T, class Where, class Accumulator>
  static GPUTM_INLINE constexpr std::uint64_t kind() {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char* c = __PRETTY_FUNCTION__; *c != 0; ++c)
      hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211u;
    return hash;
  }
  /// For the lanes of the team that are `busy`, one after another: adds the elements of their errands to accumulators,
  /// `empty` at first. T: the elements' type. Each lane gets what has come of its own.
  template <class T, class Where, class Accumulator>
  static GPUTM_NOINLINE shared_yield<Accumulator> reduce(shared_loads loads, parts::lane_team team, simt::mask_t busy,
                                                         shared_errand mine, Where where, Accumulator empty) {
    shared_yield<Accumulator> yield{empty};
    GPUTM_NO_UNROLL
    for (; busy != 0; busy &= busy - 1) {
      const std::uint32_t owner = simt::lowest(busy);
      const shared_yield<Accumulator> its = loads.template reduce_one<T>(
          team, simt::shfl_words(team.mask(), mine, owner), simt::shfl_words(team.mask(), where.index, owner),
          simt::shfl_words(team.mask(), empty, owner));
      if (simt::lane() == owner) yield = its;
    }
    return yield;
  }

 private:
  template <class T, class Index, class Accumulator>
  GPUTM_INLINE shared_yield<Accumulator> reduce_one(const parts::lane_team& team, shared_errand e, const Index* those,
                                                    const Accumulator& empty) const {
    using word = parts::word_of<T>;
    const region r = regions_.regions[e.array];
    const parts::loop_log log = view_.log(e.position);
    shared_yield<Accumulator> yield{empty};
    const std::uint32_t at_once = each * team.width(), first_range = ranges_.first[e.array], shift = ranges_.shift;
    Index next[each];
    fetch_indices(team, 0, e.count, those, next);
    GPUTM_NO_UNROLL
    while (yield.count != e.count) {
      const std::uint32_t rest = e.count - yield.count, n = rest < at_once ? rest : at_once;
      bool usual = true;
      std::uint32_t index[each], ranges = 0;
      GPUTM_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        const bool is = static_cast<std::uint64_t>(next[k]) < r.length;
        usual &= is;
        index[k] = is ? static_cast<std::uint32_t>(next[k]) : 0;
        ranges |= parts::element_ranges::of(first_range, shift, index[k], offset_);
      }
      ranges = simt::reduce_or(team.mask(), ranges);
      // The iteration itself sees about all that is special.
      if (!simt::all(team.mask(), usual) || (e.stored & ranges) != 0) break;
      bool is_logged = (logged_ & ranges) != 0;
      if (is_logged && e.overlaps != 0) break;
      if (is_logged && log.read_capacity() - e.reads < n) {
        if (e.position != 0) break;
        is_logged = false;  // the first iteration's log need not be complete
      }
      word value[each];
      GPUTM_UNROLL
      for (unsigned k = 0; k < each; ++k) value[k] = parts::read_element<word>(r, index[k]);
      fetch_indices(team, yield.count + n, e.count, those, next);  // before they are needed
      if (is_logged) {
        GPUTM_UNROLL
        for (unsigned k = 0; k < each; ++k) {
          const std::uint32_t i = k * team.width() + team.rank();
          if (i < n) log.set_calm_read(e.reads + i, parts::element_key(e.array, index[k]));
        }
        e.reads += n;
        yield.logged += n;
        yield.read_logged |= ranges;
      } else {
        yield.read_unlogged |= ranges;
      }
      const auto add = [&](bool all) {
        GPUTM_UNROLL
        for (unsigned k = 0; k < each; ++k) {
          const std::uint32_t i = k * team.width() + team.rank();
          if (!all && i >= n) continue;
          T one;
          memcpy(static_cast<void*>(&one), &value[k], sizeof one);
          yield.all.add(yield.count + i, one);
        }
      };
      if (n == at_once)
        add(true);
      else
        add(false);
      yield.count += n;
    }
    team.merge(yield.all);
    return yield;
  }
};

}  // namespace gputm::speculation
