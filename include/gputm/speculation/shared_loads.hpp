// Floor 3: loads of one iteration by several lanes of its warp, where a body asks for many elements by gather(): one
// thread takes a few at a time, and all others wait for the longest one.
#pragma once

#include "gputm/gather.hpp"
#include "gputm/parts/joint_rows.hpp"
#include "gputm/parts/lane_team.hpp"
#include "gputm/parts/left_out_list.hpp"
#include "gputm/parts/window_view.hpp"
#include "gputm/speculation/repair_view.hpp"

namespace gputm::speculation {

/// What an iteration has others load for it.
struct shared_errand {
  std::uint32_t array = 0;     ///< its number in the memory
  std::uint32_t count = 0;     ///< elements
  std::uint32_t position = 0;  ///< the iteration's, in the window
  std::uint32_t reads = 0;     ///< entries that it has in its log
  std::uint32_t stored = 0;    ///< ranges that it has stored to
  std::uint32_t overlaps = 0;  ///< whether somebody may be writing back what the window would log
  std::uint32_t left_out = 0;  ///< elements before these that were not there,
  std::uint32_t unused = 0;
  parts::left_out_list list = {};  ///< on this list
};

/// What has come of it.
template <class Accumulator>
struct shared_yield {
  Accumulator all;
  std::uint32_t count = 0;                             ///< so many of the first elements are in it
  std::uint32_t logged = 0;                            ///< so many of these are in the iteration's log now, too
  std::uint32_t read_logged = 0;                       ///< the ranges that those are of,
  std::uint32_t read_unlogged = 0;                     ///< and the others
  std::uint32_t forwarded = 0;                         ///< so many are deferred writes of lower iterations
  std::uint32_t left_out = 0;                          ///< so many are on the list
  std::uint32_t lost = 0;                              ///< whether it has to begin again, since one on the list is none
                                                       ///< that it could take
  std::uint32_t awaited = parts::window_view::memory;  ///< who has yet to run, and has the value of one of those, or of
                                                       ///< the next one; if it has to begin again, perhaps another one
};

/// Tells apart lanes that are together in calls with different types: only those of one kind can load for each other.
template <class T, class Where, class Accumulator>
GPUTM_INLINE constexpr std::uint64_t kind_of_loads() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char* c = __PRETTY_FUNCTION__; *c != 0; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  return hash;
}

/// Loads of a first pass, which looks for nobody's deferred write; or of a repair, but for elements that are not there
/// yet, up to one that single loads know better. In a first pass apart, and all of it by value or in the kernel's
/// parameters: beside a body it would have too few registers to have several loads under way. In a repair, where others
/// wait for the iteration, to call it would take longer than what it does for the last element.
template <bool Repair>
class shared_loads {
  const parts::window_view view_;
  const parts::element_ranges& ranges_;
  const region_table& regions_;
  const std::uint32_t logged_, offset_, tag_, repair_;

