// Floor 4: a client is one thread that runs transactions: it tries a body until it commits, cancels or
// asks for a retry, waits after conflicts, keeps the counters, and reports faults.
#pragma once

#include <cstdint>

#include "gputm/memory.hpp"
#include "gputm/recorder.hpp"
#include "gputm/transaction.hpp"

namespace gputm {

/// Sizes and limits of the transactions of a launch.
struct capacity {
  std::uint32_t reads = 64;   ///< elements one transaction may read; a read-only one logs every load
  std::uint32_t writes = 64;  ///< elements one transaction may write
};

/// When a transaction counts as starving, and when a launch as stuck.
struct patience {
  std::uint32_t updating = 1024;            ///< aborts after which an update goes to the starvation gate; 0: never
  std::uint32_t read_only = 2;              ///< the same for a read-only transaction
  std::uint64_t gather_ns = 100'000;        ///< nanoseconds that starving transactions wait for others before it closes
  std::uint64_t stuck_ns = 10'000'000'000;  ///< nanoseconds without any commit after which the launch gives up
};

/// Compile-time choices of a launch.
struct with_statistics {
  static constexpr bool statistics = true;
  using recorder = null_recorder;
};
struct without_statistics {
  static constexpr bool statistics = false;
  using recorder = null_recorder;
};
/// Records every access for the history checker.
struct with_history {
  static constexpr bool statistics = true;
  using recorder = history_recorder;
};

namespace detail {

/// What every kernel of gputm gets; lives in the kernel's parameters.
template <class A, class Policy>
struct client_parameters {
  memory_ref<A> memory;
  parts::log_space logs;
  parts::control* control;
  std::byte* launch_memory;
  gputm::patience patience;
  typename Policy::recorder::storage record;
};

/// Stands for whatever an algorithm hands to a footprint.
struct any_touch {
  template <class T>
  GPUTM_INLINE void operator()(element<T>) const {}
};
template <class Body, class... Inputs>
inline constexpr bool has_footprint = requires(const Body& b, any_touch& touch, const Inputs&... in) {
  b.footprint(touch, in...);
};

enum class finish : std::uint8_t { again, committed, cancelled, retry, stopped };

/// Since when nothing is known to have committed. Small, and passed by value: a pointer to a client would
/// force its registers into memory, so the slow paths below are free functions.
struct vigil {
  std::uint64_t progress = 0, since = 0;
  bool kept = false, token = false, stuck = false;
};

/// Starts to watch the launch's progress.
GPUTM_INLINE vigil watch(parts::control& c) {
  simt::atomic(c.signals).fetch_add(parts::control::watcher, simt::order::relaxed);
  return {simt::atomic(c.progress).load(simt::order::relaxed), simt::nanoseconds(), true};
}
GPUTM_INLINE void unwatch(parts::control& c) {
  simt::atomic(c.signals).fetch_add(~parts::control::watcher + 1, simt::order::relaxed);
}
/// Has nothing committed for too long? Then the launch is stopped.
GPUTM_NOINLINE inline vigil look(parts::control* c, std::uint64_t limit, std::uint64_t number, bool retrying, vigil v) {
  const std::uint64_t now = simt::nanoseconds(), seen = simt::atomic(c->progress).load(simt::order::relaxed);
  if (seen != v.progress) {
    v.progress = seen;
    v.since = now;
  }
  v.stuck = now > v.since && now - v.since > limit;
  if (v.stuck) parts::report_fault(*c, parts::fault::no_progress, 0, now - v.since, retrying, number);
  return v;
}
/// Waits until this starving update is the one that may run.
GPUTM_NOINLINE inline vigil wait_for_token(parts::control* c, std::uint64_t limit, std::uint64_t number, vigil v) {
  if (!v.kept) v = watch(*c);
  while (!v.stuck && !(v.token = parts::starvation_gate::try_token(*c))) {
    simt::backoff(500);
    v = look(c, limit, number, false, v);
    v.stuck = v.stuck || parts::stopped(simt::atomic(c->signals).load(simt::order::relaxed));
  }
  return v;
}
template <class A, unsigned K, class Policy>
class client {
  using stm_type = typename A::template transaction<K>;
  using parameters = client_parameters<A, Policy>;

  const parameters& p_;
  stm_type stm_;
  typename Policy::recorder recorder_;
  parts::jitter jitter_;
  std::uint32_t rank_;
  std::uint64_t commits_ = 0, read_only_commits_ = 0;
  std::uint64_t signals_ = 0;  // as of the previous attempt

