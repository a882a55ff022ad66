// Floor 1, host side: what the simt functions call when no GPU runs them. Everything that touches
// the state of the executor is out of line (src/), so that the executor can be built without
// -fsanitize=thread while the code under test is instrumented.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gputm/simt/config.hpp"
#include "gputm/simt/types.hpp"

#if defined(GPUTM_TSAN)
extern "C" {
void __tsan_acquire(void*);
void __tsan_release(void*);
}
#endif

namespace gputm::simt::host {

enum class op : std::uint8_t {
  none,
  load,
  store,
  rmw,
  cas,
  fence,
  backoff,
  plain_load,
  plain_store,
  warp,
  barrier,
  user
};
enum class collective_kind : std::uint8_t { sync, ballot, any, all, shfl, match_any, together };
enum class rmw_kind : std::uint8_t { add, exchange, bit_or, bit_and, bit_xor, min, max, cas };

/// What the running simulated thread can see of itself.
struct thread_state {
  std::uint32_t thread = 0;       ///< rank in the block
  std::uint32_t lane = 0;         ///< rank in the warp
  std::uint32_t warp = 0;         ///< rank of the warp in the block
  std::uint32_t block = 0;        ///< rank of the block in the grid
  std::uint32_t block_size = 1;   ///< threads in a block
  std::uint32_t grid_size = 1;    ///< blocks in the grid
  std::uint32_t warp_width = 32;  ///< lanes in a full warp
  std::uint32_t warp_mask = 1;    ///< lanes that exist in this warp
};

/// One per OS thread of the executor. `me` changes at every fiber switch; the rest is constant
/// while a kernel runs.
struct worker_context {
  bool weak = false;    ///< explore mode with weak memory
  bool in_step = true;  ///< lanes go in step where code wishes it
  const thread_state* me = nullptr;
};

/// Null outside of kernels.
constinit inline thread_local worker_context* current = nullptr;
/// Explore mode: a scheduling decision at every access. Otherwise accesses are plain C++ atomics and nothing else.
constinit inline thread_local bool controlled = false;

// ---- out of line, src/executor ---------------------------------------------------------------
void point(op, site);
void backoff(site);
void progress();
std::uint64_t collective(collective_kind, mask_t, std::uint64_t value, std::uint32_t argument, site);
mask_t together(site);
std::uint32_t block_sync(std::uint32_t predicate, site);  // returns how many were nonzero
void* shared(std::size_t bytes, std::size_t alignment, const void* key, site);
void* dynamic_shared();
void* dynamic_shared_of(std::uint32_t rank, site);  // of the block of this rank in the cluster
std::uint64_t cycles();
std::uint64_t nanoseconds();
[[noreturn]] void fail(const char* what, site);
std::uint64_t weak_load(const void*, unsigned size, order, scope, bool plain, site);
void weak_store(void*, unsigned size, std::uint64_t, order, scope, bool plain, site);
/// `is_signed` decides how min and max compare. Returns the old value.
std::uint64_t weak_rmw(void*, unsigned size, bool is_signed, rmw_kind, std::uint64_t operand, std::uint64_t expected,
                       order success, order failure, scope, site);
void weak_fence(order, scope, site);

/// For the host alone, under nvcc, too. A leaf is a few instructions, inlined in every build.
#define GPUTM_HOST_LEAF inline __attribute__((always_inline))
#define GPUTM_HOST_COLD __attribute__((noinline, cold))

// ---- the accesses themselves ------------------------------------------------------------------
constexpr std::memory_order to_std(order o) {
  switch (o) {
    case order::relaxed: return std::memory_order_relaxed;
    case order::acquire: return std::memory_order_acquire;
    case order::release: return std::memory_order_release;
    case order::acq_rel: return std::memory_order_acq_rel;
    default: return std::memory_order_seq_cst;
  }
}

/// Calls `f` with the order as a constant: given another one, g++ makes every access seq_cst, and
/// ThreadSanitizer would see no race any more.
template <class F>
auto with_constant(order o, F f) {
  switch (o) {
    case order::relaxed: return f(std::integral_constant<order, order::relaxed>{});
    case order::acquire: return f(std::integral_constant<order, order::acquire>{});
    case order::release: return f(std::integral_constant<order, order::release>{});
    case order::acq_rel: return f(std::integral_constant<order, order::acq_rel>{});
    default: return f(std::integral_constant<order, order::seq_cst>{});
  }
}

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T apply(rmw_kind k, T old, T value) {
  switch (k) {
    case rmw_kind::add: return static_cast<T>(old + value);
    case rmw_kind::bit_or: return static_cast<T>(old | value);
    case rmw_kind::bit_and: return static_cast<T>(old & value);
    case rmw_kind::bit_xor: return static_cast<T>(old ^ value);
    case rmw_kind::min: return value < old ? value : old;
    case rmw_kind::max: return old < value ? value : old;
    default: return value;
  }
}

#if defined(GPUTM_TSAN)
/// ThreadSanitizer knows no fences. This stands for all of them in its eyes: whoever releases by one comes before
/// whoever acquires later. That is more order than fences make; the weak-memory model of explore mode has theirs.
inline char all_fences = 0;
#endif
template <class T>
GPUTM_HOST_LEAF T load_now(const T* p, order o) {
  const T seen = std::atomic_ref<T>(*const_cast<T*>(p)).load(to_std(o));
#if defined(GPUTM_TSAN)
  if (o != order::relaxed) __tsan_acquire(&all_fences);
#endif
  return seen;
}
template <class T>
GPUTM_HOST_LEAF void store_now(T* p, T value, order o) {
  std::atomic_ref<T>(*p).store(value, to_std(o));
}
template <class T>
GPUTM_HOST_LEAF bool compare_exchange_now(T* p, T& expected, T desired, order success, order failure) {
  return std::atomic_ref<T>(*p).compare_exchange_strong(expected, desired, to_std(success), to_std(failure));
}
template <class T>
GPUTM_HOST_LEAF T fetch_now(rmw_kind k, T* p, T value, order o) {
  std::atomic_ref<T> a(*p);
  switch (k) {
    case rmw_kind::add: return a.fetch_add(value, to_std(o));
    case rmw_kind::exchange: return a.exchange(value, to_std(o));
    case rmw_kind::bit_or: return a.fetch_or(value, to_std(o));
    case rmw_kind::bit_and: return a.fetch_and(value, to_std(o));
    case rmw_kind::bit_xor: return a.fetch_xor(value, to_std(o));
    default: {
      T old = a.load(std::memory_order_relaxed);
      while (!a.compare_exchange_weak(old, apply(k, old, value), to_std(o), std::memory_order_relaxed)) {
      }
      return old;
    }
  }
}
GPUTM_HOST_LEAF void fence_now([[maybe_unused]] order o) {
#if defined(GPUTM_TSAN)
  if (o != order::acquire) __tsan_release(&all_fences);
  if (o != order::release) __tsan_acquire(&all_fences);
#else
  std::atomic_thread_fence(to_std(o));
#endif
}

// ---- under a scheduler: out of the way, one copy per type --------------------------------------
// Not in src/: what accesses memory here is instrumented, the executor is not.
template <class T>
GPUTM_HOST_COLD T controlled_load(const T* p, order o, scope s, site at) {
  point(op::load, at);
  if (current->weak) return from_bits<T>(weak_load(p, sizeof(T), o, s, false, at));
  if (o == order::relaxed) return load_now(p, order::relaxed);
  return o == order::acquire ? load_now(p, order::acquire) : load_now(p, order::seq_cst);
}
template <class T>
GPUTM_HOST_COLD void controlled_store(T* p, T value, order o, scope s, site at) {
  point(op::store, at);
  if (current->weak) return weak_store(p, sizeof(T), to_bits(value), o, s, false, at);
  if (o == order::relaxed) return store_now(p, value, order::relaxed);
  o == order::release ? store_now(p, value, order::release) : store_now(p, value, order::seq_cst);
}
/// The old value: what was expected, if the exchange was made. An exchange that fails has failure_order(o).
template <class T>
GPUTM_HOST_COLD T controlled_compare_exchange(T* p, T expected, T desired, order o, scope s, site at) {
  point(op::cas, at);
  if (current->weak)
    return from_bits<T>(
        weak_rmw(p, sizeof(T), false, rmw_kind::cas, to_bits(desired), to_bits(expected), o, failure_order(o), s, at));
  with_constant(o, [&](auto c) { compare_exchange_now(p, expected, desired, c(), failure_order(c())); });
  return expected;
}
template <class T>
GPUTM_HOST_COLD T controlled_fetch(rmw_kind k, T* p, T value, order o, scope s, site at) {
  point(op::rmw, at);
  if (current->weak)
    return from_bits<T>(weak_rmw(p, sizeof(T), std::is_signed_v<T>, k, to_bits(value), 0, o, o, s, at));
  return with_constant(o, [&](auto c) { return fetch_now(k, p, value, c()); });
}
GPUTM_HOST_COLD inline void controlled_fence(order o, scope s, site at) {
  point(op::fence, at);
  if (current->weak) return weak_fence(o, s, at);
  with_constant(o, [](auto c) { fence_now(c()); });
}
template <class T>
GPUTM_HOST_COLD T controlled_plain_load(const T* p, site at) {
  point(op::plain_load, at);
  if (current->weak) return from_bits<T>(weak_load(p, sizeof(T), order::relaxed, scope::system, true, at));
  return *p;
}
template <class T>
GPUTM_HOST_COLD void controlled_plain_store(T* p, T value, site at) {
  point(op::plain_store, at);
  if (current->weak) return weak_store(p, sizeof(T), to_bits(value), order::relaxed, scope::system, true, at);
  *p = value;
}

// ---- what kernels call -------------------------------------------------------------------------
template <class T>
GPUTM_HOST_LEAF T load(const T* p, order o, scope s, site at) {
  if (controlled) [[unlikely]]
    return controlled_load(p, o, s, at);
  return load_now(p, o);
}
template <class T>
GPUTM_HOST_LEAF void store(T* p, T value, order o, scope s, site at) {
  if (controlled) [[unlikely]]
    return controlled_store(p, value, o, s, at);
  store_now(p, value, o);
}
template <class T>
GPUTM_HOST_LEAF bool compare_exchange(T* p, T& expected, T desired, order o, scope s, site at) {
  if (controlled) [[unlikely]] {
    const T old = controlled_compare_exchange(p, expected, desired, o, s, at);
    const bool won = old == expected;
    expected = old;
    return won;
  }
  return compare_exchange_now(p, expected, desired, o, failure_order(o));
}
template <class T>
GPUTM_HOST_LEAF T fetch(rmw_kind k, T* p, T value, order o, scope s, site at) {
  static_assert(std::is_integral_v<T>);
  if (controlled) [[unlikely]]
    return controlled_fetch(k, p, value, o, s, at);
  return fetch_now(k, p, value, o);
}
GPUTM_HOST_LEAF void fence(order o, scope s, site at) {
  if (controlled) [[unlikely]]
    return controlled_fence(o, s, at);
  fence_now(o);
}
template <class T>
GPUTM_HOST_LEAF T plain_load(const T* p, site at) {
  if (controlled) [[unlikely]]
    return controlled_plain_load(p, at);
  return *p;
}
template <class T>
GPUTM_HOST_LEAF void plain_store(T* p, T value, site at) {
  if (controlled) [[unlikely]]
    return controlled_plain_store(p, value, at);
  *p = value;
}

#undef GPUTM_HOST_LEAF
#undef GPUTM_HOST_COLD

/// One address per type: the key of a named shared object.
template <class Name, class T>
inline constexpr char shared_key = 0;

}  // namespace gputm::simt::host
