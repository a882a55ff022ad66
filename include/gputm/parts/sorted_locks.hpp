// Floor 2: a set of spin locks, taken in the order of their addresses. Up to K in registers.
#pragma once

#include <cstdint>

#include "gputm/parts/log_space.hpp"
#include "gputm/parts/word_log.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

template <unsigned K>
class sorted_locks {
  word_log<1, K> locks_;
  std::uint32_t missing_ = 0;  // entries that there was no room for

  GPUTM_INLINE std::uint64_t at(std::uint32_t i) const { return locks_.get(i).word[0]; }
  GPUTM_INLINE void order_pair(std::uint32_t i, std::uint32_t j) {
    const std::uint64_t a = at(i), b = at(j);
    if (b < a) {
      locks_.set_word(i, 0, b);
      locks_.set_word(j, 0, a);
    }
  }
  static GPUTM_INLINE void sift(const log_columns& a, std::uint32_t base, std::uint32_t root, std::uint32_t end) {
    const std::uint64_t moved = a[base + root];
    for (std::uint32_t child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && a[base + child] < a[base + child + 1]) ++child;
      if (a[base + child] <= moved) break;
      a[base + root] = a[base + child];
    }
    a[base + root] = moved;
  }
  static GPUTM_NOINLINE void heap_sort(log_columns a, std::uint32_t base, std::uint32_t n) {
    for (std::uint32_t i = n / 2; i-- > 0;) sift(a, base, i, n);
    for (std::uint32_t end = n; end-- > 1;) {
      const std::uint64_t largest = a[base];
      a[base] = a[base + end];
      a[base + end] = largest;
      sift(a, base, 0, end);
    }
  }
  GPUTM_INLINE bool ascending() const {
    std::uint64_t last = 0;
    return locks_.each(locks_.size(), [&](std::uint32_t, const log_entry<1>& e) {
      const bool ok = last <= e.word[0];
      last = e.word[0];
      return ok;
    });
  }
  GPUTM_INLINE void sort() {
    if (locks_.size() <= K) {
      GPUTM_UNROLL
      for (unsigned i = 1; i < K; ++i) {
        GPUTM_UNROLL
        for (unsigned j = i; j > 0; --j)
          if (i < locks_.size()) order_pair(j - 1, j);
      }
    } else if (!ascending()) {
      locks_.spill();
      heap_sort(locks_.columns(), locks_.start(), locks_.size());
      locks_.unspill();
    }
  }
  static GPUTM_INLINE bool try_lock(std::uint64_t lock) {
    std::uint32_t free = 0;  // relaxed: the caller's acquire fence follows
    return simt::atomic(*reinterpret_cast<std::uint32_t*>(lock)).compare_exchange(free, 1u, simt::order::relaxed);
  }
  static GPUTM_INLINE void unlock(std::uint64_t lock) {
    // relaxed: the caller's release fence precedes
    simt::atomic(*reinterpret_cast<std::uint32_t*>(lock)).store(0u, simt::order::relaxed);
  }
  /// Visits each lock once, in order: the same lock twice stands side by side.
  template <class Visit>
  GPUTM_INLINE bool each_once(std::uint32_t count, Visit visit) const {
    std::uint64_t last = 0;
    return locks_.each(count, [&](std::uint32_t, const log_entry<1>& e) {
      const bool fresh = e.word[0] != last;
      last = e.word[0];
      return !fresh || visit(e.word[0]);
    });
  }

 public:
  GPUTM_INLINE void attach(const log_space& s) {
    locks_.attach(log_columns(s), 0, s.capacity.locks() * log_space::lock_words);
  }
  GPUTM_INLINE void clear() {
    locks_.clear();
    missing_ = 0;
  }
  /// False if there is no room.
  GPUTM_INLINE bool add(std::uint32_t* lock) {
    if (locks_.full()) {
      ++missing_;
      return false;
    }
    locks_.push({{reinterpret_cast<std::uint64_t>(lock)}});
    return true;
  }
  GPUTM_INLINE bool overflowed() const { return missing_ != 0; }
  /// Entries that there should be room for.
  GPUTM_INLINE std::uint64_t needed() const { return std::uint64_t{locks_.size()} + missing_; }

  /// Takes all, in order. Up to K locks: false, holding none, if one is taken. More: waits for each.
  GPUTM_INLINE bool take() {
    sort();
    const std::uint32_t n = locks_.size();
    const bool wait = n > K;
    std::uint64_t blocked = 0;
    const bool all = each_once(n, [&](std::uint64_t lock) {
      for (std::uint32_t tries = 0; !try_lock(lock); ++tries) {
        if (!wait) {
          blocked = lock;
          return false;
        }
        simt::backoff(tries < 6 ? 32u << tries : 2048u);
      }
      return true;
    });
    if (!all)
      each_once(n, [&](std::uint64_t lock) {
        if (lock == blocked) return false;
        // an exchange, not a store, which would end the release sequence of the previous owner
        simt::atomic(*reinterpret_cast<std::uint32_t*>(lock)).exchange(0u, simt::order::relaxed);
        return true;
      });
    return all;
  }
  GPUTM_INLINE void free_all() {
    each_once(locks_.size(), [&](std::uint64_t lock) {
      unlock(lock);
      return true;
    });
  }
};

}  // namespace gputm::parts
