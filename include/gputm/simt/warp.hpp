// Floor 1: warp collectives. Every one names its mask, but together(), which makes one; none of them orders memory but
// sync_warp.
//
// On the host device the lanes of a mask meet at (operation, mask, call site); a lane that is missing
// for ever is reported as a deadlock that names the lanes, a caller outside of its mask as a bad mask.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gputm/simt/config.hpp"
#include "gputm/simt/host_hooks.hpp"
#include "gputm/simt/identity.hpp"

namespace gputm::simt {

/// The lanes of `mask` whose predicate is true.
GPUTM_INLINE mask_t ballot(mask_t mask, bool predicate, GPUTM_HERE) {
  return GPUTM_PICK(__ballot_sync(mask, predicate),
                    static_cast<mask_t>(host::collective(host::collective_kind::ballot, mask, predicate, 0, at)));
}
/// Whether the predicate is true for any lane of `mask`.
GPUTM_INLINE bool any(mask_t mask, bool predicate, GPUTM_HERE) {
  return GPUTM_PICK(__any_sync(mask, predicate),
                    host::collective(host::collective_kind::any, mask, predicate, 0, at) != 0);
}
/// Whether the predicate is true for all lanes of `mask`.
GPUTM_INLINE bool all(mask_t mask, bool predicate, GPUTM_HERE) {
  return GPUTM_PICK(__all_sync(mask, predicate),
                    host::collective(host::collective_kind::all, mask, predicate, 0, at) != 0);
}
/// Waits for the lanes of `mask`, and orders their memory accesses around it.
GPUTM_INLINE void sync_warp(mask_t mask = full_mask, GPUTM_HERE) {
  GPUTM_PICK(__syncwarp(mask), (void)host::collective(host::collective_kind::sync, mask, 0, 0, at));
}
/// The value of lane `source`, which must be in `mask`. T: trivially copyable, 4 or 8 bytes.
template <class T>
GPUTM_INLINE T shfl(mask_t mask, T value, std::uint32_t source, GPUTM_HERE) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shfl moves 4 or 8 bytes");
  return GPUTM_PICK(
      __shfl_sync(mask, value, static_cast<int>(source)),
      host::from_bits<T>(host::collective(host::collective_kind::shfl, mask, host::to_bits(value), source, at)));
}
/// The value of the lane whose rank is this one's xor `distance`; it must be in `mask`.
template <class T>
GPUTM_INLINE T shfl_xor(mask_t mask, T value, std::uint32_t distance, GPUTM_HERE) {
  return shfl(mask, value, lane() ^ distance, at);
}
/// shfl() of any trivially copyable value whose size is a multiple of 4 bytes, word by word.
template <class T>
GPUTM_INLINE T shfl_words(mask_t mask, const T& value, std::uint32_t source, GPUTM_HERE) {
  using word = std::conditional_t<sizeof(T) % 8 == 0, std::uint64_t, std::uint32_t>;
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(word) == 0, "shfl_words moves words of 4 bytes");
  word w[sizeof(T) / sizeof(word)];
  memcpy(w, &value, sizeof w);
  GPUTM_UNROLL
  for (word& one : w) one = shfl(mask, one, source, at);
  T its = value;
  memcpy(static_cast<void*>(&its), w, sizeof w);
  return its;
}
/// The lanes of this warp that happen to be here together with this one, which is one of them: all of these get the
/// same mask, for collectives that all of them come to. Nobody may rely on more lanes than itself, nor on all of them
/// having come from the same call, where a template or an inlined function is called from several places: match_any()
/// tells them apart. The host device takes a lane for alone, but where it explores schedules and lanes go in step
/// (in_step): there it is those that come to the same line within a few steps of each other.
GPUTM_INLINE mask_t together(GPUTM_HERE) { return GPUTM_PICK(__activemask(), host::together(at)); }
/// The lanes of `mask` that hold the same value as this one. T: 4 or 8 bytes, compared bit by bit.
template <class T>
GPUTM_INLINE mask_t match_any(mask_t mask, T value, GPUTM_HERE) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "match_any compares 4 or 8 bytes");
  return GPUTM_PICK(
      __match_any_sync(mask, value),
      static_cast<mask_t>(host::collective(host::collective_kind::match_any, mask, host::to_bits(value), 0, at)));
}

/// How many lanes are in the mask.
GPUTM_INLINE std::uint32_t count(mask_t mask) {
  return GPUTM_PICK(static_cast<std::uint32_t>(__popc(mask)), static_cast<std::uint32_t>(std::popcount(mask)));
}
/// The lowest lane of the mask; 32 if it is empty.
GPUTM_INLINE std::uint32_t lowest(mask_t mask) {
  return GPUTM_PICK(mask ? static_cast<std::uint32_t>(__ffs(static_cast<int>(mask)) - 1) : 32u,
                    static_cast<std::uint32_t>(std::countr_zero(mask)));
}
/// The mask without its lowest `n` lanes.
GPUTM_INLINE mask_t without_lowest(mask_t mask, std::uint32_t n) {
  GPUTM_NO_UNROLL
  for (; n != 0; --n) mask &= mask - 1;
  return mask;
}
/// The lane of the mask above the lowest `n` of it.
GPUTM_INLINE std::uint32_t nth(mask_t mask, std::uint32_t n) { return lowest(without_lowest(mask, n)); }
/// The lanes of the mask below this one.
GPUTM_INLINE mask_t below(mask_t mask) { return mask & ((1u << lane()) - 1u); }

