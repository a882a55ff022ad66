// Floor 4: transactions inside the user's own kernel.
#pragma once

#include <cstdint>
#include <utility>

#include "gputm/kernel.hpp"

namespace gputm {
inline namespace GPUTM_BUILD {
namespace launching {

template <std::size_t I, class T>
struct argument {
  T value;
};
template <class Indices, class... Ts>
struct arguments;
template <std::size_t... I, class... Ts>
struct arguments<std::index_sequence<I...>, Ts...> : argument<I, Ts>... {
  GPUTM_INLINE explicit arguments(const Ts&... ts) : argument<I, Ts>{ts}... {}
  template <class F, class First>
  GPUTM_INLINE void call(const F& f, First& first) const {
    f(first, static_cast<const argument<I, Ts>&>(*this).value...);
  }
};

}  // namespace launching

/// What a user kernel gets as its first parameter.
template <class Client>
class context {
  Client& client_;
  std::uint64_t calls_ = 0;

 public:
  GPUTM_INLINE explicit context(Client& c) : client_(c) {}

  /// Number of this client thread, and how many there are. Servers of an algorithm are not clients.
  GPUTM_INLINE std::uint32_t rank() const { return simt::grid_thread_rank(); }
  GPUTM_INLINE std::uint32_t size() const { return client_.threads(); }

  /// Runs `body(tx, inputs...)` as a transaction until it commits or cancels; `lanes` are the lanes of the
  /// warp that call this together. A body that asks for a retry is tried again after a while. Returns
  /// commit or cancel, or conflict if the launch has been stopped by an error: then return soon.
  template <class Body, class... Inputs>
  GPUTM_INLINE outcome transact(simt::mask_t lanes, const Body& body, const Inputs&... inputs) {
    typename gputm::detail::result_of<Body>::type ignored{};
    return transact_into(lanes, ignored, body, inputs...);
  }
  /// The same; `result` receives what the committed attempt gave to tx.result().
  template <class Result, class Body, class... Inputs>
  GPUTM_INLINE outcome transact_into([[maybe_unused]] simt::mask_t lanes, Result& result, const Body& body,
                                     const Inputs&... inputs) {
    using gputm::detail::finish;
    const std::uint64_t number = calls_++;
    if constexpr (Client::collective) return transact_together(lanes, number, result, body, inputs...);
    std::uint32_t waits = 0;
    gputm::detail::vigil watching;
    finish f;
    GPUTM_NO_UNROLL
    do {
      f = client_.transact(number, result, body, inputs...);
    } while (f == finish::retry && client_.wait_for_others(number, waits, watching));
    client_.end_vigil(watching);
    return outcome_of(f);
  }
  /// Runs `count` transactions of one body, the k-th on next(k). Faster than `count` calls of transact():
  /// a lane that got through goes on to its next one while other lanes of its warp try again. Returns how
  /// many committed; fewer than those that did not cancel if the launch has been stopped.
  template <class Next, class Body>
  GPUTM_INLINE std::uint64_t transact_each([[maybe_unused]] simt::mask_t lanes, std::uint64_t count, Next next,
                                           const Body& body) {
    using gputm::detail::finish;
    typename gputm::detail::result_of<Body>::type ignored{};
    typename Client::ordeal o;
    gputm::detail::vigil watching;
    std::uint32_t waits = 0;
    std::uint64_t committed = 0, k = 0;
    if constexpr (Client::collective) return transact_each_together(lanes, count, next, body);
    if (count == 0) return 0;
    auto input = next(k);
    GPUTM_NO_UNROLL
    while (k < count) {
      const finish f = client_.try_once(calls_ + k, o, ignored, body, input);
      if (f == finish::again) continue;
      if (f == finish::stopped || (f == finish::retry && !client_.wait_for_others(calls_ + k, waits, watching))) break;
      o = {};
      if (f == finish::retry) continue;
      committed += f == finish::committed;
      if (++k < count) input = next(k);
    }
    client_.end_vigil(watching);
    calls_ += count;
    return committed;
  }
  /// Whether an error has stopped the launch.
  GPUTM_INLINE bool stopped() const { return client_.stopped(); }

 private:
  // Under a warp-collective algorithm the lanes stay together until the last of them is through.
  template <class Result, class Body, class... Inputs>
  GPUTM_INLINE outcome transact_together(simt::mask_t lanes, std::uint64_t number, Result& result, const Body& body,
                                         const Inputs&... inputs) {
    using gputm::detail::finish;
    typename Client::ordeal o;
    std::uint32_t waits = 0;
    gputm::detail::vigil watching;
    finish f = finish::again;
    bool open = true;
    GPUTM_NO_UNROLL
    do {
      const finish now = client_.try_together(lanes, open, number, o, result, body, inputs...);
      if (!open || now == finish::again) continue;
      f = now;
      o = {};
      open = f == finish::retry && client_.wait_for_others(number, waits, watching);
    } while (simt::any(lanes, open));
    client_.end_vigil(watching);
    return outcome_of(f);
  }
  template <class Next, class Body>
  GPUTM_INLINE std::uint64_t transact_each_together(simt::mask_t lanes, std::uint64_t count, Next next,
                                                    const Body& body) {
    using gputm::detail::finish;
    typename gputm::detail::result_of<Body>::type ignored{};
    typename Client::ordeal o;
    gputm::detail::vigil watching;
    std::uint32_t waits = 0;
    std::uint64_t committed = 0, k = 0;
    decltype(next(k)) input{};
    bool open = count != 0;
    if (open) input = next(k);
    GPUTM_NO_UNROLL
    while (simt::any(lanes, open)) {
      const finish f = client_.try_together(lanes, open, calls_ + k, o, ignored, body, input);
      if (!open || f == finish::again) continue;
      o = {};
      open = f != finish::stopped && (f != finish::retry || client_.wait_for_others(calls_ + k, waits, watching));
      if (f == finish::retry) continue;
      committed += f == finish::committed;
      open = open && ++k < count;
      if (open) input = next(k);
    }
    client_.end_vigil(watching);
    calls_ += count;
    return committed;
  }
};

namespace launching {

template <class A, class Policy, class Kernel, class... Args>
struct user_kernel {
  gputm::detail::client_parameters<A, Policy> parameters;
  Kernel kernel;
  arguments<std::index_sequence_for<Args...>, Args...> args;

  GPUTM_INLINE void operator()() const {
    if (gputm::detail::served(parameters)) return;
    gputm::detail::client<A, inline_entries<Kernel>, Policy> c(parameters);
    context<decltype(c)> ctx(c);
    args.call(kernel, ctx);
    c.finish_thread();
  }
};

}  // namespace launching

/// Enqueues `kernel(ctx, args...)` on every client thread; neither allocates nor waits.
template <class Policy, Algorithm A, class Kernel, class... Args>
void launch_async(const stream& s, memory<A>& tm, workspace<A, Policy>& w, const Kernel& kernel, const Args&... args) {
  using functor = launching::user_kernel<A, Policy, Kernel, Args...>;
  const functor f{w.begin(s, tm), kernel, launching::arguments<std::index_sequence_for<Args...>, Args...>(args...)};
  w.reset(s);
  launching::enqueue(s, tm.on(), w.shape(), f);
}

/// A workspace for launch_async of this kernel with these arguments.
template <class Policy = with_statistics, Algorithm A, class Kernel, class... Args>
workspace<A, Policy> make_launch_workspace(const stream& s, memory<A>& tm, const launch_config& config, const Kernel&,
                                           const Args&...) {
  using functor = launching::user_kernel<A, Policy, Kernel, Args...>;
  return {s, tm, launching::resolve<functor>(tm, config, parts::max_threads)};
}

/// Runs `kernel(ctx, args...)` on every client thread and waits. Grid-wide barriers are not allowed in it.
/// Throws as run() does.
template <class Policy = with_statistics, Algorithm A, class Kernel, class... Args>
statistics launch(const stream& s, memory<A>& tm, const launch_config& config, const Kernel& kernel,
                  const Args&... args) {
  gputm::detail::check_stream(s, tm.on());
  auto w = make_launch_workspace<Policy>(s, tm, config, kernel, args...);
  launch_async(s, tm, w, kernel, args...);
  return w.collect(s, tm);
}

}  // namespace GPUTM_BUILD
}  // namespace gputm
