// Floor 3: how an iteration loads and stores when writes are deferred: its own writes first, then memory, or what a
// lower iteration is going to write.
#pragma once

#include "gputm/parts/abort_reason.hpp"
#include "gputm/speculation/repair_view.hpp"
#include "gputm/speculation/row_access.hpp"

namespace gputm::speculation {

/// Options::eager_check: look for lower writers at each single load already, in a window that is wary.
/// Options::forwarding: take the value of one that this block has finished. Both are hints: the check that follows
/// decides. Options::repair: in a repair, take the value of the last lower writer, which repair_view::find_sources()
/// may have noted beforehand; if that is to run again as well, wait for it a while, with Options::forwarding.
template <class Options, pass Kind>
class deferred_access : public row_access<Kind> {
  using base = row_access<Kind>;
  using base::awaited_, base::found_, base::forwarded_, base::logged_, base::marker_, base::not_first_, base::offset_;
  using base::calm, base::dense, base::repair, base::spread;
  using base::early, base::has_changed, base::has_strayed, base::is_crowded, base::too_many_reads,
      base::too_many_writes;
  using base::full, base::has, base::room_for_reads, base::trouble_;
  using base::overlaps_, base::peeks_, base::position_, base::ranges_, base::reads_, base::repair_, base::tag_,
      base::view_, base::writes_;
  static constexpr bool eager = repair || (!calm && Options::eager_check);
  static constexpr bool tells = repair && !dense;  // the value of an only write; others would have no register
  static constexpr std::uint64_t no_key = parts::loop_log::absent;
  static constexpr std::uint32_t no_entry = parts::loop_log::none;

  using those_of_repair = repair_view<Options::forwarding>;
  using progress = typename those_of_repair::progress;
  const std::uint32_t looks_;
  std::uint32_t noted_ = 0;      // of a dense repair: so many reads tell whose value they are to take
  std::uint64_t note_ = no_key;  // what the next one of them tells: asked for before it is needed
  bool all_there_ = false;       // and whether all those values are there
  const std::uint32_t known_;    // of a repair: how many writes the run before has left in the log
  std::uint64_t known_key_;      // the element of the next one of them
  std::uint32_t stored_ = 0;     // the latest value, if it has room here, and somebody is to be told

 public:
  GPUTM_INLINE deferred_access(const parts::window_view& view, const parts::element_ranges& ranges,
                               parts::writer_marker& marker, std::uint32_t position, const parts::loop_window& w,
                               std::uint32_t patience, bool guest = false)
      : base(view, ranges, marker, position, w, guest),
        looks_(repair && !dense && !(spread && w.gathers()) ? w.patience(patience) : 0),
        known_(repair && !guest ? writes_.log().write_count() : 0),
        known_key_(repair ? known_key(0) : 0) {}
  using base::first, base::is_guest;

