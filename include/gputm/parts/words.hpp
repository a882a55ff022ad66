// Floor 2: copying an element whose words other threads may be writing. An element is moved in the
// largest words of 1, 2, 4 or 8 bytes that divide its size, each one accessed atomically; whether the
// whole is consistent is for the caller's protocol to check.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gputm/parts/region.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

template <std::size_t Bytes>
using unsigned_of = std::conditional_t<
    Bytes % 8 == 0, std::uint64_t,
    std::conditional_t<Bytes % 4 == 0, std::uint32_t, std::conditional_t<Bytes % 2 == 0, std::uint16_t, std::uint8_t>>>;

/// The word type in which elements of type T are moved, and how many of them one element has.
template <class T>
using word_of = unsigned_of<sizeof(T)>;
template <class T>
inline constexpr std::uint32_t words_in = sizeof(T) / sizeof(word_of<T>);

template <class T>
GPUTM_INLINE word_of<T>* words_at(const region& r, std::uint32_t index) {
  return reinterpret_cast<word_of<T>*>(r.data) + static_cast<std::size_t>(index) * words_in<T>;
}

/// Reads element `index` word by word, each load with order `o`.
template <class T>
GPUTM_INLINE T load_element(const region& r, std::uint32_t index, simt::order o) {
  word_of<T>* p = words_at<T>(r, index);
  if constexpr (words_in<T> == 1) {
    const word_of<T> w = simt::atomic(*p).load(o);
    T value;
    memcpy(static_cast<void*>(&value), &w, sizeof value);
    return value;
  } else {
    word_of<T> w[words_in<T>];
    for (std::uint32_t k = 0; k < words_in<T>; ++k) w[k] = simt::atomic(p[k]).load(o);
    T value;
    memcpy(static_cast<void*>(&value), w, sizeof value);
    return value;
  }
}

/// Writes element `index` word by word, relaxed: the caller's fences order the stores.
template <class T>
GPUTM_INLINE void store_element(const region& r, std::uint32_t index, const T& value) {
  word_of<T>* p = words_at<T>(r, index);
  word_of<T> w[words_in<T>];
  memcpy(w, &value, sizeof value);
  for (std::uint32_t k = 0; k < words_in<T>; ++k) simt::atomic(p[k]).store(w[k], simt::order::relaxed);
}

}  // namespace gputm::parts
