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

#include "gputm/simt/types.hpp"

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
enum class collective_kind : std::uint8_t { sync, ballot, any, all, shfl, match_any };
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
  bool controlled = false;  ///< explore mode: a scheduling decision at every access
  bool weak = false;        ///< explore mode with weak memory
  const thread_state* me = nullptr;
};

/// Null outside of kernels: then accesses are plain C++ atomics and nothing else happens.
constinit inline thread_local worker_context* current = nullptr;

// ---- out of line, src/executor ---------------------------------------------------------------
void point(op, const void* address, const site&);
void backoff(const site&);
void progress();
std::uint64_t collective(collective_kind, mask_t, std::uint64_t value, std::uint32_t argument, const site&);
std::uint32_t block_sync(std::uint32_t predicate, const site&);  // returns how many were nonzero
void* shared(std::size_t bytes, std::size_t alignment, const void* key, const site&);
void* dynamic_shared();
void* dynamic_shared_of(std::uint32_t rank, const site&);  // of the block of this rank in the cluster
std::uint64_t cycles();
std::uint64_t nanoseconds();
[[noreturn]] void fail(const char* what, const site&);
std::uint64_t weak_load(const void*, unsigned size, order, scope, bool plain, const site&);
void weak_store(void*, unsigned size, std::uint64_t, order, scope, bool plain, const site&);
/// `is_signed` decides how min and max compare. Returns the old value.
std::uint64_t weak_rmw(void*, unsigned size, bool is_signed, rmw_kind, std::uint64_t operand, std::uint64_t expected,
                       order success, order failure, scope, const site&);
void weak_fence(order, scope, const site&);

// ---- inline fast paths -----------------------------------------------------------------------
constexpr std::memory_order to_std(order o) {
  switch (o) {
    case order::relaxed: return std::memory_order_relaxed;
    case order::acquire: return std::memory_order_acquire;
    case order::release: return std::memory_order_release;
    case order::acq_rel: return std::memory_order_acq_rel;
    default: return std::memory_order_seq_cst;
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
T load(const T* p, order o, scope s, const site& at) {
  if (worker_context* c = current; c && c->controlled) [[unlikely]] {
    point(op::load, p, at);
    if (c->weak) return from_bits<T>(weak_load(p, sizeof(T), o, s, false, at));
  }
  return std::atomic_ref<T>(*const_cast<T*>(p)).load(to_std(o));
}

template <class T>
void store(T* p, T value, order o, scope s, const site& at) {
  if (worker_context* c = current; c && c->controlled) [[unlikely]] {
    point(op::store, p, at);
    if (c->weak) return weak_store(p, sizeof(T), to_bits(value), o, s, false, at);
  }
  std::atomic_ref<T>(*p).store(value, to_std(o));
}

template <class T>
bool compare_exchange(T* p, T& expected, T desired, order success, order failure, scope s, const site& at) {
  if (worker_context* c = current; c && c->controlled) [[unlikely]] {
    point(op::cas, p, at);
    if (c->weak) {
      T old = from_bits<T>(
          weak_rmw(p, sizeof(T), false, rmw_kind::cas, to_bits(desired), to_bits(expected), success, failure, s, at));
      const bool won = to_bits(old) == to_bits(expected);
      expected = old;
      return won;
    }
  }
  return std::atomic_ref<T>(*p).compare_exchange_strong(expected, desired, to_std(success), to_std(failure));
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

template <class T>
T fetch(rmw_kind k, T* p, T value, order o, scope s, const site& at) {
  static_assert(std::is_integral_v<T>);
  if (worker_context* c = current; c && c->controlled) [[unlikely]] {
    point(op::rmw, p, at);
    if (c->weak) return from_bits<T>(weak_rmw(p, sizeof(T), std::is_signed_v<T>, k, to_bits(value), 0, o, o, s, at));
  }
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

inline void fence(order o, scope s, const site& at) {
  if (worker_context* c = current; c && c->controlled) [[unlikely]] {
    point(op::fence, nullptr, at);
    if (c->weak) return weak_fence(o, s, at);
  }
#if defined(__SANITIZE_THREAD__) || defined(GPUTM_TSAN)
  // ThreadSanitizer does not model fences; the weak-memory model of explore mode does.
#else
  std::atomic_thread_fence(to_std(o));
#endif
}

template <class T>
T plain_load(const T* p, const site& at) {
  if (worker_context* c = current; c && c->controlled) [[unlikely]] {
    point(op::plain_load, p, at);
    if (c->weak) return from_bits<T>(weak_load(p, sizeof(T), order::relaxed, scope::system, true, at));
  }
  return *p;
}

template <class T>
void plain_store(T* p, T value, const site& at) {
  if (worker_context* c = current; c && c->controlled) [[unlikely]] {
    point(op::plain_store, p, at);
    if (c->weak) return weak_store(p, sizeof(T), to_bits(value), order::relaxed, scope::system, true, at);
  }
  *p = value;
}

/// One address per type: the key of a named shared object.
template <class Name, class T>
inline constexpr char shared_key = 0;

}  // namespace gputm::simt::host
