// Floor 1: waiting for another thread's word.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/simt/atomic.hpp"
#include "gputm/simt/hints.hpp"

namespace gputm::simt {

/// Waits until a word that only grows is at least `least`, and returns it; between two looks gives way for about `ns`
/// nanoseconds. The last look acquires: the caller says in a comment what it pairs with. The others are relaxed: on a
/// GPU each acquire empties the cache of the whole multiprocessor, under the threads that still have work to do.
template <scope S = scope::device, class T>
GPUTM_INLINE T await_at_least(T& word, std::type_identity_t<T> least, unsigned ns = 32, GPUTM_HERE) {
  while (atomic<S>(word).load(order::relaxed, at) < least) backoff(ns, at);
  return atomic<S>(word).load(order::acquire, at);
}

}  // namespace gputm::simt