  /// So many of the reads tell whose value they are to take (repair_view::find_sources); whether all those values are
  /// there, and may be read.
  GPUTM_INLINE void know_sources(std::uint32_t reads, bool are_there) {
    noted_ = reads;
    all_there_ = are_there;
    next_note();
  }

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    if (is_guest()) return read_unlogged(r, index, 0, out);
    const std::uint64_t key = parts::element_key(number, index);
    const std::uint32_t range = ranges_.of(number, index, offset_);
    if (((found_.stored | logged_) & range) == 0) return read_unlogged(r, index, range, out);
    if ((found_.stored & range) != 0) {
      const std::uint32_t own = own_write(key);
      if (own != writes_.none) {
        out = writes_.log().template value<T>(own);
        return true;
      }
    }
    if (overlaps_ && (logged_ & range) != 0) {  // somebody may be writing it back, even if this is the first iteration
      found_.flags |= parts::loop_findings::overlap_failed;
      return false;
    }
    if ((logged_ & range) == 0) return read_unlogged(r, index, range, out);
    marker_.make();
    if (room_for_reads() == 0) return first() ? read_unlogged(r, index, range, out) : full(too_many_reads);
    found_.read_logged |= range & not_first_;
    out = parts::read_element<T>(r, index);  // whoever's value it will be: the latencies overlap
    if (peeks_ && view_.table().has_mark(key)) found_.flags |= parts::loop_findings::peeked;
    const bool is_noted = dense && reads_ < noted_ && parts::loop_log::key_of_read(note_) == key;
    std::uint32_t source = is_noted ? parts::loop_log::source_of_read(note_)
                           : eager  ? guess_source(key)
                                    : parts::window_view::memory;
    if (source != parts::window_view::memory && !fetch(key, source, out, is_noted)) {
      if (repair || !Options::forwarding) {
        trouble_ |= early;
        return false;  // it runs again
      }
      source = parts::window_view::memory;  // it will be found out; but what it writes is marked and listed
    }
    if constexpr (calm)
      writes_.log().set_calm_read(reads_++, key);
    else
      writes_.log().set_read(reads_++, key, source, is_noted ? parts::loop_log::entry_of_source(note_) : no_entry);
    if constexpr (dense) next_note();
    return true;
  }
  static constexpr unsigned loads_at_once = 8;
  static constexpr bool full_groups_only = !calm;  // most reads of a repair are of what lower positions write
  /// Of elements that this iteration has not written, nor, in a repair, a lower one of the window; if the log has room,
  /// and the window does not overlap commits of what it would log.
  template <class T, std::size_t N>
  GPUTM_INLINE bool load_some(const region& r, std::uint32_t number, const std::uint32_t (&index)[N], std::uint32_t n,
                              T (&out)[N]) {
    if (is_guest()) return false;
    std::uint32_t ranges = 0;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) ranges |= ranges_.of(number, index[i], offset_);
    if ((found_.stored & ranges) != 0 && writes_.perhaps_any(number, index)) return false;
    const bool logged = (logged_ & ranges) != 0;
    if (overlaps_ && logged) return false;
    marker_.make();
    const bool has_room = room_for_reads() >= n;
    if (!logged || (first() && !has_room)) {
      found_.read_unlogged |= ranges & not_first_;
      parts::read_elements(r, index, out);
      return true;
    }
    if (!has_room) return false;
    parts::read_elements(r, index, out);
    std::uint64_t key[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) key[i] = parts::element_key(number, index[i]);
    // a first pass rarely finds a value that is there already, and looking for it takes as long as loading
    if (repair && view_.table().any_below(key, position_)) return false;
    found_.read_logged |= ranges & not_first_;
    if (peeks_) found_.flags |= parts::loop_findings::peeked;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      if (i >= n) continue;
      if constexpr (calm)
        writes_.log().set_calm_read(reads_ + i, key[i]);
      else
        writes_.log().set_read(reads_ + i, key[i], parts::window_view::memory);
    }
    reads_ += n;
    if constexpr (dense) next_note();
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region&, std::uint32_t number, std::uint32_t index, const T& value) {
    if (is_guest()) return false;
    const std::uint64_t key = parts::element_key(number, index);
    const std::uint32_t range = ranges_.of(number, index, offset_);
    if ((found_.stored & range) != 0) {
      const std::uint32_t own = own_write(key);
      if (own != writes_.none) {
        writes_.replace(own, value);
        keep(value);
        return true;
      }
    }
    if (writes_.full()) return full(too_many_writes);
    if (!repair || key != known_key_) {  // what the run before has written is marked, and listed if that is needed
      const bool room = marker_.mark(key, position_);
      if (!room) {
        trouble_ |= is_crowded;
        if (!first()) return false;  // the first iteration commits all the same, and alone
      }
      if constexpr (repair) change();
    }
    if constexpr (repair) known_key_ = known_key(writes_.size() + 1);
    writes_.add(key, value);
    keep(value);
    found_.stored |= range;
    return true;
  }

  GPUTM_INLINE parts::overflow_kind overflow() const {
    if (has(too_many_reads)) return parts::overflow_kind::reads;
    return has(too_many_writes) ? parts::overflow_kind::writes : parts::overflow_kind::none;
  }
  GPUTM_INLINE std::uint64_t write_limit() const { return writes_.log().write_capacity(); }
  GPUTM_INLINE std::uint32_t reads() const { return reads_; }
  GPUTM_INLINE std::uint32_t writes() const { return writes_.size(); }
  GPUTM_INLINE const parts::loop_findings& found() const { return found_; }
  /// Whether it has written something else than in an earlier run, and so lists may not be complete.
  GPUTM_INLINE bool strayed() const { return has(has_strayed); }
  /// How many writes the log has in the end. In a repair, one that came too early for what it reads leaves those of the
  /// run before it: it runs again, and most likely writes to the same elements.
  GPUTM_INLINE std::uint32_t writes_left(bool committed) const {
    return committed ? writes_.size() : repair && has(early) ? known_ : 0;
  }
  /// Of a repair: whether the elements that it writes are not those of the run before it.
  GPUTM_INLINE bool differs(bool committed) const { return has(has_changed) || writes_left(committed) != known_; }
  /// Of a repair that is not dense: the value that its status can tell, if there is one.
  GPUTM_INLINE void tell_value(bool committed, parts::position_status& s) const {
    s.has_value = committed && writes_.size() == 1 && !differs(committed);
    s.value = stored_;
  }
  GPUTM_INLINE std::uint32_t forwarded() const { return forwarded_; }
  GPUTM_INLINE bool crowded() const { return has(is_crowded); }
  /// Of a repair: whether it has failed for want of a value; the position that had yet to run then, and would have had
  /// it, or memory.
  GPUTM_INLINE bool came_early() const { return has(early); }
  GPUTM_INLINE std::uint32_t awaited() const { return awaited_; }
  /// Why an attempt failed that is not the body's fault for certain.
  GPUTM_INLINE violation why() const {
    if (has(early)) return violation::raw;
    if (crowded()) return violation::crowded;
    return overflow() != parts::overflow_kind::none ? violation::capacity : violation::body;
  }

 private:
  template <class T>
  GPUTM_INLINE bool read_unlogged(const region& r, std::uint32_t index, std::uint32_t range, T& out) {
    marker_.make();
    found_.read_unlogged |= range & not_first_;
    out = parts::read_element<T>(r, index);
    return true;
  }
  template <class T>
  GPUTM_INLINE void keep([[maybe_unused]] const T& value) {
    if constexpr (tells && sizeof(T) <= sizeof stored_) memcpy(&stored_, &value, sizeof value);
  }
  /// The entry of an element that this iteration has written, or none; it has written some of the same range.
  GPUTM_INLINE std::uint32_t own_write(std::uint64_t key) const {
    if (!writes_.perhaps(key)) return writes_.none;
    marker_.make();  // it may be this element's
    // the table knows at once what a search of a long log would find out
    if (!crowded() && view_.table().first_writer(key) > position_) return writes_.none;
    return writes_.find(key);
  }
  /// The element of write `i` of the run before, or none: asked for before it is needed.
  GPUTM_INLINE std::uint64_t known_key(std::uint32_t i) const {
    return i < known_ ? parts::loop_log::element(writes_.log().write_key(i)) : no_key;
  }
  /// The next write is none that the run before has left. Lists have what several positions write. If nobody knows yet
  /// that this one is one of them, the one that marks second finds out (writer_marker::several).
  GPUTM_INLINE void change() {
    trouble_ |= has_changed;
    if (view_.table().is_contested_yet(position_)) trouble_ |= has_strayed;
  }
  GPUTM_INLINE those_of_repair others() const { return {view_, tag_, repair_}; }
  /// Who, as far as can be seen now, writes the element last below this position.
  GPUTM_INLINE std::uint32_t guess_source(std::uint64_t key) const {
    return repair ? others().source_of(key, position_) : view_.marked_below(key, position_);
  }
  GPUTM_INLINE void next_note() { note_ = reads_ < noted_ ? writes_.log().read_entry(reads_) : no_key; }
  /// The deferred write of position `source`, if that is known; `is_noted`: the note of this read tells it.
  template <class T>
  GPUTM_INLINE bool fetch(std::uint64_t key, std::uint32_t source, T& out, bool is_noted) {
    if (source >= parts::writer_table::none) return false;  // unknown
    if constexpr (!repair) {
      if (!readable(source)) return false;
    } else if (!(is_noted && all_there_)) {
      parts::position_status its;
      const progress so_far = await(source, its);
      if (!those_of_repair::has_run(so_far)) return false;
      if constexpr (tells && sizeof(T) <= sizeof its.value) {
        if (its.has_value && view_.marks_hold()) {  // so what it writes alone is what it has marked alone
          memcpy(static_cast<void*>(&out), &its.value, sizeof out);
          ++forwarded_;
          return true;
        }
      }
      if (so_far == progress::done && !those_of_repair::has_run(others().acquire(source))) return false;
    }
    const parts::loop_log log = view_.log(source);
    if constexpr (dense) {
      const std::uint32_t likely = is_noted ? parts::loop_log::entry_of_source(note_) : log.none;
      if (likely != log.none && fetch_entry(log, likely, key, out)) return true;
    }
    const std::uint32_t entry = log.find_write(key, log.write_count());
    if (entry == log.none) return false;
    out = log.template value<T>(entry);
    ++forwarded_;
    return true;
  }
  /// What entry `i` of a log has, if it is of this element; the loads overlap.
  template <class T>
  GPUTM_INLINE bool fetch_entry(const parts::loop_log& log, std::uint32_t i, std::uint64_t key, T& out) {
    const std::uint32_t count = log.write_count();
    const std::uint64_t its = log.write_key(i);
    const T value = log.template value<T>(i);
    if (i >= count || its != key) return false;
    out = value;
    ++forwarded_;
    return true;
  }
  /// Whether the log of position `q` is complete, and nobody is writing it.
  GPUTM_INLINE bool readable(std::uint32_t q) const {
    if constexpr (Options::forwarding) {
      if (q % simt::grid_threads() / simt::block_size() != simt::block_rank()) return false;
      const parts::position_status s = view_.log(q).last_status();
      view_.log(q).template acquire<simt::scope::block>();
      return s.tag == tag_ && s.version == repair_ && !s.dirty;
    }
    return false;
  }
  /// What has become of position `q` in a repair, as its status has it, after some more looks if it has yet to run. Who
  /// waits has a higher position, and threads run theirs in order, so that nobody waits for one that waits for him.
  GPUTM_INLINE progress await(std::uint32_t q, parts::position_status& status) {
    status = view_.log(q).status(tag_);
    progress its = others().of_status(status);
    std::uint32_t ns = 20;
    GPUTM_NO_UNROLL
    for (std::uint32_t more = looks_; its == progress::pending && more != 0; --more) {
      simt::backoff(ns);
      if constexpr (Kind == pass::spread) {  // lanes go one after another: who has waited longer sleeps longer
        constexpr std::uint32_t most_ns = 1000;
        if (ns < most_ns) ns += 64;
      }
      status = view_.log(q).status(tag_);
      its = others().of_status(status);
    }
    if (its == progress::pending) awaited_ = q;
    return its;
  }
};

}  // namespace gputm::speculation
