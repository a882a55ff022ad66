// Floor 4: bulk transactions: one for each input.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <vector>

#include "gputm/kernel.hpp"
#include "gputm/parts/retry_queue.hpp"

namespace gputm {

/// What run() returns. Result i and outcome i belong to input i; an outcome is commit or cancel.
template <class Result>
struct run_result {
  statistics stats;
  std::vector<Result> results;  ///< only if the body has a result_type; kept from the committed attempt
  std::vector<outcome> outcomes;
};

/// Device pointers of a bulk run whose caller owns the memory. Null results or outcomes are not kept.
template <class Input, class Result>
struct bulk {
  const Input* inputs = nullptr;
  std::uint64_t count = 0;
  Result* results = nullptr;
  outcome* outcomes = nullptr;
  std::uint64_t* retry_slots = nullptr;  ///< `count` words if the body may return retry; without them an input that
                                         ///< does is not tried again, and has that outcome
};

inline namespace GPUTM_BUILD {
namespace launching {

template <class A, class Policy, class Body, class Input>
struct bulk_kernel {
  using result_type = typename gputm::detail::result_of<Body>::type;
  gputm::detail::client_parameters<A, Policy> parameters;
  Body body;
  bulk<Input, result_type> work;

  using client_type = gputm::detail::client<A, inline_entries<Body>, Policy>;
  using finish = gputm::detail::finish;

  GPUTM_INLINE void keep(std::uint64_t i, finish f, const result_type& result) const {
    if (f == finish::retry && work.retry_slots) {
      queue().push(i);
    } else if (f != finish::stopped) {
      if (work.results && f == finish::committed) work.results[i] = result;
      const outcome other = f == finish::retry ? outcome::retry : outcome::cancel;
      if (work.outcomes) work.outcomes[i] = f == finish::committed ? outcome::commit : other;
    }
  }
  GPUTM_INLINE parts::retry_queue queue() const {
    return {parameters.control->retry_head, parameters.control->retry_tail, parameters.control->retry_ready,
            work.retry_slots, work.count};
  }
  /// Inputs that asked for a retry wait behind all others. Whoever puts one back looks again before it
  /// leaves, so none is forgotten.
  GPUTM_INLINE void drain(client_type& c) const {
    std::uint32_t waits = 0;
    std::uint64_t i = 0;
    gputm::detail::vigil watching;
    while (queue().pop(i)) {
      result_type result{};
      const finish f = c.transact(i, result, body, work.inputs[i]);
      keep(i, f, result);
      if (f == finish::stopped) break;
      if (f == finish::retry && !c.wait_for_others(i, waits, watching)) break;
    }
    c.end_vigil(watching);
  }
  /// The same for lanes that commit together: those without an input take part until the last one of their warp
  /// is through. One loop for both kinds of input, since an attempt is a lot of code.
  GPUTM_INLINE void all_together(client_type& c) const {
    typename client_type::ordeal o;
    std::uint64_t own = simt::grid_thread_rank(), i = 0;
    std::uint32_t waits = 0;
    gputm::detail::vigil watching;
    bool stop = false, open = take(own, i, c.threads());
    GPUTM_NO_UNROLL
    while (simt::any(simt::full_mask, open)) {
      result_type result{};
      const finish f = c.try_together(simt::full_mask, open, i, o, result, body, work.inputs[open ? i : 0]);
      if (open && f == finish::again) continue;
      if (open) {
        keep(i, f, result);
        o = {};
        const bool last = own >= work.count;
        stop = f == finish::stopped || (f == finish::retry && last && !c.wait_for_others(i, waits, watching));
      }
      open = !stop && take(own, i, c.threads());
    }
    c.end_vigil(watching);
  }
  /// The next of this thread's inputs, or one that asked for a retry.
  GPUTM_INLINE bool take(std::uint64_t& own, std::uint64_t& i, std::uint32_t threads) const {
    if (own >= work.count) return work.retry_slots && queue().pop(i);
    i = own;
    own += threads;
    return true;
  }
  GPUTM_INLINE void operator()() const {
    if (gputm::detail::served(parameters)) return;
    client_type c(parameters);
    if constexpr (client_type::collective)
      all_together(c);
    else
      one_by_one(c);
    c.finish_thread();
  }
  GPUTM_INLINE void one_by_one(client_type& c) const {
    typename client_type::ordeal o;
    finish f = finish::committed;
    GPUTM_NO_UNROLL
    for (std::uint64_t i = simt::grid_thread_rank(); i < work.count && f != finish::stopped;) {
      result_type result{};
      f = c.try_once(i, o, result, body, work.inputs[i]);
      if (f == finish::again) continue;
      keep(i, f, result);
      o = {};
      i += simt::grid_threads();
    }
    if (f != finish::stopped && work.retry_slots) drain(c);
  }
};

}  // namespace launching

/// Enqueues one transaction for each input in device memory; neither allocates nor waits, and can be
/// captured in a CUDA graph. Counters and the first error go to the workspace, which is reset first; read
/// them with workspace.collect().
template <class Policy, Algorithm A, class Body, class Input>
void run_async(const stream& s, memory<A>& tm, workspace<A, Policy>& w, const Body& body,
               const bulk<Input, typename gputm::detail::result_of<Body>::type>& work) {
  using kernel = launching::bulk_kernel<A, Policy, Body, Input>;
  const kernel k{w.begin(s, tm), body, work};
  w.reset(s);
  // a launch that ended with an error has left inputs there
  if (work.retry_slots) tm.on()->fill_zero(s.handle(), work.retry_slots, work.count * sizeof(std::uint64_t));
  launching::enqueue(s, tm.on(), w.shape(), k);
}

/// A workspace for run_async with this body and input type; zeros in `config` are chosen for `count` inputs.
template <class Body, class Input, class Policy = with_statistics, Algorithm A>
workspace<A, Policy> make_workspace(const stream& s, memory<A>& tm, std::uint64_t count,
                                    const launch_config& config = {}) {
  using kernel = launching::bulk_kernel<A, Policy, Body, Input>;
  return {s, tm, launching::resolve<kernel>(tm, config, count)};
}

/// Runs one transaction for each input, in no particular order, and waits. Inputs: a contiguous range in
/// host memory. `sizes` is the capacity, whatever `config` says of that. Throws what an input's body did wrong
/// (capacity_exceeded, index_out_of_range, read_only_violation), no_progress, and what launching can throw.
template <class Policy = with_statistics, Algorithm A, std::ranges::contiguous_range Inputs, class Body>
auto run(const stream& s, memory<A>& tm, const Inputs& inputs, const Body& body, gputm::capacity sizes = {},
         launch_config config = {}, history::history* record = nullptr) {
  using input = std::ranges::range_value_t<Inputs>;
  using result = typename gputm::detail::result_of<Body>::type;
  constexpr bool has_result = requires { typename Body::result_type; };
  static_assert(
      std::is_trivially_copyable_v<input> && std::is_trivially_copyable_v<result> && std::is_trivially_copyable_v<Body>,
      "inputs, results and bodies are copied to the device: they must be trivially copyable");
  static_assert(!std::is_same_v<result, bool>,
                "std::vector<bool> has no array of bool: use std::uint8_t as result_type");
  run_result<result> done;
  const std::uint64_t n = std::ranges::size(inputs);
  gputm::detail::check_stream(s, tm.on());
  if (n == 0) return done;
  config.capacity = sizes;
  auto w = make_workspace<Body, input, Policy>(s, tm, n, config);
  buffer in(tm.on(), n * sizeof(input)), out(tm.on(), has_result ? n * sizeof(result) : 1), said(tm.on(), n),
      retries(tm.on(), n * 8);
  tm.on()->copy_to_device(s.handle(), in.as<void>(), std::ranges::data(inputs), n * sizeof(input));
  tm.on()->fill_zero(s.handle(), out.as<void>(), out.size());  // an input that cancels has no result: zeros
  run_async(s, tm, w, body,
            bulk<input, result>{in.as<input>(), n, has_result ? out.as<result>() : nullptr, said.as<outcome>(),
                                retries.as<std::uint64_t>()});
  done.stats = w.collect(s, tm);
  done.outcomes.resize(n);
  tm.on()->copy_from_device(s.handle(), done.outcomes.data(), said.as<void>(), n);
  if constexpr (has_result) {
    done.results.resize(n);
    tm.on()->copy_from_device(s.handle(), done.results.data(), out.as<void>(), n * sizeof(result));
  }
  s.synchronize();
  if constexpr (std::is_same_v<Policy, with_history>)
    if (record) w.take_history(s, *record);
  return done;
}

}  // namespace GPUTM_BUILD
}  // namespace gputm
