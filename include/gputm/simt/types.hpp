// Floor 1: the vocabulary of the substrate.
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"

namespace gputm::simt {

/// Which threads an atomic access or a fence is meant for (PTX .cta, .gpu, .sys).
enum class scope : std::uint8_t { block, device, system };

/// The memory order of an atomic access or a fence, as in C++.
enum class order : std::uint8_t { relaxed, acquire, release, acq_rel, seq_cst };

/// The order of a failed compare-exchange whose success has order `o`: never a release.
GPUTM_LEAF constexpr order failure_order(order o) {
  return o == order::acq_rel ? order::acquire : o == order::release ? order::relaxed : o;
}

/// Lanes of a warp, bit i for lane i.
using mask_t = std::uint32_t;

/// Every lane of the warp. Lanes that do not exist (a short last warp, a warp width below 32 on the
/// host device) are left out by the host executor, as the hardware leaves them out.
inline constexpr mask_t full_mask = 0xffffffffu;

/// A place in the source, kept by the host executor for its reports.
struct site {
  const char* file = "?";
  unsigned line = 0;
};

}  // namespace gputm::simt
