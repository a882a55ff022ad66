// The frame of all loop workloads: puts a loop's arrays into a memory of an engine, takes the time of the loop, and
// holds the result against that of the sequential loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "gputm/speculate.hpp"
#include "gputm/speculation/sequential.hpp"
#include "loops/problems.hpp"
#include "loops/queue_gate.hpp"
#include "measurement.hpp"

namespace gputm::workloads {

struct loop_options {
  std::uint32_t blocks = 0, threads = 0;  ///< 0: gputm chooses
  std::uint32_t window = 0;               ///< iterations under speculation at a time; 0: gputm chooses
  std::uint32_t earlier_loops = 0;        ///< that the workspace has run before, on the same data
  bool queued = false;                    ///< all of the loop is enqueued before its time begins; on a GPU only
  bool compare = true;                    ///< with the sequential loop; not for a warm-up
};

/// Iterations up to which a loop that is not exact is run again by the engine `sequential` on the same device.
inline constexpr std::int64_t most_rerun = 1 << 16;
/// Beyond it, ulps by which a result may differ from the CPU's: of the problem's `unit`, which bounds its prices. The
/// functions of CUDA are within 2 ulp, those of glibc within 1, and a price is a difference of two products of them.
inline constexpr double most_ulps = 64;

/// How many elements differ; their number, and the first one, as text.
struct difference {
  std::uint64_t bytes = 0;
  std::string first;
};
inline difference compare_bytes(const array_bytes& got, const array_bytes& expected) {
  difference d;
  if (got.size() != expected.size()) return {1, "the number of arrays"};
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k].size() != expected[k].size()) return {1, "the size of array " + std::to_string(k)};
    if (got[k] == expected[k]) continue;
    for (std::size_t b = 0; b < got[k].size(); ++b) {
      if (got[k][b] == expected[k][b]) continue;
      if (d.bytes++ == 0) d.first = "byte " + std::to_string(b) + " of array " + std::to_string(k);
    }
  }
  return d;
}
/// The largest difference of the numbers in the first array, in ulps of `unit`; the other arrays must be identical,
/// else it is infinite.
inline double distance_in_ulps(const array_bytes& got, const array_bytes& expected, double unit) {
  if (got.size() != expected.size() || got.empty() || got[0].size() != expected[0].size()) return INFINITY;
  for (std::size_t k = 1; k < got.size(); ++k)
    if (got[k] != expected[k]) return INFINITY;
  const double ulp = std::nextafter(unit, INFINITY) - unit;
  double most = 0;
  for (std::size_t at = 0; at < got[0].size(); at += sizeof(double)) {
    double a, b;
    std::memcpy(&a, got[0].data() + at, sizeof a);
    std::memcpy(&b, expected[0].data() + at, sizeof b);
    const double ulps = std::fabs(a - b) / ulp;
    if (!(ulps <= most)) most = std::isnan(ulps) ? INFINITY : ulps;
  }
  return most;
}

