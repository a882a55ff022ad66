// One timed launch of a workload's client.
#pragma once

#include "gputm/gputm.hpp"
#include "measurement.hpp"

namespace gputm::workloads {

/// Launches `client` on the workspace `w`, which has been made for it, and waits for its end. The workload says itself
/// whether the result is right.
template <class Workspace, class Memory, class Client>
measurement measured_launch(const stream& s, Memory& memory, Workspace& w, const Client& client) {
  measurement m;
  m.blocks = w.config().blocks;
  m.threads = w.config().threads;
  m.clusters = w.shape().cluster > 1;
  m.seconds = timed([&] {
    launch_async(s, memory, w, client);
    s.synchronize();
  });
  m.stats = w.collect(s, memory);
  return m;
}

}  // namespace gputm::workloads
