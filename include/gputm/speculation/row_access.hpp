// Floor 3: what an iteration's access does about rows of elements that others load for it, or it for others: lanes of
// its warp, or, in a first pass, all warps. What shared_reduction goes by.
#pragma once

#include "gputm/speculation/access_state.hpp"
#include "gputm/speculation/begun_reduction.hpp"
#include "gputm/speculation/joint_turn.hpp"
#include "gputm/speculation/shared_loads.hpp"

namespace gputm::speculation {

/// Of an access to which nobody lends, and which joins nobody, all of it comes to nothing.
template <pass Kind>
class row_access : public access_state<Kind> {
  using base = access_state<Kind>;

 protected:
  using base::awaited_, base::found_, base::forwarded_, base::logged_, base::marker_, base::not_first_, base::offset_;
  using base::calm, base::joint, base::repair, base::spread;
  using base::early, base::full, base::room_for_reads, base::too_many_reads, base::trouble_, base::view_, base::writes_;
  using base::overlaps_, base::peeks_, base::position_, base::ranges_, base::reads_, base::repair_, base::tag_;

  GPUTM_INLINE row_access(const parts::window_view& view, const parts::element_ranges& ranges,
                          parts::writer_marker& marker, std::uint32_t position, const parts::loop_window& w, bool guest)
      : base(view, ranges, marker, position, w), guest_(guest) {}

 private:
  const bool guest_;                  // here to load for others alone: another lane runs this position
  joint_turn* joint_ = nullptr;       // of a pass with rows that all warps load together: what this run is for; or of
                                      // a repair whose lanes go together: what it can use of them
  begun_reduction* begun_ = nullptr;  // of a repair whose lanes go together: what came too early goes on from there
  std::uint32_t left_out_ = 0;        // then: elements of the row that it is at,
  bool lost_ = false;                 // whether one of these is none that others can take,
  bool goes_on_ = false;              // and whether it has gone on with what it had begun, or has begun this

 public:
  using base::first;

