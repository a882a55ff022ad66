// Floor 2: several loads for the latency of one, for whoever can do that, in order and with the effect of single ones.
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"

namespace gputm::parts {

/// What became of a group of loads at once.
enum class group_end : std::uint8_t {
  loaded,
  failed,    ///< the attempt is over
  not_tried  ///< single loads must be: they tell what is wrong with one of them, or know better
};

template <class Loader>
constexpr unsigned loads_at_once_of() {
  if constexpr (requires { Loader::loads_at_once; }) return Loader::loads_at_once;
  return 1;
}
/// Elements of type T that Loader loads at once: of those of up to 8 bytes loads_at_once, as many as registers allow; 1
/// if it does not say. Few on the host device, which gains nothing by it, so that exploration meets the same code in
/// small arrays.
template <class Loader, class T>
inline constexpr unsigned loads_at_once = loads_at_once_of<Loader>() == 1 || sizeof(T) > 32 ? 1
                                          : sizeof(T) > 8 || !GPUTM_ON_DEVICE               ? 2
                                                                              : loads_at_once_of<Loader>();

/// Calls use(k, value) for the elements where(0) to where(count - 1), in that order. T: their type; N: loads at once,
/// tried if `together`. load_some(k, values) loads N elements from k on; load(element) is the single one. Again: groups
/// are tried again behind one that was not; else single loads do the rest. False if the attempt is over.
template <class T, unsigned N, bool Again, class Where, class Use, class LoadSome, class Load>
GPUTM_INLINE bool load_each(std::uint32_t count, bool together, Where& where, Use& use, const LoadSome& load_some,
                            const Load& load) {
  std::uint32_t k = 0;
  do {
    if constexpr (N > 1) {
      GPUTM_NO_UNROLL
      for (; together && count - k >= N; k += N) {
        T value[N];
        const group_end some = load_some(k, value);
        if (some == group_end::failed) return false;
        if (some == group_end::not_tried) break;
        GPUTM_UNROLL
        for (unsigned i = 0; i < N; ++i) use(k + i, value[i]);
      }
    }
    const std::uint32_t end = Again && count - k >= N ? k + N : count;
    GPUTM_NO_UNROLL
    for (; k < end; ++k) {
      const auto one = load(where(k));
      if (!one.ok) return false;
      use(k, one.value);
    }
  } while (Again && k < count);
  return true;
}

}  // namespace gputm::parts
