// Versions of lock words wrap: PR-STM only, for what it promises about them.
#pragma once

#include "gputm/algorithm/pr_stm.hpp"
#include "gputm/run.hpp"
#include "suite.hpp"

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
  const auto done =
      run(on.s, on.tm, std::vector<std::uint32_t>(count), increment{words}, {.reads = 1, .writes = 1}, alone);
  for (std::uint32_t k = 0; k < count; ++k) require_equal(done.results[k], k, "what an increment found");
  require_equal(on.total(words), count, "the word");
}
template <class A>
void narrow_versions_wrap(const venue& v) {
  increments_one_after_another<typename pr_stm_parts<A>::narrow>(v, 40);
}
/// With fewer commits in all than versions, wrapping cannot be mistaken for no change.
template <class A>
void versions_wrap_under_contention(const venue& v) {
  using layout = typename pr_stm_parts<A>::layout;
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(3);
  preset_versions(on, words, layout::max_version - v.pick({1u, 400u, 400u}));
  std::vector<std::uint32_t> inputs(v.pick({6u, 1000u, 1000u}));
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

/// A clock near its end: the launch stops with an error that says so, and has done whole transactions only.
/// After it stamps start over.
template <class A>
void the_clock_starts_over(const venue& v) {
  using layout = typename pr_stm_parts<A>::layout;
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(3);
  const std::uint64_t now = layout::max_version - 2 * parts::max_threads - v.pick({2u, 300u, 300u});
  on.s.on()->copy_to_device(on.s.handle(), on.tm.core().globals(), &now, sizeof now);
  preset_versions(on, words, now);
  const std::vector<std::uint32_t> inputs(v.pick({6u, 3000u, 3000u}), 0b111u);
  const auto go = [&] { run(on.s, on.tm, inputs, increment_set{words}, {.reads = 3, .writes = 3}, v.shape()); };
  const auto increments = [&] {
    const auto after = on.tm.read(on.s, words);
    require(after[0] == after[1] && after[1] == after[2], "words that belong together differ");
    return after[0];
  };
  require_throws<error>(go, {"clock", "no stamps left"});
  const std::uint32_t before = increments();
  require(before > 0 && before < inputs.size(), "increments before the error");
  go();
  require_equal(increments(), before + inputs.size(), "increments after stamps have started over");
  std::uint64_t clock = 0;
  on.s.on()->copy_from_device(on.s.handle(), &clock, on.tm.core().globals(), sizeof clock);
  on.s.synchronize();
  require_equal(clock, inputs.size(), "stamps since they started over");
}

/// What any algorithm promises, and this.
template <class A>
std::vector<property> pr_stm_properties() {
  std::vector<property> all = properties_of<A>();
  if constexpr (pr_stm_parts<A>::clocked) {
    all.push_back(GPUTM_PROPERTY(the_clock_starts_over, 300));
  } else {
    all.push_back(GPUTM_PROPERTY(narrow_versions_wrap, 100));
    all.push_back(GPUTM_PROPERTY(versions_wrap_under_contention));
  }
  return all;
}

#define GPUTM_PR_STM_CONFORMANCE(name, ...) \
  GPUTM_CONFORMANCE_TO(name, gputm::conformance::pr_stm_properties<__VA_ARGS__>())

}  // namespace gputm::conformance
