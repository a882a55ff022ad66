// Floor 4: keeps what a transaction read and wrote, for the history checker (gputm/history.hpp). Each
// thread has a slice of device memory; an entry of an attempt is {begin, end, kind and accesses} followed
// by two words an access.
#pragma once

#include <cstdint>
#include <cstring>

#include "gputm/outcome.hpp"
#include "gputm/parts/control.hpp"

namespace gputm {

/// Keeps nothing and costs nothing.
struct null_recorder {
  struct storage {};
  GPUTM_INLINE explicit null_recorder(storage) {}
  GPUTM_INLINE void begin() {}
  template <class T>
  GPUTM_INLINE void read(std::uint32_t, std::uint32_t, const T&) {}
  template <class T>
  GPUTM_INLINE void write(std::uint32_t, std::uint32_t, const T&) {}
  GPUTM_INLINE void end(outcome, bool) {}
  GPUTM_INLINE void close() {}
};

class history_recorder {
 public:
  /// Header words of an attempt: begin, end, how it ended << 32 | accesses.
  static constexpr std::uint32_t header_words = 3, access_words = 2;
  enum class ended : std::uint32_t { committed, cancelled, aborted };

  struct storage {
    std::uint64_t* clock;  ///< real time: drawn before begin and after return
    std::uint64_t* words;  ///< slices of `capacity` words; word 0 is how many are in use
    std::uint64_t capacity;
    parts::control* control;
  };

  GPUTM_INLINE explicit history_recorder(storage s) : s_(s), mine_(s.words + simt::grid_thread_rank() * s.capacity) {
    used_ = s.capacity == 0 || mine_[0] == 0 ? 1 : mine_[0];
  }
  GPUTM_INLINE void begin() {
    accesses_ = 0;
    full_ = used_ + header_words > s_.capacity;
    // acq_rel: draws of the same counter are ordered as the attempts around them; pairs with end()
    if (!full_) mine_[used_] = simt::atomic(*s_.clock).fetch_add(1, simt::order::acq_rel);
  }
  template <class T>
  GPUTM_INLINE void read(std::uint32_t handle, std::uint32_t index, const T& value) {
    add(0, handle, index, value);
  }
  template <class T>
  GPUTM_INLINE void write(std::uint32_t handle, std::uint32_t index, const T& value) {
    add(std::uint64_t{1} << 63, handle, index, value);
  }
  GPUTM_INLINE void end(outcome said, bool took_effect) {
    if (full_) {
      parts::report_fault(*s_.control, parts::fault::history_full, 0, s_.capacity, 0, 0);
      return;
    }
    const ended how = !took_effect ? ended::aborted : said == outcome::commit ? ended::committed : ended::cancelled;
    // acq_rel: pairs with begin()
    mine_[used_ + 1] = simt::atomic(*s_.clock).fetch_add(1, simt::order::acq_rel);
    mine_[used_ + 2] = static_cast<std::uint64_t>(how) << 32 | accesses_;
    used_ += header_words + accesses_ * access_words;
  }
  GPUTM_INLINE void close() {
    if (s_.capacity != 0) mine_[0] = used_;
  }

  /// What stands for a value in a history, also for initial and final ones that a user states: the value itself up to 8
  /// bytes, else a hash of all of them, which is 0 if they are all zero.
  template <class T>
  static GPUTM_FN std::uint64_t digest(const T& value) {
    constexpr std::uint32_t n = (sizeof(T) + 7) / 8;
    std::uint64_t words[n] = {};
    memcpy(words, &value, sizeof value);
    std::uint64_t h = words[0];
    for (std::uint32_t k = 1; k < n; ++k) h = mixed(h) + words[k];
    return h;
  }

 private:
  /// One-to-one, mixes all bits, and leaves 0 as it is.
  static GPUTM_FN std::uint64_t mixed(std::uint64_t h) {
    h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 29) * 0x94d049bb133111ebu;
    return h ^ h >> 32;
  }

  storage s_;
  std::uint64_t* mine_;
  std::uint64_t used_ = 1;
  std::uint32_t accesses_ = 0;
  bool full_ = false;

  template <class T>
  GPUTM_INLINE void add(std::uint64_t kind, std::uint32_t handle, std::uint32_t index, const T& value) {
    const std::uint64_t at = used_ + header_words + accesses_ * access_words;
    full_ = full_ || at + access_words > s_.capacity;
    if (full_) return;
    mine_[at] = kind | static_cast<std::uint64_t>(handle & 255u) << 32 | index;
    mine_[at + 1] = digest(value);
    ++accesses_;
  }
};

}  // namespace gputm
