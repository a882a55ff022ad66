// Floor 1: waiting for another thread's word.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/simt/atomic.hpp"
#include "gputm/simt/hints.hpp"

namespace gputm::simt {

/// Waits until done(word); between two looks gives way for about `ns` nanoseconds. The last look acquires: the caller
/// says in a comment what it pairs with. The others are relaxed: on a GPU each acquire empties the cache of the whole
/// multiprocessor, under the threads that still have work to do. So what is done must stay so.
template <scope S = scope::device, class T, class Done>
GPUTM_INLINE T await(T& word, Done done, unsigned ns = 32, GPUTM_HERE) {
  while (!done(atomic<S>(word).load(order::relaxed, at))) backoff(ns, at);
  const T seen = atomic<S>(word).load(order::acquire, at);
  // Never; it only asks for the result. CUDA's assembler (13.0) deletes an acquire load whose result nobody uses, and
  // then has the result of a plain load before it stand for one of the same word behind it.
  if (!done(seen)) backoff(ns, at);
  return seen;
}
/// Until a word that only grows is at least `least`; returns it.
template <scope S = scope::device, class T>
GPUTM_INLINE T await_at_least(T& word, std::type_identity_t<T> least, unsigned ns = 32, GPUTM_HERE) {
  return await<S>(
      word, [least](T now) { return now >= least; }, ns, at);
}
/// Until it is `value`.
template <scope S = scope::device, class T>
GPUTM_INLINE void await_equal(T& word, std::type_identity_t<T> value, unsigned ns = 32, GPUTM_HERE) {
  (void)await<S>(
      word, [value](T now) { return now == value; }, ns, at);
}

}  // namespace gputm::simt
