// Floor 3: how an iteration loads and stores when writes are deferred: its own writes first, then memory, or what a
// lower iteration is going to write.
#pragma once

#include "gputm/parts/window_view.hpp"
#include "gputm/parts/write_buffer.hpp"
#include "gputm/speculation/iteration.hpp"

namespace gputm::speculation {

/// Options::eager_check: look for lower writers at each load already, in a window that is wary. Options::forwarding:
/// take the value of one that this block has finished. Both are hints: the check that follows decides. Options::repair:
/// in a repair, take the value of the last lower writer.
template <class Options>
class deferred_access {
  parts::write_buffer writes_;
  const parts::window_view& view_;
  const std::uint32_t position_, logged_, repair_, window_;
  const bool eager_;
  std::uint32_t reads_ = 0, stored_ = 0, read_unlogged_ = 0, forwarded_ = 0;
  parts::overflow_kind overflow_ = parts::overflow_kind::none;
  bool late_ = false, crowded_ = false;

 public:
  GPUTM_INLINE deferred_access(const parts::window_view& view, std::uint32_t position, const parts::loop_window& w)
      : writes_(view.log(position)),
        view_(view),
        position_(position),
        logged_(w.logged),
        repair_(w.repair),
        window_(w.number),
        eager_(position != 0 && (w.repair != 0 || (Options::eager_check && w.wary))) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    const std::uint64_t key = parts::element_key(number, index);
    const std::uint32_t own = own_write(key, number);
    if (own != writes_.none) {
      out = writes_.log().template value<T>(own);
      return true;
    }
    if (!(logged_ >> number & 1u)) {
      read_unlogged_ |= 1u << number;
      out = parts::read_element<T>(r, index);
      return true;
    }
    if (reads_ == writes_.log().read_capacity()) return full(parts::overflow_kind::reads);
    out = parts::read_element<T>(r, index);  // whoever's value it will be: the latencies overlap
    const std::uint32_t source = eager_ ? view_.marked_below(key, position_) : parts::window_view::memory;
    late_ = source != parts::window_view::memory && !fetch(key, source, out);
    if (late_) return false;
    writes_.log().set_read(reads_++, key, source);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region&, std::uint32_t number, std::uint32_t index, const T& value) {
    const std::uint64_t key = parts::element_key(number, index);
    const std::uint32_t own = own_write(key, number);
    if (own != writes_.none) {
      writes_.replace(own, value);
      return true;
    }
    if (writes_.full()) return full(parts::overflow_kind::writes);
    const bool room = view_.table().mark(key, position_);
    writes_.add(key, value);
    stored_ |= 1u << number;
    if (room) return true;
    crowded_ = true;
    return first();  // the first iteration commits all the same, and alone
  }

  GPUTM_INLINE bool first() const { return position_ == 0; }
  GPUTM_INLINE parts::overflow_kind overflow() const { return overflow_; }
  GPUTM_INLINE std::uint64_t log_limit() const {
    return overflow_ == parts::overflow_kind::reads ? writes_.log().read_capacity() : writes_.log().write_capacity();
  }
  GPUTM_INLINE std::uint32_t reads() const { return reads_; }
  GPUTM_INLINE std::uint32_t writes() const { return writes_.size(); }
  GPUTM_INLINE std::uint32_t stored() const { return stored_; }
  GPUTM_INLINE std::uint32_t read_unlogged() const { return read_unlogged_; }
  GPUTM_INLINE std::uint32_t forwarded() const { return forwarded_; }
  GPUTM_INLINE bool crowded() const { return crowded_; }
  /// Why an attempt failed that is not the body's fault for certain.
  GPUTM_INLINE violation why() const {
    if (late_) return violation::raw;
    if (crowded_) return violation::crowded;
    return overflow_ != parts::overflow_kind::none ? violation::capacity : violation::body;
  }

 private:
  GPUTM_INLINE bool full(parts::overflow_kind which) {
    overflow_ = which;
    return false;
  }
  /// The entry of an element that this iteration has written, or none.
  GPUTM_INLINE std::uint32_t own_write(std::uint64_t key, std::uint32_t number) const {
    if (!(stored_ >> number & 1u) || !writes_.perhaps(key)) return writes_.none;
    // the table knows at once what a search of a long log would find out
    if (!crowded_ && view_.table().first_writer(key) > position_) return writes_.none;
    return writes_.find(key);
  }
  /// The deferred write of position `source`.
  template <class T>
  GPUTM_INLINE bool fetch(std::uint64_t key, std::uint32_t source, T& out) {
    if (source == parts::window_view::unknown || !readable(source)) return false;
    const parts::loop_log log = view_.log(source);
    const std::uint32_t entry = log.find_write(key, log.write_count());
    if (entry == log.none) return false;
    out = log.template value<T>(entry);
    ++forwarded_;
    return true;
  }
  /// Whether the log of position `q` is complete, and nobody is writing it.
  GPUTM_INLINE bool readable(std::uint32_t q) const {
    if (repair_ != 0) {  // dirty positions run; what an earlier pass has finished stays as it is
      const parts::position_status s = view_.log(q).status();
      if (!s.dirty && s.version < repair_) return true;
    }
    if constexpr (Options::forwarding) {
      if (q % simt::grid_threads() / simt::block_size() != simt::block_rank()) return false;
      const parts::position_status s = view_.log(q).acquire_status();
      return s.is_of(window_) && s.version == repair_ && !s.dirty;
    }
    return false;
  }
};

}  // namespace gputm::speculation
