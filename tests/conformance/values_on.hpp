// Values of the host, for kernels to read.
#pragma once

#include <algorithm>
#include <vector>

#include "gputm/device.hpp"

namespace gputm::conformance {

/// Those values, in memory of the stream's device, which has them when this returns.
template <class T>
buffer values_on(const stream& s, const std::vector<T>& values) {
  buffer b(s.on(), std::max<std::size_t>(values.size(), 1) * sizeof(T));
  s.on()->copy_to_device(s.handle(), b.as<void>(), values.data(), values.size() * sizeof(T));
  s.synchronize();
  return b;
}

}  // namespace gputm::conformance