inline namespace GPUTM_BUILD {  // as the launches in it

/// A loop under engine E, ready to run any number of times.
template <LoopEngine E>
class loop_workload {
  device device_;
  loop_options o_;

 public:
  /// Throws invalid_argument for options that the device cannot follow.
  loop_workload(device d, const loop_options& o) : device_(std::move(d)), o_(o) {
    if (o_.queued && device_.is_host())
      throw invalid_argument(
          "launches queued: the host device has no queue to hold up; measure a GPU, or say included");
  }

  /// Fresh data for each run. Throws what speculate throws.
  measurement run(const prepared_loop& loop) const {
    return std::visit(
        [&](const auto& p) {
          measurement m;
          const array_bytes result = execute<E>(p, m);
          if (o_.compare) judge(m, p, result, loop.reference());
          return m;
        },
        loop.problem());
  }

 private:
  static constexpr std::int64_t warm_up = 1 << 16;  // iterations

  /// Seconds that what `enqueue` enqueues takes: of the GPU's clock, or of the host's.
  template <class Enqueue>
  double seconds_on(const stream& s, Enqueue enqueue) const {
#if defined(__CUDACC__)
    if (!s.on().is_host()) return gpu_seconds(s, enqueue);
#endif
    return timed([&] {
      enqueue();
      s.synchronize();
    });
  }
#if defined(__CUDACC__)
  template <class Enqueue>
  double gpu_seconds(const stream& on, Enqueue enqueue) const {
    struct event {
      cudaEvent_t it{};
      event() { gputm::detail::check_cuda(cudaEventCreate(&it), "creating an event"); }
      ~event() { cudaEventDestroy(it); }
      event(const event&) = delete;
      event& operator=(const event&) = delete;
    } from, to;
    const auto s = static_cast<cudaStream_t>(on.handle());
    std::optional<queue_gate> gate;
    if (o_.queued) gate.emplace(on);
    gputm::detail::check_cuda(cudaEventRecord(from.it, s), "recording an event");
    enqueue();
    gputm::detail::check_cuda(cudaEventRecord(to.it, s), "recording an event");
    if (gate) gate->lift();
    gputm::detail::check_cuda(cudaEventSynchronize(to.it), "running a loop");
    float milliseconds = 0;
    gputm::detail::check_cuda(cudaEventElapsedTime(&milliseconds, from.it, to.it), "timing a loop");
    return static_cast<double>(milliseconds) * 1e-3;
  }
#endif
  /// Runs it under an engine; the arrays afterwards.
  template <class Engine, class Problem>
  array_bytes execute(const Problem& p, measurement& m) const {
    stream s(device_);
    memory<Engine> tm(device_);
    device_place<Engine> place(s, tm);
    auto body = p.place(place);
    loop_config c;
    c.capacity = p.capacity;
    c.blocks = o_.blocks;
    c.threads = o_.threads;
    c.window = o_.window;
    if (!p.idles || static_cast<std::uint64_t>(p.iterations) < c.skip_idle_from)
      c.skip_idle_from = std::numeric_limits<std::uint64_t>::max();
    else
      c.skip_idle_from = 1;  // for the warm-up, too
    const array_bytes before = place.results();
    {  // what a first launch loads, and its first touch of the arrays, are no part of the loop; nor is what it learns
      const std::int64_t few = std::min(p.iterations, warm_up);
      auto w = make_loop_workspace<decltype(body)>(s, tm, few, c);
      speculate_async(s, tm, w, few, body);
      s.synchronize();
    }
    place.restore(before);
    auto w = make_loop_workspace<decltype(body)>(s, tm, p.iterations, c);
    m.blocks = w.shape().clients;
    m.threads = w.shape().threads;
    for (std::uint32_t k = 0; k < o_.earlier_loops; ++k) {
      speculate_async(s, tm, w, p.iterations, body);
      w.collect(s, tm);
      place.restore(before);
    }
    m.seconds = seconds_on(s, [&] { speculate_async(s, tm, w, p.iterations, body); });
    loop_figures f;
    f.counters = w.collect(s, tm);
    f.judged = Engine::loop.ordered || !p.dependent;
    m.stats.commits = f.counters.iterations;
    m.loop = f;
    return place.results();
  }
  template <class Problem>
  void judge(measurement& m, const Problem& p, const array_bytes& result, const host_reference& reference) const {
    loop_figures& f = *m.loop;
    f.seconds_sequential = reference.seconds;
    if constexpr (Problem::exact) {
      say(m, compare_bytes(result, reference.arrays),
          "the loop of " + std::to_string(p.iterations) + " iterations on a CPU");
    } else {
      judge_inexact(m, p, result, reference);
    }
  }
  template <class Problem>
  void judge_inexact(measurement& m, const Problem& p, const array_bytes& result,
                     const host_reference& reference) const {
    const double ulps = distance_in_ulps(result, reference.arrays, p.unit);
    const bool close = ulps <= most_ulps;
    if (p.iterations <= most_rerun) {
      measurement again;
      say(m, compare_bytes(result, execute<speculation::sequential>(p, again)),
          "the loop of " + std::to_string(p.iterations) + " iterations on the same device");
      m.ok = m.ok && close;
    } else {
      m.ok = close;
    }
    m.invariant += std::string(m.invariant.empty() ? "" : "; ") + std::to_string(ulps) + " ulp of " +
                   std::to_string(static_cast<int>(p.unit)) + " from the CPU's, " +
                   std::to_string(static_cast<int>(most_ulps)) + " allowed";
  }
  static void say(measurement& m, const difference& d, const std::string& other) {
    m.loop->identical = d.bytes == 0;
    m.ok = d.bytes == 0;
    m.invariant = d.bytes == 0 ? "identical to " + other
                               : std::to_string(d.bytes) + " bytes differ from " + other + ", the first is " + d.first;
  }
};

}  // namespace GPUTM_BUILD
}  // namespace gputm::workloads