 public:
  /// What a transaction that has not got through yet remembers between attempts.
  struct ordeal {
    std::uint32_t aborts = 0;
    bool inside = false;      // of the starvation gate
    std::uint64_t began = 0;  // nanoseconds, for policies that want it
    vigil watching;
  };

  GPUTM_INLINE explicit client(const parameters& p)
      : p_(p),
        stm_({&p.memory.regions, p.memory.globals, p.launch_memory, p.logs, simt::grid_thread_rank()}),
        recorder_(p.record),
        jitter_(simt::grid_thread_rank() + 1),
        rank_(simt::grid_thread_rank()) {}

  /// One attempt of the body on these inputs: again, or how the transaction ended. `number`: of the input,
  /// for error messages. A loop over attempts, and not over transactions, lets the lanes of a warp that got
  /// through go on to their next transaction while others try again.
  template <class Result, class Body, class... Inputs>
  GPUTM_INLINE finish try_once(std::uint64_t number, ordeal& o, Result& result, const Body& body,
                               const Inputs&... inputs) {
    constexpr bool fixed = always_read_only<Body>;
    bool read_only = fixed;
    if constexpr (!fixed && says_read_only<Body, Inputs...>) read_only = body.read_only(inputs...);
    const std::uint64_t signals = next_signals();
    if (signals != 0 && !parts::starvation_gate::pass(p_.control, signals, o.inside || read_only))
      return leave(o, finish::stopped);
    if (needs_time() && o.aborts == 0) o.began = simt::nanoseconds();
    recorder_.begin();
    stm_.begin({rank_, o.aborts, o.began}, read_only);
    if (!ready(number)) return leave(o, finish::stopped);
    if constexpr (A::traits.needs_footprint) {
      static_assert(has_footprint<Body, Inputs...>,  // outside of this function: nvcc cannot check it here
                    "this algorithm needs to know accesses beforehand: the body must have footprint(touch, inputs...)");
      if (!stm_.acquire(body, inputs...)) return after_abort(number, o, read_only, locks_taken(number));
    }
    attempt<stm_type, A::traits.opaque, fixed, Result, typename Policy::recorder> tx(stm_, p_.memory.regions, recorder_,
                                                                                     p_.logs.capacity, read_only);
    outcome said = body(tx, inputs...);
    const abort_reason why = settle(said, tx, number);
    recorder_.end(said, why == abort_reason::none);
    if (why != abort_reason::none) return after_abort(number, o, read_only, why);
    result = tx.kept_result();
    if (said == outcome::commit)
      count_commit(read_only, signals);
    else
      count_abort(said == outcome::cancel ? abort_reason::cancelled : abort_reason::retry, read_only);
    if (said != outcome::retry) simt::progress();
    return leave(o, said == outcome::commit   ? finish::committed
                    : said == outcome::cancel ? finish::cancelled
                                              : finish::retry);
  }
  /// Runs the body until it is over.
  template <class Result, class Body, class... Inputs>
  GPUTM_INLINE finish transact(std::uint64_t number, Result& result, const Body& body, const Inputs&... inputs) {
    ordeal o;
    finish f;
    GPUTM_NO_UNROLL
    do {
      f = try_once(number, o, result, body, inputs...);
    } while (f == finish::again);
    return f;
  }

  /// Waits a little because a body asked for a retry; false when the launch is over or stuck. The caller
  /// ends the vigil.
  GPUTM_INLINE bool wait_for_others(std::uint64_t number, std::uint32_t& waits, vigil& v) {
    if (!v.kept) v = watch(*p_.control);
    parts::exponential_backoff::wait(waits < 6 ? waits++ : waits, jitter_);
    v = look(p_.control, p_.patience.stuck_ns, number, true, v);
    return !v.stuck && !stopped();
  }
  GPUTM_INLINE void end_vigil(const vigil& v) {
    if (v.kept) unwatch(*p_.control);
  }
  GPUTM_INLINE bool stopped() const {
    return parts::stopped(simt::atomic(p_.control->signals).load(simt::order::relaxed));
  }

  /// Adds this thread's counters to the launch's.
  GPUTM_INLINE void finish_thread() {
    recorder_.close();
    if constexpr (Policy::statistics) {
      auto& c = counters();
      if (commits_) simt::atomic(c.commits).fetch_add(commits_, simt::order::relaxed);
      if (read_only_commits_) simt::atomic(c.read_only_commits).fetch_add(read_only_commits_, simt::order::relaxed);
    }
  }

