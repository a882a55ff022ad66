// Floor 1: atomic access with explicit scope and order, fences, and checked plain access.
//
// Every shared word that another thread may write concurrently goes through atomic_ref. Words that are
// ordered by something else go through plain_load and plain_store, which cost nothing on a GPU and are
// checked for races in explore mode.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/simt/config.hpp"
#include "gputm/simt/host_hooks.hpp"

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

namespace gputm::simt {

#if GPUTM_ON_DEVICE
namespace detail {
template <scope S>
inline constexpr cuda::thread_scope cuda_scope = S == scope::block    ? cuda::thread_scope_block
                                                 : S == scope::device ? cuda::thread_scope_device
                                                                      : cuda::thread_scope_system;
__device__ __forceinline__ constexpr cuda::std::memory_order cuda_order(order o) {
  switch (o) {
    case order::relaxed: return cuda::std::memory_order_relaxed;
    case order::acquire: return cuda::std::memory_order_acquire;
    case order::release: return cuda::std::memory_order_release;
    case order::acq_rel: return cuda::std::memory_order_acq_rel;
    default: return cuda::std::memory_order_seq_cst;
  }
}
/// A relaxed one for the device: CUDA's own functions, of which the compiler finds out in which memory a word lies.
/// Those of cuda::atomic_ref are assembly that could be for words in shared memory: with 8 bytes, an H200 waits for
/// each one's answer to learn that it was not.
template <host::rmw_kind K, class T>
__device__ __forceinline__ T relaxed_rmw(T* p, T value) {
  using enum host::rmw_kind;
  using bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  using number = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<bits>, bits>;
  bits* const word = reinterpret_cast<bits*>(p);
  if constexpr (K == exchange) return static_cast<T>(atomicExch(word, static_cast<bits>(value)));
  if constexpr (K == add) return static_cast<T>(atomicAdd(word, static_cast<bits>(value)));
  if constexpr (K == bit_or) return static_cast<T>(atomicOr(word, static_cast<bits>(value)));
  if constexpr (K == bit_and) return static_cast<T>(atomicAnd(word, static_cast<bits>(value)));
  if constexpr (K == bit_xor) return static_cast<T>(atomicXor(word, static_cast<bits>(value)));
  if constexpr (K == min) return static_cast<T>(atomicMin(reinterpret_cast<number*>(p), static_cast<number>(value)));
  if constexpr (K == max) return static_cast<T>(atomicMax(reinterpret_cast<number*>(p), static_cast<number>(value)));
}
template <scope S, host::rmw_kind K, class T>
__device__ __forceinline__ T rmw(T* p, T value, order o) {
  using enum host::rmw_kind;
  if constexpr (S == scope::device && sizeof(T) >= 4)
    if (o == order::relaxed) return relaxed_rmw<K>(p, value);
  const cuda::atomic_ref<T, cuda_scope<S>> word(*p);
  if constexpr (K == exchange) return word.exchange(value, cuda_order(o));
  if constexpr (K == add) return word.fetch_add(value, cuda_order(o));
  if constexpr (K == bit_or) return word.fetch_or(value, cuda_order(o));
  if constexpr (K == bit_and) return word.fetch_and(value, cuda_order(o));
  if constexpr (K == bit_xor) return word.fetch_xor(value, cuda_order(o));
  if constexpr (K == min) return word.fetch_min(value, cuda_order(o));
  if constexpr (K == max) return word.fetch_max(value, cuda_order(o));
}
}  // namespace detail
#define GPUTM_REF ::cuda::atomic_ref<T, detail::cuda_scope<S>>(*p_)
#define GPUTM_ORDER(o) detail::cuda_order(o)
#endif

/// A reference to a word of 1, 2, 4 or 8 bytes, naturally aligned, that threads of scope S share.
/// T: an integral type. Trivially copyable, valid in kernels and, outside of them, on the host.
template <class T, scope S = scope::device>
class atomic_ref {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8));
  T* p_;

 public:
  GPUTM_LEAF explicit atomic_ref(T& word) : p_(&word) {}

  GPUTM_LEAF T load(order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.load(GPUTM_ORDER(o)), host::load(p_, o, S, at));
  }
  GPUTM_LEAF void store(T value, order o, GPUTM_HERE) const {
    GPUTM_PICK(GPUTM_REF.store(value, GPUTM_ORDER(o)), host::store(p_, value, o, S, at));
  }
  /// Strong. On failure `expected` receives the word's value and the order is failure_order(o).
  GPUTM_LEAF bool compare_exchange(T& expected, T desired, order o, GPUTM_HERE) const {
    return GPUTM_PICK(
        GPUTM_REF.compare_exchange_strong(expected, desired, GPUTM_ORDER(o), GPUTM_ORDER(failure_order(o))),
        host::compare_exchange(p_, expected, desired, o, S, at));
  }
  GPUTM_LEAF T exchange(T value, order o, GPUTM_HERE) const { return fetch<host::rmw_kind::exchange>(value, o, at); }
  GPUTM_LEAF T fetch_add(T value, order o, GPUTM_HERE) const { return fetch<host::rmw_kind::add>(value, o, at); }
  GPUTM_LEAF T fetch_or(T value, order o, GPUTM_HERE) const { return fetch<host::rmw_kind::bit_or>(value, o, at); }
  GPUTM_LEAF T fetch_and(T value, order o, GPUTM_HERE) const { return fetch<host::rmw_kind::bit_and>(value, o, at); }
  GPUTM_LEAF T fetch_xor(T value, order o, GPUTM_HERE) const { return fetch<host::rmw_kind::bit_xor>(value, o, at); }
  GPUTM_LEAF T fetch_min(T value, order o, GPUTM_HERE) const { return fetch<host::rmw_kind::min>(value, o, at); }
  GPUTM_LEAF T fetch_max(T value, order o, GPUTM_HERE) const { return fetch<host::rmw_kind::max>(value, o, at); }

 private:
  template <host::rmw_kind K>
  GPUTM_LEAF T fetch(T value, order o, [[maybe_unused]] site at) const {
    return GPUTM_PICK((detail::rmw<S, K>(p_, value, o)), host::fetch(K, p_, value, o, S, at));
  }
};

