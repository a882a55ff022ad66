// Floor 3: how an iteration loads and stores in a pass in place (in_place_pass.hpp).
#pragma once

#include <type_traits>

#include "gputm/speculation/concept.hpp"
#include "gputm/speculation/ranged_access.hpp"

namespace gputm::speculation {

/// What positions have saved in a pass by rows.
struct saved_by_rows {
  /// Bits of what they own: if one has saved all of it, there need be no word of that.
  static GPUTM_INLINE std::uint32_t all(const loop_environment& env) { return env.in_place.rows().all_pieces(); }
  /// What position `p` has saved goes back to where it was.
  static GPUTM_NOINLINE void put_back(const loop_environment& env, std::uint32_t p, std::uint32_t saved) {
    const parts::saved_values before(env.in_place.saved, p);
    parts::latest_region array(env.regions);
    const parts::owned_rows rows = env.in_place.rows();
    const std::uint32_t bits = rows.piece_bits(), offset = simt::plain_load(env.table.past->offset);
    const std::uint32_t stored_to = simt::plain_load(env.table.past->calm);  // as in_place_window::logged
    GPUTM_NO_UNROLL
    for (std::uint32_t region = 0, slot = 0; region < max_regions; ++region) {
      if (!rows.has_array(region)) continue;
      const std::uint32_t length = env.regions.regions[region].length;
      GPUTM_NO_UNROLL
      for (std::uint32_t k = 0; k < rows.width; ++k, ++slot) {
        const std::uint32_t index = rows.row(p) + k;
        // pieces may go beyond their array, or have elements that others read, since nobody may store there
        const bool is_saved = (saved >> (slot >> bits) & 1) != 0 && index < length;
        if (is_saved && (env.ranges.of(region, index, offset) & stored_to) != 0)
          before.put_back(array, slot, parts::element_key(region, index));
      }
    }
  }
};
/// The same in one by lists.
struct saved_by_list {
  static GPUTM_INLINE std::uint32_t all(const loop_environment& env) { return parts::owned_list::all_slots(env.logs); }
  static GPUTM_NOINLINE void put_back(const loop_environment& env, std::uint32_t p, std::uint32_t saved) {
    const parts::saved_values before(env.in_place.saved, p);
    parts::latest_region array(env.regions);
    const parts::owned_list own(env.logs, p);
    GPUTM_NO_UNROLL
    for (; saved != 0; saved &= saved - 1) {
      const std::uint32_t slot = simt::lowest(saved);
      before.put_back(array, slot, own.key(slot));
    }
  }
};

/// One iteration's. What it owns, by its list (owned_list) or by rows, it reads and stores in memory, and keeps what
/// was there; of a wide row piece by piece, of which it need not store to all. A store elsewhere is deferred, and marks
/// its element. It may read what nobody owns: if a stray to it is expected, that marks it, too, unless the element is
/// in its row of reads. Whatever else it wants gives it away: then the whole pass comes to nothing.
template <in_place_kind Kind>
class in_place_access : public ranged_access {
  static constexpr bool by_list = Kind == in_place_kind::lists, may_be_wide = Kind == in_place_kind::any_rows;
  static constexpr std::uint32_t none = parts::stray_space::none;
  static_assert(none == parts::owned_list::none);

  const parts::owned_rows rows_;
  const std::uint32_t iterations_, row_, expected_;
  const std::uint32_t read_arrays_, read_row_, read_width_;
  std::uint32_t saved_ = 0;      ///< bits of what it owns and has stored to: what was there before is saved
  std::uint32_t stores_ = 0;     ///< to what it owns, if rows may be wide
  std::uint32_t strays_ = 0;     ///< elements elsewhere that it has stored to
  std::uint32_t newest_ = none;  ///< of these strays
  // Most iterations store in the order of their lists: the entry that is next then, and its number. It is loaded before
  // it is needed.
  std::uint32_t next_ = 0;
  std::uint64_t entry_;

