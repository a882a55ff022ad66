// Floor 4: a client is one thread that runs transactions: it tries a body until it commits, cancels or
// asks for a retry, waits after conflicts, keeps the counters, and reports faults.
#pragma once

#include <cstdint>

#include "gputm/memory.hpp"
#include "gputm/recorder.hpp"
#include "gputm/transaction.hpp"
#include "gputm/vigil.hpp"

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
  std::uint64_t stuck_ns = 10'000'000'000;  ///< nanoseconds without any commit: the launch gives up; 0: never
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
  launch_shape shape;
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

/// Whether this block is none of the clients: a server, which it has been for the whole launch then, or one that fills
/// up a cluster. Clients are the first blocks, so that their ranks in the grid are theirs among the clients, too.
template <class A, class Policy>
GPUTM_INLINE bool served([[maybe_unused]] const client_parameters<A, Policy>& p) {
  if constexpr (A::traits.needs_server) {
    if (simt::block_rank() < p.shape.clients) return false;
    if (A::traits.server_cluster && simt::block_rank() < p.shape.first_server()) return true;
    A::serve({p.memory.globals, p.launch_memory, p.logs.capacity, p.shape, p.control});
    return true;
  }
  return false;
}

enum class finish : std::uint8_t { again, committed, cancelled, retry, stopped };
/// What a kernel's transact() says of a transaction that has come to an end.
GPUTM_INLINE constexpr outcome outcome_of(finish f) {
  return f == finish::committed ? outcome::commit : f == finish::cancelled ? outcome::cancel : outcome::conflict;
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
  /// Whether the lanes of a warp commit together: then try_together() takes the place of try_once().
  static constexpr bool collective = A::traits.warp_collective;

  /// What a transaction that has not got through yet remembers between attempts.
  struct ordeal {
    std::uint32_t aborts = 0;
    bool inside = false;      // of the starvation gate
    std::uint64_t since = 0;  // nanoseconds when it came there
    std::uint64_t began = 0;  // nanoseconds, for policies that want it
    vigil watching;
  };

  GPUTM_INLINE explicit client(const parameters& p)
      : p_(p),
        stm_({&p.memory.regions, p.memory.globals, p.launch_memory, p.logs, simt::grid_thread_rank(), p.shape,
              p.control}),
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
    parts::stopwatch time;
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
      if (!stm_.acquire(body, inputs...)) return counted(time, after_abort(number, o, read_only, locks_taken(number)));
    }
    attempt<stm_type, A::traits.opaque, fixed, Result, typename Policy::recorder> tx(stm_, p_.memory.regions, recorder_,
                                                                                     p_.logs.capacity, read_only);
    outcome said = tx.run(body, inputs...);
    const abort_reason why = settle(said, tx, number);
    recorder_.end(said, why == abort_reason::none);
    if (why != abort_reason::none) return counted(time, after_abort(number, o, read_only, why));
    if (said == outcome::commit) result = tx.kept_result();
    return counted(time, count_end(o, said, read_only, signals));
  }
  /// The same for algorithms whose lanes commit together: one attempt by each of `lanes` that is `open`; the
  /// others only take part. Nothing in it waits for a lane of this warp but the collectives, in which all are.
  template <class Result, class Body, class... Inputs>
  GPUTM_INLINE finish try_together(simt::mask_t lanes, bool open, std::uint64_t number, ordeal& o, Result& result,
                                   const Body& body, const Inputs&... inputs) {
    constexpr bool fixed = always_read_only<Body>;
    bool read_only = fixed;
    constexpr bool mixed = !fixed && says_read_only<Body, Inputs...>;
    if constexpr (mixed) read_only = open && body.read_only(inputs...);
    parts::stopwatch time;
    const approach way = open ? come_near(number, o, read_only) : approach::hold;
    const bool tries = way == approach::go;
    outcome said = outcome::conflict;
    abort_reason why = abort_reason::none;  // of a fault, which is no reason to commit
    Result kept{};
    bool committed = false;
    // Updates do not wait for the warp's read-only transactions, which may be long: their snapshots would grow old.
    GPUTM_NO_UNROLL
    for (unsigned turn = 0; turn <= mixed; ++turn) {
      if (tries && turn == (mixed && read_only)) {
        recorder_.begin();
        stm_.begin({rank_, o.aborts, o.began}, read_only);
        attempt<stm_type, A::traits.opaque, fixed, Result, typename Policy::recorder> tx(
            stm_, p_.memory.regions, recorder_, p_.logs.capacity, read_only);
        said = tx.run(body, inputs...);
        why = settle_fault(said, tx, number);
        kept = tx.kept_result();
      }
      const bool wants = why == abort_reason::none && said == outcome::commit;
      if (turn == 0)
        committed = stm_.commit_together(lanes, wants);
      else if (read_only)
        committed = wants;  // that is all there is to its commit
    }
    finish f = way == approach::stop ? leave(o, finish::stopped) : finish::again;
    if (tries) f = conclude(number, o, read_only, said, committed, why, kept, result);
    if (!simt::any(lanes, open && f != finish::again) && open) pause(o, tries);
    return open ? counted(time, f) : f;
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
    parts::exponential_backoff::wait(waits < 8 ? waits++ : waits, jitter_);  // thousands may be waiting
    v = look(p_.control, p_.patience.stuck_ns, number, true, v);
    return !v.stuck && !stopped();
  }
  GPUTM_INLINE void end_vigil(const vigil& v) {
    if (v.kept) unwatch(*p_.control);
  }
  GPUTM_INLINE bool stopped() const {
    return parts::stopped(simt::atomic(p_.control->signals).load(simt::order::relaxed));
  }

  /// Threads that run transactions.
  GPUTM_INLINE std::uint32_t threads() const {
    if constexpr (A::traits.needs_server) return p_.shape.client_threads();
    return simt::grid_threads();
  }

  /// Adds this thread's counters to the launch's; it runs no more transactions.
  GPUTM_INLINE void finish_thread() {
    if constexpr (A::traits.needs_server) stm_.leave();
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
  GPUTM_INLINE finish counted(parts::stopwatch time, finish f) const {
    parts::stopwatch again = time;
    time.lap(p_.control, phase::total);
    if (f == finish::again) again.lap(p_.control, phase::wasted);
    return f;
  }
  GPUTM_INLINE parts::counter_block& counters() {
    return p_.control->counters[simt::block_rank() % parts::counter_slots];
  }

  /// This thread makes no further attempt, although it looks at signals late.
  GPUTM_INLINE void report(parts::fault kind, std::uint32_t region, std::uint64_t a, std::uint64_t b,
                           std::uint64_t number) {
    parts::report_fault(*p_.control, kind, region, a, b, number);
    signals_ |= parts::control::stop;
  }
  /// What the body did wrong, if it did; none otherwise.
  template <class Tx>
  GPUTM_INLINE abort_reason settle_fault(outcome& said, const Tx& tx, std::uint64_t number) {
    const pending_fault f = tx.fault();
    if (f.kind != parts::fault::none) {
      // an inconsistent state may have led the body astray; on a consistent one it is the body's error
      const bool real = stm_.validate();
      stm_.abandon();
      said = outcome::conflict;
      if (real) report(f.kind, f.region, f.a, f.b, number);
      return real ? abort_reason::capacity : abort_reason::read_conflict;
    }
    if (tx.failed()) said = outcome::conflict;  // whatever the body made of it
    return abort_reason::none;
  }
  /// Ends the attempt; none if what the body said takes effect.
  template <class Tx>
  GPUTM_INLINE abort_reason settle(outcome& said, const Tx& tx, std::uint64_t number) {
    const abort_reason fault = settle_fault(said, tx, number);
    if (fault != abort_reason::none) return fault;
    bool ok = said != outcome::conflict;
    if (ok) ok = said == outcome::commit ? stm_.commit() : stm_.validate();
    if constexpr (A::traits.needs_footprint)
      if (said != outcome::commit && stm_.stored()) report(parts::fault::cancel_after_store, 0, 0, 0, number);
    return settle_end(said, ok);
  }
  GPUTM_INLINE abort_reason settle_end(outcome said, bool ok) {
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
  /// The attempt took effect.
  GPUTM_INLINE finish count_end(ordeal& o, outcome said, bool read_only, std::uint64_t signals) {
    if (said == outcome::commit)
      count_commit(read_only, signals);
    else
      count_abort(said == outcome::cancel ? abort_reason::cancelled : abort_reason::retry, read_only);
    if (said != outcome::retry) simt::progress();
    return leave(o, said == outcome::commit   ? finish::committed
                    : said == outcome::cancel ? finish::cancelled
                                              : finish::retry);
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
      report(parts::fault::read_capacity, stm_.overflow_region(), stm_.needed(), p_.logs.capacity.locks(), number);
    return abort_reason::write_conflict;
  }

  /// Counts an abort; whether the transaction has to go to the starvation gate now.
  GPUTM_INLINE bool starves(ordeal& o, bool read_only) const {
    ++o.aborts;
    const std::uint32_t limit = read_only ? p_.patience.read_only : p_.patience.updating;
    return limit != 0 && o.aborts >= limit && !o.inside;
  }
  /// At every 64th abort: does anything commit at all?
  GPUTM_INLINE void look_sometimes(std::uint64_t number, ordeal& o) const {
    if (o.aborts % 64 != 0) return;
    o.watching =
        o.watching.kept ? look(p_.control, p_.patience.stuck_ns, number, false, o.watching) : watch(*p_.control);
  }
  GPUTM_INLINE finish after_abort(std::uint64_t number, ordeal& o, bool read_only, abort_reason why) {
    count_abort(why, read_only);
    if (starves(o, read_only) && !A::traits.needs_footprint) {
      parts::starvation_gate::enter(p_.control, p_.patience.gather_ns);
      o.inside = true;
    }
    if (o.inside && !read_only && !o.watching.token) {
      o.watching = wait_for_token(p_.control, p_.patience.stuck_ns, number, o.watching);
    } else {
      parts::exponential_backoff::wait(o.inside ? 0 : o.aborts, jitter_);
      look_sometimes(number, o);
    }
    return o.watching.stuck ? leave(o, finish::stopped) : finish::again;
  }
  // ---- lanes that commit together must not wait for each other anywhere else: what waits in the functions
  // above is asked again at each attempt here
  enum class approach : std::uint8_t { go, hold, stop };

  /// May this transaction be tried now?
  GPUTM_INLINE approach come_near(std::uint64_t number, ordeal& o, bool read_only) {
    next_signals();
    const std::uint64_t signals = signals_;
    if (parts::stopped(signals) || !ready(number)) return approach::stop;
    if (needs_time() && o.aborts == 0) o.began = simt::nanoseconds();
    if (!o.inside) return read_only || !(signals & parts::control::closed) ? approach::go : approach::hold;
    if (!parts::starvation_gate::try_close(*p_.control, signals, o.since, p_.patience.gather_ns, threads()))
      return approach::hold;
    if (read_only || o.watching.token) return approach::go;
    if (!o.watching.kept) o.watching = watch(*p_.control);
    o.watching.token = parts::starvation_gate::try_token(*p_.control);
    if (o.watching.token) return approach::go;
    o.watching = look(p_.control, p_.patience.stuck_ns, number, false, o.watching);
    return o.watching.stuck ? approach::stop : approach::hold;
  }
  template <class Result>
  GPUTM_INLINE finish conclude(std::uint64_t number, ordeal& o, bool read_only, outcome said, bool committed,
                               abort_reason why, const Result& kept, Result& result) {
    if (why == abort_reason::none)
      why = settle_end(said, said == outcome::commit ? committed : said == outcome::conflict ? false : stm_.validate());
    recorder_.end(said, why == abort_reason::none);
    if (why != abort_reason::none) {
      count_abort(why, read_only);
      return grow_impatient(number, o, read_only);
    }
    if (said == outcome::commit) result = kept;
    next_signals();  // an attempt with a server takes long: who watches now?
    return count_end(o, said, read_only, signals_);
  }
  GPUTM_INLINE finish grow_impatient(std::uint64_t number, ordeal& o, bool read_only) {
    if (starves(o, read_only)) {
      o.since = simt::nanoseconds();
      o.inside = true;
      parts::starvation_gate::join(*p_.control);
    }
    look_sometimes(number, o);
    return o.watching.stuck ? leave(o, finish::stopped) : finish::again;
  }
  /// After an attempt in which no lane of the warp got through.
  GPUTM_INLINE void pause(const ordeal& o, bool tried) {
    if (tried)
      parts::exponential_backoff::wait(o.inside ? 0 : o.aborts, jitter_);
    else
      simt::backoff(500);
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