/// Combines the values of the lanes of `mask` with `combine`, in lane order; every lane gets the result.
template <class T, class Combine>
GPUTM_INLINE T reduce(mask_t mask, T value, Combine combine, GPUTM_HERE) {
  mask = GPUTM_PICK(__ballot_sync(mask, 1), mask & host::current->me->warp_mask);  // a warp may be a part of one
  T total = shfl(mask, value, lowest(mask), at);
  for (mask_t rest = mask & (mask - 1); rest; rest &= rest - 1)
    total = combine(total, shfl(mask, value, lowest(rest), at));
  return total;
}

/// Whether this thread's warp has all its lanes: a block's last one may be a part of one.
GPUTM_INLINE bool is_full_warp() { return (warp_rank() + 1) * warp_width() <= block_size(); }

/// The same in any order, which takes fewer steps in a full warp. No lane of `mask` may have ended.
template <class T, class Combine>
GPUTM_INLINE T reduce_unordered(mask_t mask, T value, Combine combine, GPUTM_HERE) {
  const std::uint32_t width = warp_width();
  if (mask == full_mask && (width & (width - 1)) == 0 && is_full_warp()) {
    GPUTM_UNROLL
    for (std::uint32_t distance = width / 2; distance != 0; distance /= 2)
      value = combine(value, shfl_xor(mask, value, distance, at));
    return value;
  }
  return reduce(mask, value, combine, at);
}

// Multiprocessors of compute capability 7.5 have no instruction for it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define GPUTM_HAS_WARP_REDUCE 1
#else
#define GPUTM_HAS_WARP_REDUCE 0
#endif

/// The bits that any lane of `mask` has; every lane gets them. T: std::uint32_t or std::uint64_t.
template <class T>
GPUTM_INLINE T reduce_or(mask_t mask, T bits, GPUTM_HERE) {
#if GPUTM_HAS_WARP_REDUCE
  mask = __ballot_sync(mask, 1);  // a warp may be a part of one
  T all = __reduce_or_sync(mask, static_cast<std::uint32_t>(bits));
  if constexpr (sizeof(T) == 8) all |= T{__reduce_or_sync(mask, static_cast<std::uint32_t>(bits >> 32))} << 32;
  return all;
#else
  return reduce_unordered(
      mask, bits, [](T a, T b) { return a | b; }, at);
#endif
}
/// The sum over the lanes of `mask`; every lane gets it. T: std::uint32_t or std::uint64_t.
template <class T>
GPUTM_INLINE T reduce_add(mask_t mask, T value, GPUTM_HERE) {
#if GPUTM_HAS_WARP_REDUCE
  mask = __ballot_sync(mask, 1);
  if constexpr (sizeof(T) == 4) return __reduce_add_sync(mask, value);
  constexpr unsigned part = 27;  // bits of which 32 lanes' sum fits into a word
  T sum = 0;
  GPUTM_UNROLL
  for (unsigned shift = 0; shift < 64; shift += part)
    sum += T{__reduce_add_sync(mask, static_cast<std::uint32_t>(value >> shift) & ((1u << part) - 1))} << shift;
  return sum;
#else
  return reduce_unordered(
      mask, value, [](T a, T b) { return a + b; }, at);
#endif
}

/// The lowest value of the lanes of `mask`, and the highest one; every lane gets it. T: std::uint32_t or std::uint64_t.
template <class T>
GPUTM_INLINE T reduce_min(mask_t mask, T value, GPUTM_HERE) {
#if GPUTM_HAS_WARP_REDUCE
  if constexpr (sizeof(T) == 4) return __reduce_min_sync(__ballot_sync(mask, 1), value);
#endif
  return reduce_unordered(
      mask, value, [](T a, T b) { return a < b ? a : b; }, at);
}
template <class T>
GPUTM_INLINE T reduce_max(mask_t mask, T value, GPUTM_HERE) {
#if GPUTM_HAS_WARP_REDUCE
  if constexpr (sizeof(T) == 4) return __reduce_max_sync(__ballot_sync(mask, 1), value);
#endif
  return reduce_unordered(
      mask, value, [](T a, T b) { return a < b ? b : a; }, at);
}

/// The lanes of a warp that go through a loop in step. Left to itself a compiler may let lanes that have taken
/// different ways through a turn go on by themselves to the end of the loop, so that each turn runs twice, or more
/// often. A matter of time only: nobody may rely on it, and the host device goes without where it is told to
/// (host::config::in_step).
class in_step {
  mask_t going_;
  static GPUTM_INLINE bool wanted() { return GPUTM_PICK(true, host::current->in_step); }

 public:
  /// Before the loop; all lanes of the warp call it. `enters`: this lane has a first turn.
  GPUTM_INLINE explicit in_step(bool enters, GPUTM_HERE) : going_(wanted() ? ballot(full_mask, enters, at) : 0) {}
  /// At the end of each turn; all lanes call it that have begun it. Whether this one has another: as `goes_on` says.
  GPUTM_INLINE bool next(bool goes_on, GPUTM_HERE) {
    if (wanted()) going_ = ballot(going_, goes_on, at);
    return goes_on;
  }
};

}  // namespace gputm::simt
