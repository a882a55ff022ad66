// Floor 4: several elements of an array whose indices lie in memory, as a user says it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/simt/config.hpp"

namespace gputm {

/// The elements array[index[0]], array[index[1]], ...: what load_each() loads of a row of a sparse matrix, say, or of a
/// vertex's neighbours. Anything else that a function of k can say is a lambda; but this one all lanes of a warp can
/// read, so that several may load one iteration's elements together.
template <class Array, class Index>
struct gathered {
  static_assert(std::is_integral_v<Index>, "elements are gathered by integral indices");
  Array array;
  const Index* index;

  GPUTM_INLINE constexpr auto operator()(std::uint32_t k) const { return array[static_cast<std::uint64_t>(index[k])]; }
};

/// For load_each():
///
///   GPUTM_TRY(it.load_each(count, gputm::gather(colours, neighbours), [&](unsigned k, unsigned colour) { ... }));
///
/// `index`: in memory of the device, where every thread reads it as this one does, and nobody writes it meanwhile; not
/// an array of the body's own.
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
