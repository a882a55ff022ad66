// Floor 2: the deferred writes of one iteration: one entry an element, in the window's log.
#pragma once

#include <cstdint>

#include "gputm/parts/key_filter.hpp"
#include "gputm/parts/loop_log.hpp"

namespace gputm::parts {

class write_buffer {
  loop_log log_;
  key_filter<27> filter_;
  key_filter<22> other_filter_;
  std::uint32_t lowest_ = ~0u, highest_ = 0;  // indices; rows are stored to in turn, and read elsewhere
  std::uint32_t size_ = 0;

  /// Apart, and by value, as writer_table::claim_first().
  static GPUTM_NOINLINE std::uint32_t find_in(loop_log log, std::uint64_t key, std::uint32_t size) {
    return log.find_write(key, size);
  }

 public:
  static constexpr std::uint32_t none = loop_log::none;

  GPUTM_INLINE explicit write_buffer(const loop_log& log) : log_(log) {}
  GPUTM_INLINE const loop_log& log() const { return log_; }
  GPUTM_INLINE std::uint32_t size() const { return size_; }
  GPUTM_INLINE bool full() const { return size_ == log_.write_capacity(); }
  GPUTM_INLINE void clear() { *this = write_buffer(log_); }

  /// False if the element has not been written; true if it may have been.
  GPUTM_INLINE bool perhaps(std::uint64_t key) const {
    const std::uint32_t index = index_of(key);
    const bool within = (lowest_ <= index) & (index <= highest_);
    return within && filter_.perhaps(key) && other_filter_.perhaps(key);
  }
  /// The same for some of the elements of an array.
  template <std::size_t N>
  GPUTM_INLINE bool perhaps_any(std::uint32_t region, const std::uint32_t (&index)[N]) const {
    bool any = false;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) any |= perhaps(element_key(region, index[i]));
    return any;
  }
  /// The entry of the element, or none.
  GPUTM_INLINE std::uint32_t find(std::uint64_t key) const { return perhaps(key) ? find_in(log_, key, size_) : none; }
  template <class T>
  GPUTM_INLINE void replace(std::uint32_t i, const T& value) const {
    log_.set_value(i, value);
  }
  /// What has been written to the element; false if nothing has.
  template <class T>
  GPUTM_INLINE bool read(std::uint64_t key, T& out) const {
    const std::uint32_t own = find(key);
    if (own == none) return false;
    out = log_.template value<T>(own);
    return true;
  }
  /// Writes an element that has been written before; false if it has not.
  template <class T>
  GPUTM_INLINE bool rewrite(std::uint64_t key, const T& value) const {
    const std::uint32_t own = find(key);
    if (own == none) return false;
    replace(own, value);
    return true;
  }
  /// The caller has asked full() first.
  template <class T>
  GPUTM_INLINE void add(std::uint64_t key, const T& value) {
    log_.set_write_key(size_, key);
    log_.set_value(size_, value);
    const std::uint32_t index = index_of(key);
    lowest_ = index < lowest_ ? index : lowest_;
    highest_ = index > highest_ ? index : highest_;
    filter_.add(key);
    other_filter_.add(key);
    ++size_;
  }
  GPUTM_INLINE void write_back(const region_table& regions) const {
    latest_region array(regions);
    for (std::uint32_t i = 0; i < size_; ++i) log_.write_back(array, i, log_.write_key(i), log_.first_word(i));
  }
};

}  // namespace gputm::parts
