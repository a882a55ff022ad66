// What tests of the interface of loops share.
#pragma once

#include "speculation/suite.hpp"

namespace gputm {

/// Iterations that a scout and its probes run on the host device, whose warps have 32 lanes.
inline constexpr std::uint64_t scouted = std::uint64_t{speculation::scouts_on_host + speculation::probes_on_host} * 32;

/// A memory of each engine on the host device.
template <class E>
class loop_fixture : public testing::Test {
 protected:
  device on = host_device();
  stream s{on};
  memory<E> tm{on};
  loop_config config = {.capacity = {.reads = 4, .writes = 4}, .blocks = 2, .threads = 8};
};
using loop_engines = testing::Types<speculation::gpu_tls, speculation::gpu_tls_lazy, speculation::in_order_commit,
                                    speculation::direct_update, speculation::sequential>;

}  // namespace gputm
