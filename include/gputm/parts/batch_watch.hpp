// Floor 2: how a lane of a server finds the batches that client warps have sent.
#pragma once

#include <cstdint>

#include "gputm/parts/commit_channel.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// One of several servers.
struct server_rank {
  std::uint32_t number = 0, of = 1;
};

/// The client warps that one lane of a server watches, and what it has found there. All lanes of the warp make theirs
/// together.
class batch_watch {
  static constexpr unsigned at_once = 8;  // flags whose loads overlap

  std::uint32_t first_, step_, at_ = first_;
  simt::mask_t leaders_ = 0;

 public:
  /// A batch is 1 + warp * 32 + leader.
  static constexpr std::uint32_t none = 0;
  static GPUTM_INLINE std::uint32_t warp(std::uint32_t batch) { return (batch - 1) / 32; }
  static GPUTM_INLINE std::uint32_t leader(std::uint32_t batch) { return (batch - 1) % 32; }

  GPUTM_INLINE explicit batch_watch(server_rank server)
      : first_(server.number + simt::lane() * server.of),
        step_(simt::count(simt::ballot(simt::full_mask, true)) * server.of) {}

  /// A batch, or none after a look at each of them.
  GPUTM_INLINE std::uint32_t find(const commit_channel& c) {
    const std::uint32_t rounds = (c.warps() + step_ - 1) / step_;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; leaders_ == 0 && k < rounds; k += at_once) look(c);
    if (leaders_ == 0) return none;
    const std::uint32_t leader = simt::lowest(leaders_);
    leaders_ &= leaders_ - 1;
    return 1 + at_ * 32 + leader;
  }

 private:
  GPUTM_INLINE std::uint32_t after(std::uint32_t warp, const commit_channel& c) const {
    return warp + step_ < c.warps() ? warp + step_ : first_;
  }
  GPUTM_INLINE void look(const commit_channel& c) {
    std::uint32_t warp[at_once];
    bool flagged[at_once];
    GPUTM_UNROLL
    for (unsigned i = 0; i < at_once; ++i) warp[i] = after(i == 0 ? at_ : warp[i - 1], c);
    GPUTM_UNROLL
    for (unsigned i = 0; i < at_once; ++i) flagged[i] = warp[i] < c.warps() && c.flagged(warp[i]);
    at_ = warp[at_once - 1];
    bool hit = false;
    GPUTM_UNROLL
    for (unsigned i = at_once; i-- > 0;)
      if (flagged[i]) {
        at_ = warp[i];
        hit = true;
      }
    if (hit) leaders_ = c.take(at_);
  }
};

}  // namespace gputm::parts
