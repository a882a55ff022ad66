// What tests of the interface of loops share.
#pragma once

#include "speculation/suite.hpp"

namespace gputm {

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