  /// Where number `first` and the next ones are: number first + k * width + this lane's rank is the k-th. Behind the
  /// last one that one again, and no branch, so the loads overlap.
  template <class Team, class Index, std::size_t each>
  static GPUTM_INLINE void fetch_indices(const Team& team, std::uint32_t first, std::uint32_t count, const Index* those,
                                         Index (&index)[each]) {
    GPUTM_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      const std::uint32_t i = first + k * team.width() + team.rank();
      index[k] = those[i < count ? i : count - 1];
    }
  }

 public:
  /// `logged`, `offset`: of the window, whose ranges are logged and where ranges begin. `tag`, `repair`: which one.
  GPUTM_INLINE shared_loads(const parts::window_view& view, const parts::element_ranges& ranges,
                            const region_table& regions, std::uint32_t logged, std::uint32_t offset, std::uint32_t tag,
                            std::uint32_t repair)
      : view_(view), ranges_(ranges), regions_(regions), logged_(logged), offset_(offset), tag_(tag), repair_(repair) {}

  /// For the lanes of the team that are `busy`, one after another: adds the elements of their errands to accumulators,
  /// `empty` at first. T: the elements' type. Each lane gets what has come of its own.
  template <class T, class Where, class Accumulator>
  static GPUTM_INLINE shared_yield<Accumulator> reduce(shared_loads loads, parts::lane_team team, simt::mask_t busy,
                                                       shared_errand mine, Where where, std::uint32_t first,
                                                       Accumulator empty) {
    shared_yield<Accumulator> yield{empty};
    GPUTM_NO_UNROLL
    for (; busy != 0; busy &= busy - 1) {
      const std::uint32_t owner = simt::lowest(busy);
      const shared_yield<Accumulator> its = loads.template reduce_one<T>(
          team, simt::shfl_words(team.mask(), mine, owner), simt::shfl_words(team.mask(), where.index, owner),
          simt::shfl_words(team.mask(), empty, owner), simt::shfl(team.mask(), first, owner));
      if (simt::lane() == owner) yield = its;
    }
    return yield;
  }
  template <class T, class Where, class Accumulator>
  static GPUTM_NOINLINE shared_yield<Accumulator> reduce_apart(shared_loads loads, parts::lane_team team,
                                                               simt::mask_t busy, shared_errand mine, Where where,
                                                               std::uint32_t first, Accumulator empty) {
    return reduce<T>(loads, team, busy, mine, where, first, empty);
  }
  /// The same by this lane alone, for itself.
  template <class T, class Where, class Accumulator>
  static GPUTM_INLINE shared_yield<Accumulator> reduce_alone(shared_loads loads, shared_errand mine, Where where,
                                                             std::uint32_t first, Accumulator empty) {
    return loads.template reduce_one<T>(parts::one_lane{}, mine, where.index, empty, first);
  }
  /// A piece of a row of such a type (joint_space), by the lanes that are here together, unless others load it. The
  /// last one of the row puts its pieces together.
  template <class T, class Where, class Accumulator>
  static GPUTM_NOINLINE void load_piece(shared_loads loads, parts::joint_space space, std::uint32_t piece, Where where,
                                        Accumulator empty) {
    const parts::lane_team team(simt::match_any(simt::together(), kind_of_loads<T, Where, Accumulator>()));
    const std::uint32_t number = space.row_of(piece), leader = simt::lowest(team.mask());
    const bool leads = simt::lane() == leader;
    std::uint32_t mine = leads && space.take(piece);
    mine = simt::shfl(team.mask(), mine, leader);
    if (mine == 0) return;
    const parts::joint_row row = space.row(number);
    const std::uint32_t first = row.begin_of(piece);
    const shared_errand e{row.array, row.count_of(piece), row.position, row.reads + first, 0, 0};
    const shared_yield<Accumulator> got =
        shared_loads(loads, row.logged).template reduce_one<T>(team, e, where.index + first, empty, first);
    parts::joint_sum sum{got.count, got.read_logged, got.read_unlogged};
    sum.set(got.all);
    std::uint32_t last = leads && space.finish(piece, number, row.pieces, sum);
    last = simt::shfl(team.mask(), last, leader);
    if (last == 0) return;
    simt::sync_warp(team.mask());  // what the leader has acquired, all may read
    Accumulator all = empty;
    parts::joint_sum total = sum_of(space, team, {row.first, row.pieces}, all);
    total.set(all);
    if (leads) space.set_sum(number, total, empty);
  }
  /// For the lanes of the team that are `busy`, one after another: puts together parts of rows of such a type.
  template <class Accumulator>
  static GPUTM_NOINLINE shared_yield<Accumulator> reduce_parts(parts::joint_space space, parts::lane_team team,
                                                               simt::mask_t busy, parts::joint_part mine,
                                                               Accumulator empty) {
    shared_yield<Accumulator> yield{empty};
    GPUTM_NO_UNROLL
    for (; busy != 0; busy &= busy - 1) {
      const std::uint32_t owner = simt::lowest(busy);
      Accumulator all = simt::shfl_words(team.mask(), empty, owner);
      const parts::joint_part its = simt::shfl_words(team.mask(), mine, owner);
      const parts::joint_sum sum = sum_of(space, team, its, all);
      if (simt::lane() == owner)
        yield = {all, sum.count, its.logged != 0 ? sum.count : 0, sum.read_logged, sum.read_unlogged};
    }
    return yield;
  }

 private:
  static constexpr std::uint32_t memory = parts::window_view::memory;

  /// Pieces of a row, put together by all of these lanes; `all` is empty at first.
  template <class Accumulator>
  static GPUTM_INLINE parts::joint_sum sum_of(const parts::joint_space& space, const parts::lane_team& team,
                                              const parts::joint_part& part, Accumulator& all) {
    const Accumulator empty = all;
    parts::joint_sum total;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = team.rank(); k < part.pieces; k += team.width()) {
      const parts::joint_sum its = space.piece(part.first + k);
      Accumulator one = empty;
      its.get(one);
      all.merge(one);
      total.count += its.count;
      total.read_logged |= its.read_logged;
      total.read_unlogged |= its.read_unlogged;
    }
    team.merge(all);
    total.count = team.sum(total.count);
    total.read_logged = team.bits(total.read_logged);
    total.read_unlogged = team.bits(total.read_unlogged);
    return total;
  }

  /// The same where all reads are logged, or none.
  GPUTM_INLINE shared_loads(const shared_loads& o, std::uint32_t logged)
      : view_(o.view_),
        ranges_(o.ranges_),
        regions_(o.regions_),
        logged_(logged != 0 ? parts::element_ranges::all : 0),
        offset_(o.offset_),
        tag_(o.tag_),
        repair_(o.repair_) {}

  /// In a repair: the value of the element key() that position `q` writes. `source` is memory at first, and `q` then.
  /// False if it is not there yet, or, with memory as source, if a single load knows better.
  template <class Key, class Word>
  GPUTM_INLINE bool take(std::uint32_t q, const Key& key, Word& value, std::uint32_t& source) const {
    const parts::position_status its = view_.log(q).status(tag_);
    const repair_view<true> others(view_, tag_, repair_);
    const auto so_far = others.of_status(its);
    if (so_far == repair_view<true>::progress::pending) source = q;
    if (!others.has_run(so_far)) return false;
    source = q;
    if (sizeof value <= sizeof its.value && its.has_value) {  // of this element, as long as marks hold
      memcpy(&value, &its.value, sizeof value);
      return true;
    }
    const parts::loop_log log = view_.log(source);
    if (so_far == repair_view<true>::progress::done && !others.has_run(others.acquire(source))) source = memory;
    const std::uint32_t entry = source == memory ? log.none : log.find_write(key(), log.write_count());
    if (entry == log.none) {
      source = memory;
      return false;
    }
    value = log.template value<Word>(entry);
    return true;
  }

  /// Adds those on the list that are there by now. `those`: the row's indices, from its first element on; `last`: 1 +
  /// the highest position of those for which the list waits, or that have come to something else.
  template <class T, class Team, class Index, class Accumulator>
  GPUTM_INLINE void add_left_out(const Team& team, const shared_errand& e, const Index* those,
                                 shared_yield<Accumulator>& yield, std::uint32_t& last) const {
    using word = parts::word_of<T>;
    GPUTM_NO_UNROLL
    for (std::uint32_t before = 0; before < e.left_out; before += team.width()) {
      const std::uint32_t i = before + team.rank();
      const bool is = i < e.left_out;
      const parts::left_out_list::element its = e.list.get(is ? i : before);
      const auto key = [&e, &its, those] {
        return parts::element_key(e.array, static_cast<std::uint32_t>(those[its.number]));
      };
      word value{};
      std::uint32_t source = memory;
      const bool there = is && take(its.position, key, value, source), waits = is && !there && source != memory;
      if (there) {
        add_word<T>(yield, its.number, value);
        ++yield.forwarded;
      } else if (is) {
        yield.lost |= !waits;
        if (last <= its.position) last = its.position + 1;
      }
      team.sync();  // all have looked at theirs
      const std::uint32_t to = team.place(waits, yield.left_out);
      if (waits) e.list.set(to, its);
    }
  }
  template <class T, class Word, class Accumulator>
  static GPUTM_INLINE void add_word(shared_yield<Accumulator>& yield, std::uint32_t number, const Word& value) {
    T one;
    memcpy(static_cast<void*>(&one), &value, sizeof one);
    yield.all.add(number, one);
  }

  template <class T, class Team, class Index, class Accumulator>
  GPUTM_INLINE shared_yield<Accumulator> reduce_one(const Team& team, shared_errand e, const Index* those,
                                                    const Accumulator& empty, std::uint32_t first) const {
    using word = parts::word_of<T>;
    // loads that a lane has under way: with more it spills what it has loaded; alone it mostly finds one or two there
    constexpr unsigned each = !Repair ? 4 : std::is_same_v<Team, parts::one_lane> ? 1 : 2;
    const region r = regions_.regions[e.array];
    const parts::loop_log log = view_.log(e.position);
    shared_yield<Accumulator> yield{empty};
    const std::uint32_t at_once = each * team.width(), first_range = ranges_.first[e.array], shift = ranges_.shift;
    [[maybe_unused]] std::uint32_t last = 0;
    if constexpr (Repair)
      if (e.left_out != 0) add_left_out<T>(team, e, those - first, yield, last);
    Index next[each] = {};
    if (!Repair || e.count != 0) fetch_indices(team, 0, e.count, those, next);
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
      ranges = team.bits(ranges);
      // The iteration itself sees about all that is special.
      if (!team.all(usual) || (e.stored & ranges) != 0) break;
      bool is_logged = (logged_ & ranges) != 0;
      if (is_logged && e.overlaps != 0) break;
      if (is_logged && log.read_capacity() - e.reads < n) {
        if (e.position != 0) break;
        is_logged = false;  // the first iteration's log need not be complete
      }
      word value[each];
      std::uint32_t source[each], there = n;  // so many of the next ones are, or are left out
      [[maybe_unused]] bool is_out[each];
      GPUTM_UNROLL
      for (unsigned k = 0; k < each; ++k) {
        value[k] = parts::read_element<word>(r, index[k]);
        source[k] = memory;
        is_out[k] = false;
      }
      [[maybe_unused]] parts::writer_table::writers marked[each];
      if constexpr (Repair) {
        if (is_logged) {
          GPUTM_UNROLL
          for (unsigned k = 0; k < each; ++k)
            marked[k] = view_.table().writers_of(parts::element_key(e.array, index[k]));
        }
      }
      fetch_indices(team, yield.count + n, e.count, those, next);  // before they are needed
      if constexpr (Repair) {
        if (is_logged) {
          GPUTM_UNROLL
          for (unsigned k = 0; k < each; ++k) {
            const std::uint32_t i = k * team.width() + team.rank(), whose = marked[k].last;
            const auto key = [&e, &index, k] { return parts::element_key(e.array, index[k]); };
            if (i >= there || marked[k].first >= e.position) continue;
            const bool known = whose < e.position && view_.marks_hold();
            is_out[k] = !known || !take(whose, key, value[k], source[k]);
            if (is_out[k] && source[k] == memory) there = i;
          }
          there = team.least(there);
          GPUTM_UNROLL
          for (unsigned k = 0; k < each; ++k) {
            const std::uint32_t i = k * team.width() + team.rank();
            is_out[k] = is_out[k] && i < there;
            const std::uint32_t to = team.place(is_out[k], yield.left_out);
            if (is_out[k] && last <= source[k]) last = source[k] + 1;
            if (is_out[k] && to < e.list.most()) e.list.set(to, {first + yield.count + i, source[k]});
            if (is_out[k] && to >= e.list.most() && there > i) there = i;
          }
          if (yield.left_out > e.list.most()) {
            yield.left_out = e.list.most();
            there = team.least(there);
          }
          GPUTM_UNROLL
          for (unsigned k = 0; k < each; ++k)
            yield.forwarded += k * team.width() + team.rank() < there && source[k] != memory && !is_out[k];
        }
      }
      if (is_logged) {
        GPUTM_UNROLL
        for (unsigned k = 0; k < each; ++k) {
          const std::uint32_t i = k * team.width() + team.rank();
          const std::uint64_t key = parts::element_key(e.array, index[k]);
          if (i >= there) continue;
          if constexpr (Repair)
            log.set_read(e.reads + i, key, source[k]);
          else
            log.set_calm_read(e.reads + i, key);
        }
        e.reads += there;
        yield.logged += there;
        yield.read_logged |= ranges;
      } else {
        yield.read_unlogged |= ranges;
      }
      const auto add = [&](bool all) {
        GPUTM_UNROLL
        for (unsigned k = 0; k < each; ++k) {
          const std::uint32_t i = k * team.width() + team.rank();
          if ((!all && i >= there) || is_out[k]) continue;
          add_word<T>(yield, first + yield.count + i, value[k]);
        }
      };
      if (there == at_once)
        add(true);
      else
        add(false);
      yield.count += there;
      if (there != n) break;
    }
    team.merge(yield.all);
    if constexpr (Repair) {
      yield.forwarded = team.sum(yield.forwarded);
      yield.lost = team.bits(yield.lost);
      last = team.most(last);
      if (last != 0) yield.awaited = last - 1;
    }
    return yield;
  }
};

}  // namespace gputm::speculation
