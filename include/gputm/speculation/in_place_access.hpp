// Floor 3: how an iteration loads and stores in a pass in place (in_place_pass.hpp).
#pragma once

#include "gputm/parts/stray_list.hpp"
#include "gputm/speculation/iteration.hpp"

namespace gputm::speculation {

/// What all iterations of such a pass go by; the same on all threads.
struct in_place_window {
  parts::owned_rows rows;
  std::uint32_t iterations = 0;
  std::uint32_t tag = 0;     ///< of its marks
  std::uint32_t logged = 0;  ///< element_ranges that may be stored to
  std::uint32_t offset = 0;  ///< of them

  /// That of a pass with this tag.
  static GPUTM_INLINE in_place_window of(const loop_environment& env, std::uint32_t tag) {
    const parts::loop_past& past = *env.table.past;
    return {env.strays.rows(), static_cast<std::uint32_t>(env.limits.iterations), tag,
            simt::plain_load(past.calm) & parts::element_ranges::all, simt::plain_load(past.offset)};
  }
};

/// One iteration's. What it owns it reads and stores in memory, and keeps what was there. A store elsewhere is
/// deferred, and marks its element. It may read what nobody owns: if a stray to it is expected, that is noted. Whatever
/// else it wants gives it away: then the whole pass comes to nothing.
class in_place_access {
  static constexpr std::uint32_t none = parts::stray_list::none;

  const loop_environment& env_;
  const parts::owned_rows rows_;
  const std::uint32_t position_, iterations_, row_, tag_, logged_, offset_;
  std::uint32_t saved_ = 0;  ///< slots of what it owns and has stored to: the log has what was there before
  std::uint32_t newest_ = none;