 public:
  GPUTM_INLINE in_place_access(const loop_environment& env, const in_place_window& w, std::uint32_t position)
      : ranged_access(env, w, position),
        rows_(w.rows),
        iterations_(w.iterations),
        row_(w.rows.row(position)),
        expected_(w.strays),
        read_arrays_(w.reads.arrays),
        read_row_(w.reads.row(position)),
        read_width_(w.reads.width),
        entry_(by_list ? list().key_or_end(0) : 0) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    const bool settled = !may_have_changed(number, index) || owns(number, index);
    // of what another iteration owns nobody knows whether that one has stored to it
    if (!settled && has_owner(number, index)) return false;
    out = parts::read_element<T>(r, index);
    return settled || load_where_strays_go(number, index, out);
  }
  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t number, std::uint32_t index, const T& value) {
    if (!may_be_stored_to(number, index)) return false;
    const std::uint32_t slot = slot_of(number, index);
    if (slot == none) return store_elsewhere(number, index, value);
    const std::uint32_t bits = piece_bits(), piece = slot >> bits;
    if constexpr (may_be_wide) ++stores_;
    if ((saved_ >> piece & 1) == 0) {
      saved_ |= 1u << piece;
      const parts::saved_values before(env_.in_place.saved, position_);
      before.set(slot, parts::read_element<T>(r, index));
      if (bits != 0) save_others<T>(r, before, piece << bits, slot);
    }
    parts::write_element(r, index, value);
    return true;
  }

  /// All threads of a block call it before they begin, if strays are expected.
  static GPUTM_INLINE void begin_block(const loop_environment& env) {
    block_strays& strays = strays_of_block();
    if (simt::thread_rank() == 0) {
      simt::plain_store(strays.begun, 0);
      simt::plain_store(strays.share, simt::plain_load(env.in_place.past->share));
    }
    simt::sync_block();
  }
  static constexpr bool has_rows = !by_list;
  static constexpr std::uint32_t long_loop = 1u << 21;
  /// Called before a body. Iterations of a long loop find their elements in no cache, and wait for one access after
  /// another; so they ask beforehand for the lines where what they own begins. Short ones gain nothing.
  GPUTM_INLINE void ask_for_own() const {
    if (iterations_ < long_loop) return;
    GPUTM_NO_UNROLL
    for (std::uint32_t arrays = rows_.arrays; arrays != 0; arrays &= arrays - 1) {
      const region& r = env_.regions.regions[simt::lowest(arrays)];
      if (row_ < r.length) simt::prefetch(r.data + std::uint64_t{row_} * r.element_bytes);
    }
  }

  GPUTM_INLINE bool has_strayed() const { return strays_ != 0; }
  /// Whether it has stored to more elements than it may, or perhaps has: of a wide row nobody knows to how many.
  GPUTM_INLINE bool exceeds() const {
    if (!has_strayed()) return false;
    const std::uint32_t saved = simt::count(saved_) << piece_bits();
    return (may_be_wide && stores_ < saved ? stores_ : saved) + strays_ > env_.logs.writes;
  }
  GPUTM_INLINE bool may_be_postponed() const { return false; }
  GPUTM_INLINE bool postpone() const { return false; }
  /// At its end. `cancelled`: it changes nothing; it has not strayed.
  GPUTM_INLINE void leave(bool cancelled) {
    if (cancelled) {
      std::conditional_t<by_list, saved_by_list, saved_by_rows>::put_back(env_, position_, saved_);
      saved_ = 0;
    }
    if (saved_ != all_bits()) parts::saved_values(env_.in_place.saved, position_).set_bits(tag_, saved_);
  }

 private:
  /// Of what it owns.
  GPUTM_INLINE std::uint32_t all_bits() const {
    if constexpr (by_list) return parts::owned_list::all_slots(env_.logs);
    return may_be_wide ? rows_.all_pieces() : rows_.all_slots();
  }
  GPUTM_INLINE std::uint32_t piece_bits() const { return may_be_wide ? rows_.piece_bits() : 0; }
  /// Saves what is in the piece that begins with slot `first`, which is of one array, but for the one slot.
  template <class T>
  GPUTM_INLINE void save_others(const region& r, const parts::saved_values& before, std::uint32_t first,
                                std::uint32_t but) const {
    const std::uint32_t end = first + (1u << piece_bits());
    GPUTM_NO_UNROLL
    for (std::uint32_t slot = first; slot < end; ++slot) {
      const std::uint32_t index = row_ + slot;
      if (slot != but && slot < rows_.width && index < r.length) before.set(slot, parts::read_element<T>(r, index));
    }
  }
  /// Of a load: whether iterations may store to the element in this pass. Lists tell of single elements.
  GPUTM_INLINE bool may_have_changed(std::uint32_t number, std::uint32_t index) const {
    if constexpr (by_list) return may_be_stored_to(number, index) && role(number, index) != 0;
    return may_be_stored_to(number, index);
  }
  GPUTM_INLINE std::uint32_t role(std::uint32_t number, std::uint32_t index) const {
    return env_.in_place.role(env_.table.number(number, index));
  }
  GPUTM_INLINE parts::owned_list list() const { return {env_.logs, position_}; }
  GPUTM_INLINE bool owns(std::uint32_t number, std::uint32_t index) const {
    if constexpr (by_list) return has_owner(number, index) && list().find(parts::element_key(number, index)) != none;
    return rows_.has_array(number) & (index - row_ < rows_.width);
  }
  /// Of what it owns, else none.
  GPUTM_INLINE std::uint32_t slot_of(std::uint32_t number, std::uint32_t index) {
    if constexpr (!by_list) return owns(number, index) ? rows_.slot(number, index - row_) : none;
    const std::uint64_t key = parts::element_key(number, index);
    if (parts::loop_log::element(entry_) != key) return list().find(key);
    const std::uint32_t slot = parts::loop_log::counts(entry_) ? next_ : none;
    entry_ = list().key_or_end(++next_);
    return slot;
  }
  GPUTM_INLINE bool has_owner(std::uint32_t number, std::uint32_t index) const {
    if constexpr (by_list) return (role(number, index) & parts::in_place_space::owned) != 0;
    return rows_.has(number, index, iterations_);
  }
  GPUTM_INLINE bool is_expected(std::uint32_t number, std::uint32_t index) const {
    return (expected_ & in_place_window::to_nobodys) != 0 &&
           ((expected_ & in_place_window::anywhere) != 0 ||
            env_.in_place.is_expected(env_.table.number(number, index)));
  }
  /// An element that nobody owns, of a range that may be stored to; `out` is what memory has.
  template <class T>
  GPUTM_INLINE bool load_where_strays_go(std::uint32_t number, std::uint32_t index, T& out) {
    const bool in_row = ((read_arrays_ >> number & 1) != 0) & (index - read_row_ < read_width_);
    if (in_row ? newest_ == none : !is_expected(number, index)) return true;
    const std::uint64_t key = parts::element_key(number, index);
    const std::uint32_t own = find_stray(env_, key, newest_);
    if (own != none) {
      out = parts::stray_entry(env_.in_place.strays, own).template value<T>();
    } else if (!in_row) {
      parts::writer_table(env_.table, tag_).mark_read(key, position_);
      // relaxed: the next kernel reads it
      if (read_arrays_ != 0) simt::atomic(env_.state->in_place.marked).store(1, simt::order::relaxed);
    }
    return true;
  }
  /// Going by rows of reads; other reads leave marks.
  GPUTM_INLINE bool is_read_by_none_above(std::uint32_t number, std::uint32_t index) const {
    return read_arrays_ == 0 || env_.in_place.reads().is_none_above(number, index, position_, iterations_);
  }
  /// Its owner must have stored before, if it does: so no higher position's, of which nobody knows whether it has read
  /// the element. Where nobody owns anything, who reads an element asks whether strays are expected. Lists do not say
  /// which iteration an element's owner is, and there rows have nobody's below this one.
  template <class T>
  GPUTM_INLINE bool store_elsewhere(std::uint32_t number, std::uint32_t index, const T& value) {
    if ((expected_ & in_place_window::any) == 0) return false;
    const bool may = has_owner(number, index) ? rows_.is_below(index, position_)
                                              : is_expected(number, index) && is_read_by_none_above(number, index);
    if (!may) return false;
    const std::uint64_t key = parts::element_key(number, index);
    std::uint32_t k = find_stray(env_, key, newest_);
    if (k == none) {
      if (strays_++ == env_.logs.writes) return false;  // others would be looked for among too many
      k = begin_stray(env_, tag_, key, position_, newest_);
      if (k == none) return false;
      newest_ = k;
    }
    parts::stray_entry(env_.in_place.strays, k).set_value(value);
    return true;
  }

  struct block_strays {
    std::uint32_t begun;
    std::uint32_t share;  ///< in_place_past::share
  };
  static GPUTM_INLINE block_strays& strays_of_block() { return simt::shared<in_place_access, block_strays>(); }

  // Few iterations come to these two. But if they were compiled apart, a pass would need more registers, and they would
  // have to load the kernel's parameters from memory.
  /// The stray to the element among those of an iteration, or none; `newest` may be none.
  static GPUTM_INLINE std::uint32_t find_stray(const loop_environment& env, std::uint64_t key, std::uint32_t newest) {
    std::uint32_t k = newest;
    GPUTM_NO_UNROLL
    while (k != none) {
      const parts::stray_entry stray(env.in_place.strays, k);
      if (stray.key_of(stray.key_word()) == key) break;
      k = stray.before();
    }
    return k;
  }
  /// A new one; none if there is no room.
  static GPUTM_INLINE std::uint32_t begin_stray(const loop_environment& env, std::uint32_t tag, std::uint64_t key,
                                                std::uint32_t position, std::uint32_t before) {
    // relaxed, both: all that matters is who gets which entry, and the next kernel reads them
    block_strays& strays = strays_of_block();
    std::uint32_t k = simt::atomic<simt::scope::block>(strays.begun).fetch_add(1, simt::order::relaxed);
    const parts::stray_shares shares = env.in_place.shares(simt::plain_load(strays.share));
    if (k < shares.of_block) {
      k += simt::block_rank() * shares.of_block;
    } else {
      k = simt::atomic(env.state->in_place.more).fetch_add(1, simt::order::relaxed);
      if (k >= shares.more) return none;
      k += shares.of_blocks;
    }
    parts::writer_table(env.table, tag).mark_write(key, position);
    parts::stray_entry(env.in_place.strays, k).begin(key, position, before);
    return k;
  }
};

}  // namespace gputm::speculation
