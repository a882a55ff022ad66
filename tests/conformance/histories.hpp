// Recorded histories of random programs, explained by a serial order or not at all.
#pragma once

#include <span>

#include "gputm/run.hpp"
#include "venue.hpp"

namespace gputm::conformance {

/// A transaction that is a list of accesses.
struct access_program {
  static constexpr std::uint32_t most = 8;
  struct step {
    std::uint16_t element;
    bool write;
    bool wide;  ///< of the second array
  };
  step steps[most];
  std::uint32_t count;
  std::uint32_t number;
  bool cancels;
  bool reads_only;
};

/// Executes programs. What is written identifies its writer: number of the program, number of the step.
struct interpreter {
  array<std::uint64_t> narrow;
  array<std::uint64_t> wide;

  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const access_program& p) const {
    for (std::uint32_t k = 0; k < p.count; ++k) {
      const array<std::uint64_t>& a = p.steps[k].wide ? wide : narrow;
      touch(a[p.steps[k].element]);
    }
  }
  GPUTM_FN bool read_only(const access_program& p) const { return p.reads_only; }
  /// Some readers are slow, so that versions go before they want them: where there is a server, a commit takes hundreds
  /// of steps.
  static GPUTM_FN void dawdle(const access_program& p) {
    for (std::uint32_t k = 0; k < (p.reads_only && p.number % 3 == 0 ? 60u : 0u); ++k) simt::backoff();
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const access_program& p) const {
    const auto element_of = [this, &p](std::uint32_t k) {
      return (p.steps[k].wide ? wide : narrow)[p.steps[k].element];
    };
    if (p.reads_only && p.number % 2 == 0) {
      GPUTM_TRY(tx.load_each(p.count, element_of, [&p](std::uint32_t, std::uint64_t) { dawdle(p); }));
      return p.cancels ? gputm::cancel : gputm::commit;
    }
    for (std::uint32_t k = 0; k < p.count; ++k) {
      const access_program::step at = p.steps[k];
      dawdle(p);
      const array<std::uint64_t>& a = at.wide ? wide : narrow;
      if (at.write) {
        GPUTM_TRY(tx.store(a[at.element], std::uint64_t{p.number} * access_program::most + k + 1));
      } else {
        GPUTM_TRY([[maybe_unused]] std::uint64_t ignored, tx.load(a[at.element]));
      }
    }
    return p.cancels ? gputm::cancel : gputm::commit;
  }
};

inline std::vector<access_program> some_programs(const venue& v, std::uint32_t count, std::uint32_t elements,
                                                 bool may_cancel) {
  dice d(v.seed);
  std::vector<access_program> all(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    access_program& p = all[n];
    p = {};
    p.number = n;
    p.count = 1 + d.below(v.pick({4u, access_program::most, access_program::most}));
    p.reads_only = d.below(3) == 0;
    p.cancels = may_cancel && d.below(8) == 0;
    for (std::uint32_t k = 0; k < p.count; ++k)
      p.steps[k] = {static_cast<std::uint16_t>(d.below(elements)), !p.reads_only && d.below(2) == 0, d.below(4) == 0};
  }
  return all;
}

/// `thorough`: a history about which nothing can be found out is none, either.
inline void require_explained(const history::history& h, history::level level, bool thorough) {
  history::options o;
  o.level = level;
  if (!thorough) o.work_bound = 20'000'000;
  const history::verdict found = history::check(h, o);
  if (found.ok || (!thorough && found.found == history::finding::undetermined)) return;
  throw violated("the history is not " + std::string(level == history::level::opaque ? "opaque" : "strict") + ": " +
                 found.what);
}

template <class A>
void histories_are_explained(const venue& v) {
  scene<A> on(v, locking(v));
  const bool large = v.how == mode::gpu && v.round % 3 == 2;
  const std::uint32_t elements = v.pick({3u, 12u, large ? 2000u : 60u});
  auto narrow = on.tm.template allocate<std::uint64_t>(elements);
  auto wide = on.tm.template allocate<std::uint64_t>(elements);
  const auto programs =
      some_programs(v, v.pick({5u, 800u, large ? 100'000u : 4000u}), elements, !A::traits.keeps_stores);
  launch_config shape = v.shape();
  shape.history_words = v.pick({8192u, 1u << 16, large && A::traits.one_thread ? 1u << 23 : 1u << 16});
  if (v.how == mode::gpu) shape.blocks = large ? 8 : 2;
  history::history h;
  run<with_history>(on.s, on.tm, programs, interpreter{narrow, wide},
                    {.reads = access_program::most, .writes = access_program::most}, shape, &h);
  std::uint64_t ended = 0;
  for (const history::transaction& t : h.transactions) ended += t.how != history::transaction::ended::aborted;
  require_equal(ended, programs.size(), "attempts in the history that took effect");
  for (auto a : {narrow, wide}) {
    const auto values = on.tm.read(on.s, a);
    for (std::uint32_t i = 0; i < elements; ++i) h.final[{a.handle() & 255u, i}] = values[i];
  }
  require_explained(h, A::traits.opaque ? history::level::opaque : history::level::strict, v.exploring() || large);
}

}  // namespace gputm::conformance
