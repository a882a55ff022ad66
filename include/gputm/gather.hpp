// Floor 4: several elements of an array whose indices lie in memory, as a user says it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/simt/config.hpp"

namespace gputm {

/// The elements array[index[0]], array[index[1]], ...: what load_each() loads of a row of a sparse matrix, say, or of a
/// vertex's neighbours. A lambda can say the same; but this all lanes of a warp can read, so that several can load what
/// one iteration reduces (reduce_each).
template <class Array, class Index>
struct gathered {
  static_assert(std::is_integral_v<Index>, "elements are gathered by integral indices");
  Array array;
  const Index* index;

  GPUTM_INLINE constexpr auto operator()(std::uint32_t k) const { return array[static_cast<std::uint64_t>(index[k])]; }
};

/// For reduce_each(), and for load_each(), where it is the same as a lambda:
///
///   GPUTM_TRY(const largest l, it.reduce_each(count, gputm::gather(level, neighbours), largest{}));
///
/// `index`: in memory of the device, where every thread reads it as this one does, and nobody writes it meanwhile. That
/// of an array of the body's own is read by its own thread alone.
template <class Array, class Index>
GPUTM_INLINE constexpr gathered<Array, Index> gather(const Array& array, const Index* index) {
  return {array, index};
}

namespace parts {
template <class Where>
inline constexpr bool is_gathered = false;
template <class Array, class Index>
inline constexpr bool is_gathered<gathered<Array, Index>> = true;
}  // namespace parts

}  // namespace gputm