/// atomic(word).load(order::acquire) and the like.
template <scope S = scope::device, class T>
GPUTM_LEAF atomic_ref<T, S> atomic(T& word) {
  return atomic_ref<T, S>(word);
}

/// A fence. Its caller says in a comment what it pairs with.
template <scope S = scope::device>
GPUTM_LEAF void fence(order o, GPUTM_HERE) {
#if GPUTM_ON_DEVICE
  cuda::atomic_thread_fence(detail::cuda_order(o), detail::cuda_scope<S>);
#else
  host::fence(o, S, at);
#endif
}

/// A load that something else orders after every conflicting store. T: trivially copyable, at most 8 bytes.
template <class T>
GPUTM_LEAF T plain_load(const T& word, GPUTM_HERE) {
  return GPUTM_PICK(word, host::plain_load(&word, at));
}
/// A store that something else orders with every conflicting access.
template <class T>
GPUTM_LEAF void plain_store(T& word, std::type_identity_t<T> value, GPUTM_HERE) {
  GPUTM_PICK((void)(word = value), host::plain_store(&word, value, at));
}
/// The same for a word that is written once and read once, if at all: a GPU's caches give up its line before others.
/// T: std::uint32_t or std::uint64_t, in global memory.
template <class T>
GPUTM_LEAF T streaming_load(const T& word, GPUTM_HERE) {
  return GPUTM_PICK(__ldcs(&word), host::plain_load(&word, at));
}
template <class T>
GPUTM_LEAF void streaming_store(T& word, std::type_identity_t<T> value, GPUTM_HERE) {
  GPUTM_PICK(__stcs(&word, value), host::plain_store(&word, value, at));
}

#if GPUTM_ON_DEVICE
#undef GPUTM_REF
#undef GPUTM_ORDER
#endif

}  // namespace gputm::simt