 public:
  GPUTM_INLINE in_place_access(const loop_environment& env, const in_place_window& w, std::uint32_t position)
      : env_(env),
        rows_(w.rows),
        position_(position),
        iterations_(w.iterations),
        row_(w.rows.row(position)),
        tag_(w.tag),
        logged_(w.logged),
        offset_(w.offset) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    const bool settled = !may_be_stored_to(number, index) || owns(number, index);
    // of what another iteration owns nobody knows whether that one has stored to it
    if (!settled && has_owner(number, index)) return false;
    out = parts::read_element<T>(r, index);
    return settled || load_where_strays_go(number, index, out);
  }
  static constexpr unsigned loads_at_once = 8;
  /// Of elements to which nobody stores.
  template <class T, std::size_t N>
  GPUTM_INLINE bool load_some(const region& r, std::uint32_t number, const std::uint32_t (&index)[N], T (&out)[N]) {
    bool any = false;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) any |= may_be_stored_to(number, index[i]);
    if (any) return false;
    parts::read_elements(r, index, out);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t number, std::uint32_t index, const T& value) {
    if (!may_be_stored_to(number, index)) return false;
    if (!owns(number, index)) return store_elsewhere(number, index, value);
    const std::uint32_t slot = rows_.slot(number, index - row_);
    if ((saved_ >> slot & 1) == 0) {
      saved_ |= 1u << slot;
      parts::loop_log(env_.logs, position_).set_value(slot, parts::read_element<T>(r, index));
    }
    parts::write_element(r, index, value);
    return true;
  }

  /// None has failed for certain: all run again if this one does.
  GPUTM_INLINE static constexpr bool first() { return false; }
  GPUTM_INLINE static constexpr parts::overflow_kind overflow() { return parts::overflow_kind::none; }
  GPUTM_INLINE static constexpr std::uint64_t write_limit() { return 0; }

  GPUTM_INLINE bool has_strayed() const { return newest_ != none; }
  /// Whether it has stored to more elements than it may.
  GPUTM_INLINE bool exceeds() const {
    return has_strayed() && simt::count(saved_) + strays_of(env_, newest_) > env_.logs.writes;
  }
  /// At its end. `cancelled`: it changes nothing; it has not strayed.
  GPUTM_INLINE void leave(bool cancelled) {
    if (cancelled) {
      put_back(env_, position_, saved_);
      saved_ = 0;
    }
    if (saved_ != rows_.all_slots()) parts::loop_log(env_.logs, position_).set_status({tag_, saved_});
  }

  /// What position `p` has saved in the pass of this tag.
  static GPUTM_INLINE std::uint32_t saved_by(const loop_environment& env, std::uint32_t tag, std::uint32_t p) {
    const parts::position_status s = parts::loop_log(env.logs, p).last_status();
    return s.tag == tag ? s.version : env.strays.rows().all_slots();
  }
  /// It goes back to where it was.
  static GPUTM_NOINLINE void put_back(const loop_environment& env, std::uint32_t p, std::uint32_t saved) {
    const parts::owned_rows rows = env.strays.rows();
    const parts::loop_log log(env.logs, p);
    parts::latest_region array(env.regions);
    for (std::uint32_t region = 0, slot = 0; region < max_regions; ++region) {
      if (!rows.has_array(region)) continue;
      for (std::uint32_t k = 0; k < rows.width; ++k, ++slot)
        if ((saved >> slot & 1) != 0)
          log.write_back(array, slot, parts::element_key(region, rows.row(p) + k), log.first_word(slot));
    }
  }

 private:
  GPUTM_INLINE bool may_be_stored_to(std::uint32_t number, std::uint32_t index) const {
    return (env_.ranges.of(number, index, offset_) & logged_) != 0;
  }
  GPUTM_INLINE bool owns(std::uint32_t number, std::uint32_t index) const {
    return rows_.has_array(number) & (index - row_ < rows_.width);
  }
  GPUTM_INLINE bool has_owner(std::uint32_t number, std::uint32_t index) const {
    return rows_.has(number, index, iterations_);
  }
  GPUTM_INLINE bool is_expected(std::uint32_t number, std::uint32_t index) const {
    return env_.strays.is_expected(env_.table.first[number] + index);
  }
  /// An element that nobody owns, of a range that may be stored to; `out` is what memory has.
  template <class T>
  GPUTM_INLINE bool load_where_strays_go(std::uint32_t number, std::uint32_t index, T& out) {
    if (!is_expected(number, index)) return true;
    const std::uint64_t key = parts::element_key(number, index);
    const std::uint32_t own = find_stray(env_, key, newest_);
    if (own != none) {
      out = parts::loop_log(env_.strays.log, own).template value<T>(0);
      return true;
    }
    return note_read(env_, key, position_);
  }
  /// Its owner must have stored before, if it does: so no higher position's, of which nobody knows whether it has read
  /// the element. Where nobody owns anything, who reads an element asks whether strays are expected.
  template <class T>
  GPUTM_INLINE bool store_elsewhere(std::uint32_t number, std::uint32_t index, const T& value) {
    const bool may = has_owner(number, index) ? rows_.owner(index) < position_ : is_expected(number, index);
    if (!may) return false;
    const std::uint32_t k = stray_to(env_, tag_, parts::element_key(number, index), position_, newest_);
    if (k == none) return false;
    if (newest_ == none || k > newest_) newest_ = k;
    parts::loop_log(env_.strays.log, k).set_value(0, value);
    return true;
  }

  // Apart, as all that few iterations come to.
  /// The stray to the element among those of an iteration, or none; `newest` may be none.
  static GPUTM_NOINLINE std::uint32_t find_stray(const loop_environment& env, std::uint64_t key, std::uint32_t newest) {
    std::uint32_t k = newest;
    GPUTM_NO_UNROLL
    while (k != none && parts::loop_log(env.strays.log, k).write_key(0) != key)
      k = simt::plain_load(env.strays.before[k]);
    return k;
  }
  static GPUTM_NOINLINE std::uint32_t strays_of(const loop_environment& env, std::uint32_t newest) {
    std::uint32_t n = 0;
    for (; newest != none; newest = simt::plain_load(env.strays.before[newest])) ++n;
    return n;
  }
  /// The same, or a new one; none if the list is full.
  static GPUTM_NOINLINE std::uint32_t stray_to(const loop_environment& env, std::uint32_t tag, std::uint64_t key,
                                               std::uint32_t position, std::uint32_t newest) {
    const std::uint32_t own = find_stray(env, key, newest);
    if (own != none) return own;
    const parts::stray_list& list = env.strays;
    const parts::writer_table table(env.table, tag);
    parts::writer_table::marking mark;
    table.prepare(mark, key, position);
    table.make(mark);
    parts::in_place_words& now = env.state->in_place;
    const std::uint32_t k = list.take(now, &parts::in_place_words::shard::strays, now.any_strays);
    table.settle(mark);
    if (k == none) return none;
    simt::plain_store(list.position[k], position);
    simt::plain_store(list.before[k], newest);
    parts::loop_log(list.log, k).set_write_key(0, key);
    return k;
  }
  /// False if their list is full.
  static GPUTM_NOINLINE bool note_read(const loop_environment& env, std::uint64_t key, std::uint32_t position) {
    const parts::stray_list& list = env.strays;
    parts::in_place_words& now = env.state->in_place;
    const std::uint32_t k = list.take(now, &parts::in_place_words::shard::reads, now.any_reads);
    if (k == none) return false;
    simt::plain_store(list.read_key[k], key);
    simt::plain_store(list.read_position[k], position);
    return true;
  }
};

}  // namespace gputm::speculation
