// Transactions in kernels of the user's own.
#pragma once

#include "isolation.hpp"

#if defined(__CUDACC__)
#include "bulk.hpp"
#include "gputm/run.hpp"
#endif

namespace gputm::conformance {

/// A body without inputs that writes where it is told to by its fields.
struct sign {
  array<std::uint32_t> book;
  std::uint32_t place, text;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch) const {
    touch(book[place]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx) const {
    GPUTM_TRY(std::uint32_t before, tx.load(book[place]));
    tx.result(before);
    if (before != 0) return gputm::cancel;
    GPUTM_TRY(tx.store(book[place], text));
    return gputm::commit;
  }
};

struct guests {
  array<std::uint32_t> book;
  array<std::uint32_t> count;
  alarm wrong;
  template <class Context>
  GPUTM_FN void operator()(Context& ctx, std::uint32_t text, std::uint64_t* seen) const {
    wrong.raise_if(ctx.rank() >= ctx.size() || ctx.stopped());
    // the same place twice: the second one cancels
    wrong.raise_if(ctx.transact(simt::full_mask, sign{book, ctx.rank(), ctx.rank() + text}) != gputm::commit);
    std::uint32_t kept = ~0u;
    wrong.raise_if(ctx.transact_into(simt::full_mask, kept, sign{book, ctx.rank(), 1}) != gputm::cancel || kept != ~0u);
    std::uint32_t found = ~0u;
    wrong.raise_if(ctx.transact_into(simt::full_mask, found, increment{count}, std::uint32_t{0}) != gputm::commit);
    if (found < ctx.size()) simt::atomic(seen[found]).fetch_add(1, simt::order::relaxed);
  }
};

template <class A>
void every_thread_of_a_kernel_transacts(const venue& v) {
  scene<A> on(v, locking(v));
  launch_config shape = v.shape();
  if (v.how == mode::gpu) shape.blocks = 32;
  const std::uint32_t n = A::traits.one_thread ? 1 : shape.blocks * shape.threads;
  auto book = on.tm.template allocate<std::uint32_t>(n);
  auto count = on.tm.template allocate<std::uint32_t>(1);
  scratch seen(on.s, n), wrong(on.s, 1);
  const statistics done = launch(on.s, on.tm, shape, guests{book, count, wrong.alarm()}, 5u, seen.at());
  require_equal(wrong.value(), 0u, "transactions that ended in an unexpected way");
  require_equal(done.commits, 2 * n, "commits");
  require_equal(done[abort_reason::cancelled], n, "cancellations");
  const auto names = on.tm.read(on.s, book);
  for (std::uint32_t i = 0; i < n; ++i) require_equal(names[i], i + 5, "what a thread wrote");
  for (std::uint64_t times : seen.values()) require_equal(times, 1u, "threads that found a certain count");
  require_equal(on.total(count), n, "the count");
}

/// Real time and what lies outside of transactions: a thread commits, and then says so by a plain release
/// store; whoever acquires that must see the commit, in a read-only transaction and in an update.
struct peek {
  static constexpr bool read_only = true;
  array<std::uint32_t> words;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch) const {
    touch(words[0]);
    touch(words[1]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx) const {
    GPUTM_TRY(std::uint32_t a, tx.load(words[0]));
    GPUTM_TRY(std::uint32_t b, tx.load(words[1]));
    tx.result(a == b ? a : ~0u);
    return gputm::commit;
  }
};
struct append {
  array<std::uint32_t> words;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch) const {
    touch(words[0]);
    touch(words[1]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx) const {
    GPUTM_TRY(std::uint32_t a, tx.load(words[0]));
    tx.result(a);
    GPUTM_TRY(tx.store(words[0], a + 1));
    GPUTM_TRY(tx.store(words[1], a + 1));
    return gputm::commit;
  }
};

struct relay {
  array<std::uint32_t> words;
  std::uint64_t* flags;
  alarm wrong;
  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    const std::uint32_t me = ctx.rank();
    if (me != 0)
      while (simt::atomic(flags[me]).load(simt::order::acquire) == 0) simt::backoff();
    std::uint32_t seen = 0;
    if (me % 3 != 0) {
      (void)ctx.transact_into(1u << simt::lane(), seen, peek{words});
      wrong.raise_if(seen != me);
    }
    (void)ctx.transact_into(1u << simt::lane(), seen, append{words});
    wrong.raise_if(seen != me);
    simt::atomic(flags[me + 1]).store(1, simt::order::release);
  }
};

template <class A>
void commits_are_seen_in_real_time(const venue& v) {
  scene<A> on(v);
  launch_config shape = v.shape();
  if (v.how == mode::gpu) shape.blocks = 4;
  const std::uint32_t n = A::traits.one_thread ? 1 : shape.blocks * shape.threads;
  auto words = on.tm.template allocate<std::uint32_t>(2);
  scratch flags(on.s, n + 1), wrong(on.s, 1);
  launch(on.s, on.tm, shape, relay{words, flags.at(), wrong.alarm()});
  require_equal(wrong.value(), 0u, "transactions that missed a commit before them");
  for (std::uint32_t w : on.tm.read(on.s, words)) require_equal(w, n, "a word");
}

#if defined(__CUDACC__)
/// A bulk run captured in a CUDA graph, launched several times.
template <class A>
void a_run_can_be_captured_in_a_graph(const venue& v) {
  if (v.how != mode::gpu) return;
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(2);
  std::vector<std::uint32_t> inputs(5000);
  for (std::uint32_t k = 0; k < inputs.size(); ++k) inputs[k] = k % 2;
  const on_device data(on.s, inputs);
  auto w = make_workspace<increment, std::uint32_t>(on.s, on.tm, inputs.size(), v.shape());
  auto handle = static_cast<cudaStream_t>(on.s.handle());
  const auto check = [](cudaError_t e) { require(e == cudaSuccess, cudaGetErrorString(e)); };
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check(cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal));
  run_async(on.s, on.tm, w, increment{words}, data.work());
  check(cudaStreamEndCapture(handle, &graph));
  check(cudaGraphInstantiate(&ready, graph, 0));
  for (int k = 0; k < 3; ++k) check(cudaGraphLaunch(ready, handle));
  require_equal(w.collect(on.s, on.tm).commits, inputs.size(), "commits of the last launch");
  check(cudaGraphExecDestroy(ready));
  check(cudaGraphDestroy(graph));
  require_equal(on.total(words), 3 * inputs.size(), "increments");
}
#endif

}  // namespace gputm::conformance
