// Versions of lock words wrap: PR-STM only, for what it promises about them.
#pragma once

#include "isolation.hpp"
#include "own_writes.hpp"

namespace gputm::conformance {

template <class A>
struct pr_stm_parts;
template <class Layout, algorithm::opacity Opacity, class Priority>
struct pr_stm_parts<algorithm::basic_pr_stm<Layout, Opacity, Priority>> {
  using layout = Layout;
  static constexpr bool clocked = Opacity == algorithm::opacity::clock;
  /// The same with a version of four bits.
  using narrow = algorithm::basic_pr_stm<parts::lock_layout<std::uint32_t, 4, 19>, Opacity, parts::static_priority>;
};

/// Sets the versions of all locks of an array, as if that many commits had been made.
template <class A, class T>
void preset_versions(scene<A>& on, array<T> a, std::uint64_t version) {
  using layout = typename pr_stm_parts<A>::layout;
  const region& r = on.tm.core().regions().regions[a.handle() & 255u];
  const std::vector<typename layout::word> words(((a.size() - 1) >> r.lock_shift) + 1, layout::free(version));
  on.s.on()->copy_to_device(on.s.handle(), r.metadata, words.data(), words.size() * sizeof(words[0]));
  on.s.synchronize();
}

/// One thread after another: every commit is seen by the next one, also when the version starts over.
template <class A>
void increments_one_after_another(const venue& v, std::uint32_t count) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(1);
  launch_config alone = v.shape();
  alone.blocks = alone.threads = 1;
  const auto done = run(on.s, on.tm, std::vector<std::uint32_t>(count), increment{words}, {.reads = 1, .writes = 1}, alone);
  for (std::uint32_t k = 0; k < count; ++k) require_equal(done.results[k], k, "what an increment found");
  require_equal(on.total(words), count, "the word");
}
template <class A>
void narrow_versions_wrap(const venue& v) {
  if constexpr (!pr_stm_parts<A>::clocked) increments_one_after_another<typename pr_stm_parts<A>::narrow>(v, 40);
}
/// With fewer commits in all than versions, wrapping cannot be mistaken for no change.
template <class A>
void versions_wrap_under_contention(const venue& v) {
  if constexpr (!pr_stm_parts<A>::clocked) {
    using layout = typename pr_stm_parts<A>::layout;
    scene<A> on(v);
    auto words = on.tm.template allocate<std::uint32_t>(3);
    preset_versions(on, words, layout::max_version - v.pick(1u, 400u, 400u));
    std::vector<std::uint32_t> inputs(v.pick(6u, 1000u, 1000u));
    dice d(v.seed);
    for (std::uint32_t& in : inputs) in = 1 + d.below(7);
    const auto done = run(on.s, on.tm, inputs, increment_set{words}, {.reads = 3, .writes = 3}, v.shape());
    require_equal(done.stats.commits, inputs.size(), "commits");
    const auto after = on.tm.read(on.s, words);
    for (std::uint32_t i = 0; i < 3; ++i) {
      std::uint32_t count = 0;
      for (std::uint32_t in : inputs) count += in >> i & 1;
      require_equal(after[i], count, "increments of a word");
    }
  }
}

/// A clock near its end: the launch stops with an error that says so, or gets through; nothing is lost. After
/// it, stamps start over.
template <class A>
void the_clock_starts_over(const venue& v) {
  if constexpr (pr_stm_parts<A>::clocked) {
    using layout = typename pr_stm_parts<A>::layout;
    scene<A> on(v);
    auto words = on.tm.template allocate<std::uint32_t>(3);
    const std::uint64_t now = layout::max_version - v.pick(3u, 300u, 300u);
    on.s.on()->copy_to_device(on.s.handle(), on.tm.core().globals(), &now, sizeof now);
    preset_versions(on, words, now);
    std::vector<std::uint32_t> inputs(v.pick(6u, 3000u, 3000u), 0b111u);
    const auto expected = [&] {
      const auto after = on.tm.read(on.s, words);
      require(after[0] == after[1] && after[1] == after[2], "increments of three words that belong together");
      return after[0];
    };
    std::uint32_t before = 0;
    try {
      run(on.s, on.tm, inputs, increment_set{words}, {.reads = 3, .writes = 3}, v.shape());
      before = expected();
      require_equal(before, inputs.size(), "increments");
    } catch (const error& e) {
      require_mentions(e.what(), "clock");
      before = expected();
      require(before < inputs.size(), "an error, but everything is done");
    }
    run(on.s, on.tm, inputs, increment_set{words}, {.reads = 3, .writes = 3}, v.shape());
    require_equal(expected(), before + inputs.size(), "increments after stamps have started over");
  }
}

}  // namespace gputm::conformance
