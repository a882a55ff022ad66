// Floor 4: a loop most iterations of which have nothing to do, as a user says it.
#pragma once

#include "gputm/outcome.hpp"

namespace gputm {

/// The body of a loop of which most iterations return before they load or store anything: because a flag is not set, a
/// list is empty, a point is not inside. The same loop with the same result, told to gputm::speculate() like this:
///
///   gputm::speculate(stream, memory, n, gputm::mostly_idle{body});
///
/// In workspaces made for loop_config::skip_idle_from iterations or more, engines that know it (gpu_tls and its forms)
/// first run each iteration up to its first access, in a kernel of its own, and then speculate on those alone that have
/// one: windows, logs and checks are of these, side by side. Until its first access an iteration goes by what the body
/// has with it, raw pointers to what no iteration changes, say. If most iterations do access something, or if to find
/// out takes as long as all else, only time is lost. It takes 4.3 bytes of device memory for an iteration, and no such
/// loop is run in place. Shorter loops and other engines run it as any body; so do those for which there is no such
/// memory, but not in place.
template <class Body>
struct mostly_idle {
  Body body;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    return body(it, i);
  }
};
template <class Body>
mostly_idle(Body) -> mostly_idle<Body>;

}  // namespace gputm