  /// Of a repair whose lanes go together: what this one has begun, and rows of the first pass.
  GPUTM_INLINE void go_together(begun_reduction& begun, joint_turn& turn) {
    begun_ = &begun;
    joint_ = &turn;
  }
  /// Lanes can load for each other in a first pass: nobody waits there. In a repair, if they go together.
  static constexpr bool shares_loads = calm || spread;
  /// Whether all of `count` elements of the array of this number would have to be logged, and there is no room. Then
  /// the attempt ends before it has loaded them.
  GPUTM_INLINE bool exceeds_log(std::uint32_t number, std::uint32_t count) {
    if (is_guest() || first() || found_.stored != 0 || count <= room_for_reads()) return false;
    if (number >= max_regions || (ranges_.of_array(number) & ~logged_) != 0) return false;
    full(too_many_reads);
    note_row(count);
    return true;
  }
  /// `count` elements of the array of this number are to be loaded for this iteration.
  GPUTM_INLINE shared_errand errand(std::uint32_t number, std::uint32_t count) {
    marker_.make();
    shared_errand e{number, count, position_, reads_, found_.stored, overlaps_ ? 1u : 0u, left_out_};
    if (begun_ != nullptr) e.list = begun_->list();
    return e;
  }
  /// Whether all warps may load long rows together (joint_space); what this run is for.
  static constexpr bool joins = joint;
  GPUTM_INLINE void take_turn(joint_turn& turn) { joint_ = &turn; }
  /// Of a guest: whether this is the row that it is here for.
  GPUTM_INLINE bool is_asked_for(const reduction_call& call, std::uint64_t kind) const {
    if (joint_->collected + 1 != joint_->rows.count) return false;
    return is(joint_->space.row(joint_->next()), call, kind);
  }
  GPUTM_INLINE const joint_turn& turn() const { return *joint_; }
  /// Asks for a row, if it is long and all of it can be logged, or none; then the attempt ends. Not behind a store, at
  /// which lanes that load for others end.
  GPUTM_INLINE bool asks_for(const reduction_call& call, std::uint64_t kind) {
    joint_turn& t = *joint_;
    if (t.loads || t.refused || !t.has_collected_all() || t.rows.count == asked_rows::most) return false;
    if (call.count < parts::joint_space::least || call.array >= max_regions || found_.stored != 0) return false;
    note_row(call.count);
    bool logged = (logged_ & ranges_.of_array(call.array)) != 0;
    if (logged && room_for_reads() < call.count) {
      if (!first()) return false;
      logged = false;
    }
    const std::uint32_t number = t.space.post({call.index, kind, position_, call.array, call.count, reads_, logged,
                                               t.rows.count, t.rows.count != 0 ? t.rows.number[t.rows.count - 1] : 0});
    t.asked = number != parts::joint_space::none;
    t.refused = !t.asked;
    if (t.asked) t.rows.number[t.rows.count++] = number;
    return t.asked;
  }
  /// All of a row, if it is the next one that it has asked for and it is loaded: how many elements.
  template <class Accumulator>
  GPUTM_INLINE std::uint32_t collect(const reduction_call& call, std::uint64_t kind, Accumulator& all) {
    joint_turn& t = *joint_;
    parts::joint_row row;
    if (!is_next(call, kind, row)) return 0;
    parts::joint_sum sum;
    t.refused = (!is_guest() && row.reads != reads_) || !t.space.find_sum(t.next(), row, sum);
    if (t.refused) return 0;
    ++t.collected;
    sum.get(all);
    take(
        shared_yield<Accumulator>{all, sum.count, row.logged != 0 ? sum.count : 0, sum.read_logged, sum.read_unlogged});
    return sum.count;
  }
  GPUTM_INLINE bool may_share() const { return !spread || begun_ != nullptr; }
  GPUTM_INLINE bool is_guest() const { return (spread || joint) && guest_; }
  using shared = shared_loads<repair>;
  GPUTM_INLINE shared lend(const region_table& regions) const {
    return {view_, ranges_, regions, logged_, offset_, tag_, repair_};
  }
  GPUTM_INLINE bool awaits() const { return awaited_ != parts::window_view::memory; }
  /// What comes too early in a reduction goes on there in its next run.
  static constexpr bool resumes = spread;
  GPUTM_INLINE reduction_call call(const void* index, std::uint32_t number, std::uint32_t count) const {
    return {index, position_, number, count, reads_};
  }
  template <class Accumulator>
  GPUTM_INLINE std::uint32_t resume(const reduction_call& call, std::uint64_t kind, Accumulator& all) {
    if (begun_ == nullptr || guest_) return 0;
    const begun_reduction::place at = begun_->find(call, all);
    if (at.done != 0) {
      goes_on_ = true;
      parts::joint_row row;
      if (is_next(call, kind, row)) ++joint_->collected;
    }
    left_out_ = at.left_out;
    reads_ += at.logged;
    found_.read_logged |= at.read_logged;
    found_.read_unlogged |= at.read_unlogged;
    return at.done;
  }
  /// The run ends. What it had begun, and has not come to again, its log may have no more.
  GPUTM_INLINE void end_together() const {
    if (begun_ != nullptr && !guest_ && !goes_on_) begun_->forget();
  }
  /// What the first pass has added up of this row's beginning, if it is still what this run would, and in the log: its
  /// first pieces.
  template <class Accumulator>
  GPUTM_INLINE parts::joint_part known_part(const reduction_call& call, std::uint64_t kind, const Accumulator& empty) {
    parts::joint_row row;
    if (begun_ == nullptr || guest_ || found_.stored != 0 || !is_next(call, kind, row)) return {};
    joint_->refused = row.reads != reads_;
    if (joint_->refused) return {};
    const std::uint32_t pieces = joint_->space.known_pieces(joint_->next(), row, empty);
    ++joint_->collected;
    return {row.first, pieces, row.logged};
  }
  template <class Accumulator>
  GPUTM_INLINE void hold(const reduction_call& call, const Accumulator& empty, const Accumulator& all,
                         std::uint32_t done) {
    if (begun_ == nullptr || !awaits()) return;
    goes_on_ = !lost_;
    begun_->keep(call, empty, all, {done, left_out_, reads_ - call.reads, found_.read_logged, found_.read_unlogged});
  }
  /// The same, of a row that is not kept. If it has left out elements, these are on the list now, and no longer those
  /// of a row before it.
  GPUTM_INLINE void hold_nothing() {
    if (left_out_ != 0) goes_on_ = false;
  }
  /// What has been loaded for this iteration.
  template <class Accumulator>
  GPUTM_INLINE void take(const shared_yield<Accumulator>& got) {
    found_.read_unlogged |= got.read_unlogged & not_first_;
    found_.read_logged |= got.read_logged & not_first_;
    if (got.logged != 0 && peeks_) found_.flags |= parts::loop_findings::peeked;
    if (calm) found_.flags |= parts::loop_findings::gathers;
    note_row(got.count, sizeof(Accumulator) <= parts::joint_sum::most_bytes && found_.stored == 0);
    reads_ += got.logged;
    forwarded_ += got.forwarded;
    if (spread && got.awaited != parts::window_view::memory) {
      awaited_ = got.awaited;
      trouble_ |= early;
    }
    if constexpr (spread) {
      left_out_ = got.left_out;
      lost_ = got.lost != 0;
    }
  }

 private:
  /// A first pass tells of how long rows are. `may_join`: whether all warps can load this one.
  GPUTM_INLINE void note_row(std::uint32_t count, bool may_join = true) {
    if (!calm || count < parts::joint_space::least) return;
    found_.flags |= parts::loop_findings::long_rows;
    if (may_join && count > parts::joint_space::longest) found_.flags |= parts::loop_findings::very_long_rows;
  }
  static GPUTM_INLINE bool is(const parts::joint_row& row, const reduction_call& call, std::uint64_t kind) {
    return row.index == call.index && row.array == call.array && row.count == call.count && row.kind == kind;
  }
  /// Whether this call is of the next row that the iteration has asked for; then `row` is that one.
  GPUTM_INLINE bool is_next(const reduction_call& call, std::uint64_t kind, parts::joint_row& row) const {
    if (joint_->refused || joint_->has_collected_all()) return false;
    row = joint_->space.row(joint_->next());
    return is(row, call, kind);
  }
};

}  // namespace gputm::speculation
