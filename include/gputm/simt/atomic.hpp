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
  GPUTM_LEAF T exchange(T value, order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.exchange(value, GPUTM_ORDER(o)),
                      host::fetch(host::rmw_kind::exchange, p_, value, o, S, at));
  }
  GPUTM_LEAF T fetch_add(T value, order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.fetch_add(value, GPUTM_ORDER(o)),
                      host::fetch(host::rmw_kind::add, p_, value, o, S, at));
  }
  GPUTM_LEAF T fetch_or(T value, order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.fetch_or(value, GPUTM_ORDER(o)),
                      host::fetch(host::rmw_kind::bit_or, p_, value, o, S, at));
  }
  GPUTM_LEAF T fetch_and(T value, order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.fetch_and(value, GPUTM_ORDER(o)),
                      host::fetch(host::rmw_kind::bit_and, p_, value, o, S, at));
  }
  GPUTM_LEAF T fetch_xor(T value, order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.fetch_xor(value, GPUTM_ORDER(o)),
                      host::fetch(host::rmw_kind::bit_xor, p_, value, o, S, at));
  }
  GPUTM_LEAF T fetch_min(T value, order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.fetch_min(value, GPUTM_ORDER(o)),
                      host::fetch(host::rmw_kind::min, p_, value, o, S, at));
  }
  GPUTM_LEAF T fetch_max(T value, order o, GPUTM_HERE) const {
    return GPUTM_PICK(GPUTM_REF.fetch_max(value, GPUTM_ORDER(o)),
                      host::fetch(host::rmw_kind::max, p_, value, o, S, at));
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
