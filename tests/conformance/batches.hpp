// Lanes that transact together: what one of them says about its commit holds when it says so, whatever became of
// the others.
#pragma once

#include "kernels.hpp"

namespace gputm::conformance {

struct look_up {
  static constexpr bool read_only = true;
  array<std::uint32_t> book;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t place) const {
    touch(book[place]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t place) const {
    GPUTM_TRY(std::uint32_t text, tx.load(book[place]));
    tx.result(text);
    return gputm::commit;
  }
};

/// The first block writes, its warps all lanes together; each thread of the second waits to hear of one of them.
struct heralds {
  array<std::uint32_t> book;
  std::uint64_t* flags;
  alarm wrong;
  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    const std::uint32_t half = ctx.size() / 2, me = ctx.rank();
    if (me < half) {
      wrong.raise_if(ctx.transact(simt::full_mask, sign{book, me, 7}) != gputm::commit);
      simt::atomic(flags[me]).store(1, simt::order::release);
      return;
    }
    while (simt::atomic(flags[me - half]).load(simt::order::acquire) == 0) simt::backoff();
    std::uint32_t seen = 0;
    (void)ctx.transact_into(1u << simt::lane(), seen, look_up{book}, me - half);
    wrong.raise_if(seen != 7);
  }
};

template <class A>
void commits_of_a_batch_are_seen_in_real_time(const venue& v) {
  if (A::traits.one_thread) return;
  scene<A> on(v);
  launch_config shape = v.shape();
  shape.blocks = 2;
  if (v.exploring()) shape.threads = 2 + v.round / 3 % 3;
  auto book = on.tm.template allocate<std::uint32_t>(shape.threads);
  scratch flags(on.s, shape.threads), wrong(on.s, 1);
  launch(on.s, on.tm, shape, heralds{book, flags.at(), wrong.alarm()});
  require_equal(wrong.value(), 0u, "commits that were not seen by who had been told of them");
}

}  // namespace gputm::conformance
