// A property of loop engines on a GPU: a loop captured in a CUDA graph may be launched again and again, also between
// others of its workspace.
#pragma once

#if defined(__CUDACC__)
#include "speculation/programs.hpp"

namespace gputm::conformance {

struct add_one {
  array<std::uint32_t> a;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(const std::uint32_t v, it.load(a[static_cast<std::uint32_t>(i)]));
    GPUTM_TRY(it.store(a[static_cast<std::uint32_t>(i)], v + 1));
    return gputm::commit;
  }
};

template <class E, class Body>
void can_be_captured(stream& s, memory<E>& tm, array<std::uint32_t> a, const Body& body, const loop_config& c) {
  const std::uint32_t n = a.size();
  auto w = make_loop_workspace<Body>(s, tm, n, c);
  auto handle = static_cast<cudaStream_t>(s.handle());
  const auto check = [](cudaError_t e) { require(e == cudaSuccess, cudaGetErrorString(e)); };
  std::uint32_t loops = 0;
  const auto run_one = [&] {
    speculate_async(s, tm, w, n, body);
    ++loops;
  };
  run_one();
  run_one();
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check(cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal));
  speculate_async(s, tm, w, n, body);
  check(cudaStreamEndCapture(handle, &graph));
  check(cudaGraphInstantiate(&ready, graph, 0));
  for (int k = 0; k < 3; ++k) {
    run_one();
    for (int again = 0; again < 3; ++again, ++loops) check(cudaGraphLaunch(ready, handle));
  }
  require_equal(w.collect(s, tm).iterations, n, "iterations of the last launch");
  run_one();
  require_equal(w.collect(s, tm).iterations, n, "iterations of the loop behind it");
  check(cudaGraphExecDestroy(ready));
  check(cudaGraphDestroy(graph));
  for (const std::uint32_t x : tm.read(s, a)) require_equal(x, loops, "an element, loops");
}

template <class E>
void a_loop_can_be_captured_in_a_graph(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<std::uint32_t>(5000);
  loop_config c = config_for(v, {.reads = 1, .writes = 1});
  can_be_captured(s, tm, a, add_one{a}, c);
  c.skip_idle_from = 1;
  const auto b = tm.template allocate<std::uint32_t>(70'000);
  can_be_captured(s, tm, b, mostly_idle{add_one{b}}, c);
}

}  // namespace gputm::conformance
#endif
