// Floor 2: several loads for the latency of one, for whoever can do that, in order and with the effect of single ones.
#pragma once

#include <cstdint>

#include "gputm/outcome.hpp"
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
/// tried if `together`. load_some(k, values) loads N elements from k on; load(element) is the single one.
template <class T, unsigned N, class Where, class Use, class LoadSome, class Load>
GPUTM_INLINE loaded_each load_each(std::uint32_t count, bool together, Where& where, Use& use,
                                   const LoadSome& load_some, const Load& load) {
  std::uint32_t k = 0;
  GPUTM_NO_UNROLL
  while (k < count) {
    std::uint32_t end = count;  // of the single loads that follow
    if constexpr (N > 1) {
      if (together && count - k >= N) {
        T value[N];
        const group_end some = load_some(k, value);
        if (some == group_end::failed) return {false};
        if (some == group_end::loaded) {
          GPUTM_UNROLL
          for (unsigned i = 0; i < N; ++i) use(k + i, value[i]);
          k += N;
          continue;
        }
        end = k + N;
      }
    }
    GPUTM_NO_UNROLL
    for (; k < end; ++k) {
      const loaded<T> one = load(where(k));
      if (!one.ok) return {false};
      use(k, one.value);
    }
  }
  return {true};
}

}  // namespace gputm::parts
