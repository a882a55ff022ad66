// Floor 2: an append-only log of entries of W 8-byte words. The first K entries live in registers (their
// indices are compile-time constants after unrolling), the others in the thread's columns.
#pragma once

#include <cstdint>

#include "gputm/parts/log_space.hpp"
#include "gputm/simt/config.hpp"

namespace gputm::parts {

template <unsigned W>
struct log_entry {
  std::uint64_t word[W];
};

template <unsigned W, unsigned K>
class word_log {
#if GPUTM_ON_DEVICE
  log_entry<W> first_[K];
#else
  log_entry<W> first_[K] = {};  // host compilers cannot see that no entry is used before it is set
#endif
  log_columns columns_;
  std::uint32_t start_ = 0;  // the first column of this log
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;

  GPUTM_INLINE log_entry<W> spilled(std::uint32_t i) const {
    log_entry<W> e;
    for (unsigned w = 0; w < W; ++w) e.word[w] = columns_[start_ + i * W + w];
    return e;
  }

 public:
  GPUTM_INLINE void attach(const log_columns& columns, std::uint32_t start, std::uint32_t capacity) {
    columns_ = columns;
    start_ = start;
    capacity_ = capacity;
  }
  GPUTM_INLINE void clear() { size_ = 0; }
  GPUTM_INLINE std::uint32_t size() const { return size_; }
  GPUTM_INLINE bool full() const { return size_ == capacity_; }
  GPUTM_INLINE std::uint32_t room() const { return capacity_ - size_; }

  /// Appends; the caller has asked full() first. Returns the entry's index.
  GPUTM_INLINE std::uint32_t push(const log_entry<W>& e) {
    if (size_ < K) {
      GPUTM_UNROLL
      for (unsigned k = 0; k < K; ++k)
        if (k == size_) first_[k] = e;
    } else {
      for (unsigned w = 0; w < W; ++w) columns_[start_ + size_ * W + w] = e.word[w];
    }
    return size_++;
  }
  GPUTM_INLINE log_entry<W> get(std::uint32_t i) const {
    if (i >= K) return spilled(i);
    log_entry<W> e = first_[0];
    GPUTM_UNROLL
    for (unsigned k = 1; k < K; ++k)
      if (k == i) e = first_[k];
    return e;
  }
  GPUTM_INLINE void set_word(std::uint32_t i, unsigned w, std::uint64_t value) {
    if (i >= K) {
      columns_[start_ + i * W + w] = value;
      return;
    }
    GPUTM_UNROLL
    for (unsigned k = 0; k < K; ++k)
      if (k == i) first_[k].word[w] = value;
  }
  /// The index of the register entry whose word 0 is `key`, or K.
  GPUTM_INLINE std::uint32_t find_in_registers(std::uint64_t key) const {
    std::uint32_t found = K;
    GPUTM_UNROLL
    for (unsigned k = 0; k < K; ++k)  // keys are unique
      if (k < size_ && first_[k].word[0] == key) found = k;
    return found;
  }
  /// Moves the register entries to the columns kept for them, or back: for work that needs them all there.
  GPUTM_INLINE void spill() const {
    GPUTM_UNROLL
    for (unsigned k = 0; k < K; ++k)
      for (unsigned w = 0; w < W; ++w) columns_[start_ + k * W + w] = first_[k].word[w];
  }
  GPUTM_INLINE void unspill() {
    GPUTM_UNROLL
    for (unsigned k = 0; k < K; ++k) first_[k] = spilled(k);
  }
  GPUTM_INLINE const log_columns& columns() const { return columns_; }
  GPUTM_INLINE std::uint32_t start() const { return start_; }

  /// Calls visit(index, entry) for entries [0, count) in order until it returns false; whether it never did.
  template <class Visit>
  GPUTM_INLINE bool each(std::uint32_t count, Visit visit) const {
    GPUTM_UNROLL
    for (unsigned k = 0; k < K; ++k)
      if (k < count && !visit(k, first_[k])) return false;
    GPUTM_NO_UNROLL
    for (std::uint32_t i = K; i < count; ++i)
      if (!visit(i, spilled(i))) return false;
    return true;
  }
};

}  // namespace gputm::parts
