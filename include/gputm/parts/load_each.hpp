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

template <class Loader, class T>
constexpr unsigned loads_at_once_of() {
  if constexpr (requires { Loader::loads_at_once; }) {
    if (sizeof(T) > 32) return 1;
    if (sizeof(T) > 8) return 2;
    return GPUTM_ON_DEVICE ? Loader::loads_at_once : 3;
  }
  return 1;
}
/// Elements of type T that Loader loads at once: of those of up to 8 bytes loads_at_once, as many as registers allow; 1
/// if it does not say. Few on the host device, which gains nothing by it, so that exploration meets the same code in
/// small arrays.
template <class Loader, class T>
inline constexpr unsigned loads_at_once = loads_at_once_of<Loader, T>();

/// Whether Loader's groups are N elements, never fewer: with these it may take longer than single loads.
template <class Loader>
inline constexpr bool has_full_groups_only = requires {
  requires Loader::full_groups_only;
};

/// Calls use(k, value) for the elements where(0) to where(count - 1), in that order. T: their type; N: loads at once,
/// tried if `together`. load_some(k, n, values) loads n elements from k on, at most N; load(element) is the single one.
/// Again: groups are tried again behind one that was not; else single loads do the rest. Full: all groups are of N;
/// else those that are left, if they are two or more, make one as well. `k`: so many are loaded already. False if the
/// attempt is over.
template <class T, unsigned N, bool Again, bool Full, class Where, class Use, class LoadSome, class Load>
GPUTM_INLINE bool load_each(std::uint32_t count, bool together, Where& where, Use& use, const LoadSome& load_some,
                            const Load& load, std::uint32_t k = 0) {
  do {
    if constexpr (N > 1) {
      const auto load_group = [&](std::uint32_t n) {
        T value[N];
        const group_end some = load_some(k, n, value);
        if (some != group_end::loaded) return some;
        GPUTM_UNROLL
        for (unsigned i = 0; i < N; ++i)
          if (i < n) use(k + i, value[i]);
        k += n;
        return some;
      };
      // Code of its own for what is left, so that long rows do without it; lanes with N and with fewer take it
      // together.
      constexpr std::uint32_t most_left = Full ? N - 1 : N;
      group_end some = group_end::loaded;
      GPUTM_NO_UNROLL
      while (together && some == group_end::loaded && count - k > most_left) some = load_group(N);
      if constexpr (!Full)
        if (together && some == group_end::loaded && count - k >= 2) some = load_group(count - k);
      if (some == group_end::failed) return false;
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