 private:
  static GPUTM_INLINE constexpr bool needs_time() {
    if constexpr (requires { A::priority::timed; }) return A::priority::timed;
    return false;
  }
  GPUTM_INLINE parts::counter_block& counters() {
    return p_.control->counters[simt::block_rank() % parts::counter_slots];
  }

  /// Ends the attempt; none if what the body said takes effect.
  template <class Tx>
  GPUTM_INLINE abort_reason settle(outcome& said, const Tx& tx, std::uint64_t number) {
    const pending_fault f = tx.fault();
    if (f.kind != parts::fault::none) {
      // an inconsistent state may have led the body astray; on a consistent one it is the body's error
      const bool real = stm_.validate();
      stm_.abandon();
      said = outcome::conflict;
      if (real) parts::report_fault(*p_.control, f.kind, f.region, f.a, f.b, number);
      return real ? abort_reason::capacity : abort_reason::read_conflict;
    }
    if (tx.failed()) said = outcome::conflict;  // whatever the body made of it
    bool ok = said != outcome::conflict;
    if (ok) ok = said == outcome::commit ? stm_.commit() : stm_.validate();
    if constexpr (A::traits.needs_footprint)
      if (said != outcome::commit && stm_.stored())
        parts::report_fault(*p_.control, parts::fault::cancel_after_store, 0, 0, 0, number);
    if (!ok || said != outcome::commit) stm_.abandon();
    if (ok) return abort_reason::none;
    const abort_reason why = stm_.reason();
    return why == abort_reason::none ? abort_reason::read_conflict : why;
  }

  GPUTM_INLINE void count_commit(bool read_only, std::uint64_t signals) {
    ++commits_;
    read_only_commits_ += read_only;
    if (signals >= parts::control::watcher) simt::atomic(p_.control->progress).fetch_add(1, simt::order::relaxed);
  }
  GPUTM_INLINE void count_abort(abort_reason why, bool read_only) {
    if constexpr (Policy::statistics) {
      auto& c = counters();
      simt::atomic(c.aborts[static_cast<unsigned>(why)]).fetch_add(1, simt::order::relaxed);
      if (read_only) simt::atomic(c.read_only_aborts).fetch_add(1, simt::order::relaxed);
    }
  }

  /// The signals of one attempt ago, so that their latency overlaps with the attempt: they are hints.
  GPUTM_INLINE std::uint64_t next_signals() {
    const std::uint64_t last = signals_;
    signals_ = simt::atomic(p_.control->signals).load(simt::order::relaxed);
    return last;
  }
  /// Whether the algorithm can go on at all.
  GPUTM_INLINE bool ready([[maybe_unused]] std::uint64_t number) {
    if constexpr (requires { stm_.exhausted(); })
      if (stm_.exhausted()) {
        parts::report_fault(*p_.control, parts::fault::clock_exhausted, 0, stm_.stamps(), 0, number);
        return false;
      }
    return true;
  }
  GPUTM_INLINE abort_reason locks_taken(std::uint64_t number) {
    if (stm_.reason() == abort_reason::capacity)
      parts::report_fault(*p_.control, parts::fault::read_capacity, 0, p_.logs.capacity.locks() + 1,
                          p_.logs.capacity.locks(), number);
    return abort_reason::write_conflict;
  }

  GPUTM_INLINE finish after_abort(std::uint64_t number, ordeal& o, bool read_only, abort_reason why) {
    count_abort(why, read_only);
    ++o.aborts;
    const std::uint32_t limit = read_only ? p_.patience.read_only : p_.patience.updating;
    if (!A::traits.needs_footprint && limit != 0 && o.aborts >= limit && !o.inside) {
      parts::starvation_gate::enter(p_.control, p_.patience.gather_ns);
      o.inside = true;
    }
    if (o.inside && !read_only && !o.watching.token) {
      o.watching = wait_for_token(p_.control, p_.patience.stuck_ns, number, o.watching);
    } else {
      parts::exponential_backoff::wait(o.inside ? 0 : o.aborts, jitter_);
      if (o.aborts % 64 == 0)
        o.watching =
            o.watching.kept ? look(p_.control, p_.patience.stuck_ns, number, false, o.watching) : watch(*p_.control);
    }
    return o.watching.stuck ? leave(o, finish::stopped) : finish::again;
  }
  GPUTM_INLINE finish leave(ordeal& o, finish f) {
    if (o.watching.token) parts::starvation_gate::drop_token(*p_.control);
    if (o.inside) parts::starvation_gate::leave(p_.control);
    end_vigil(o.watching);
    return f;
  }
};

}  // namespace detail
}  // namespace gputm
