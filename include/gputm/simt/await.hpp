// Floor 1: waiting for another thread's word.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/simt/atomic.hpp"
#include "gputm/simt/hints.hpp"

namespace gputm::simt {

/// Waits until done(word); between two looks gives way for about `ns` nanoseconds. The last look acquires: the caller
/// says in a comment what it pairs with. The others are relaxed: on a GPU each acquire empties the cache of the whole
/// multiprocessor, under the threads that still have work to do. So what is done must stay so. Who calls it asks for
/// the result, or has a barrier behind it: CUDA's assembler (13.0) deletes an acquire load whose result nobody uses,
/// and may then have the result of a plain load before it stand for one of the same word behind it.
template <scope S = scope::device, class T, class Done>
GPUTM_INLINE T await(T& word, Done done, unsigned ns = 32, GPUTM_HERE) {
  while (!done(atomic<S>(word).load(order::relaxed, at))) backoff(ns, at);
  return atomic<S>(word).load(order::acquire, at);
}
/// Until a word that only grows is at least `least`; returns it.
template <scope S = scope::device, class T>
GPUTM_INLINE T await_at_least(T& word, std::type_identity_t<T> least, unsigned ns = 32, GPUTM_HERE) {
  const T seen = await<S>(
      word, [least](T now) { return now >= least; }, ns, at);
  if (seen < least) backoff(ns, at);  // never: it asks for the result
  return seen;
}
/// Until it is `value`.
template <scope S = scope::device, class T>
GPUTM_INLINE void await_equal(T& word, std::type_identity_t<T> value, unsigned ns = 32, GPUTM_HERE) {
  const T seen = await<S>(
      word, [value](T now) { return now == value; }, ns, at);
  if (seen != value) backoff(ns, at);  // never: it asks for the result
}

}  // namespace gputm::simt
