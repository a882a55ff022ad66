// Bulk runs: sizes, kinds that mix, counters, workspaces that are used again.
#pragma once

#include "gputm/run.hpp"
#include "isolation.hpp"
#include "values_on.hpp"

namespace gputm::conformance {

template <class A>
void no_inputs_and_one_input(const venue& v) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(1);
  const auto none = run(on.s, on.tm, std::vector<std::uint32_t>{}, increment{words}, {}, v.shape());
  require_equal(none.stats.commits + none.results.size() + none.outcomes.size(), 0u, "what a run of nothing gives");
  const auto one = run(on.s, on.tm, std::vector<std::uint32_t>{0}, increment{words}, {}, v.shape());
  require_equal(one.stats.commits, 1u, "commits");
  require_equal(one.stats.conflicts(), 0u, "conflicts of a transaction alone");
  require_equal(one.results.size(), 1u, "results");
  require_equal(one.outcomes.size(), 1u, "outcomes");
  require_equal(on.total(words), 1u, "the word");
}

template <class A>
void a_million_inputs(const venue& v) {
  scene<A> on(v);
  const std::uint32_t accounts = v.pick({4u, 50'000u, 1'000'000u});
  auto balance = on.tm.template allocate<int>(accounts, 100);
  // few threads of a GPU would take too long
  const std::uint32_t inputs = v.amount<A>(4u, 1'000'000u, v.round % 3 == 2 ? 1'000'000u : 100'000u);
  const auto orders = some_orders(v, inputs, accounts);
  const auto done = run(on.s, on.tm, orders, transfer{balance}, {.reads = 2, .writes = 2});
  outcomes_and_counters_agree(done, orders.size());
  require_equal(on.total(balance), static_cast<int>(accounts) * 100, "the total");
}

/// Kinds by input, in one run: read-only ones are counted as such, updates are not.
struct read_or_increment {
  array<std::uint32_t> words;
  using result_type = std::uint32_t;
  GPUTM_FN bool read_only(std::uint32_t in) const { return in % 2 == 0; }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t in) const {
    touch(words[in / 2]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    if (in % 2) return increment{words}(tx, in / 2);
    GPUTM_TRY(std::uint32_t w, tx.load(words[in / 2]));
    tx.result(w);
    return gputm::commit;
  }
};

template <class A>
void kinds_mix_in_one_run(const venue& v) {
  scene<A> on(v, locking(v));
  const std::uint32_t n = v.pick({2u, 30u, 300u});
  auto words = on.tm.template allocate<std::uint32_t>(n);
  std::vector<std::uint32_t> inputs(v.amount<A>(5u, 10'000u, 40'000u)), count(n);
  dice d(v.seed);
  std::uint64_t readers = 0;
  for (std::uint32_t& in : inputs) {
    in = d.below(2 * n);
    readers += in % 2 == 0;
    count[in / 2] += in % 2;
  }
  const auto done = run(on.s, on.tm, inputs, read_or_increment{words}, {.reads = 1, .writes = 1}, v.shape());
  require_equal(done.stats.commits, inputs.size(), "commits");
  require_equal(done.stats.read_only_commits, readers, "read-only commits");
  require(done.stats.read_only_aborts <= done.stats.conflicts(), "more read-only aborts than aborts");
  for (std::size_t k = 0; k < inputs.size(); ++k)
    require(done.results[k] <= count[inputs[k] / 2], "a result that no committed state has");
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t i = 0; i < n; ++i) require_equal(after[i], count[i], "a word");
}

template <class A>
void counting_can_be_left_out(const venue& v) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(3);
  std::vector<std::uint32_t> inputs(v.pick({4u, 1000u, 10'000u}));
  for (std::uint32_t k = 0; k < inputs.size(); ++k) inputs[k] = k % 3;
  const auto done =
      run<without_statistics>(on.s, on.tm, inputs, increment{words}, {.reads = 1, .writes = 1}, v.shape());
  require_equal(done.stats.commits + done.stats.conflicts(), 0u, "what was counted");
  require_equal(done.outcomes.size(), inputs.size(), "outcomes");
  require_equal(on.total(words), inputs.size(), "increments");
}

/// Inputs, results and outcomes in device memory.
struct on_device {
  buffer in, out, said;
  std::uint64_t count;
  on_device(const stream& s, const std::vector<std::uint32_t>& inputs)
      : in(values_on(s, inputs)), out(s.on(), inputs.size() * 4), said(s.on(), inputs.size()), count(inputs.size()) {}
  bulk<std::uint32_t, std::uint32_t> work() const {
    return {in.as<std::uint32_t>(), count, out.as<std::uint32_t>(), said.as<outcome>(), nullptr};
  }
};

template <class A>
void a_workspace_serves_many_launches(const venue& v) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(2);
  std::vector<std::uint32_t> inputs(v.amount<A>(3u, 500u, 5000u));
  for (std::uint32_t k = 0; k < inputs.size(); ++k) inputs[k] = k % 2;
  const on_device data(on.s, inputs);
  launch_config config = v.shape();
  config.capacity = {.reads = 1, .writes = 1};
  auto w = make_workspace<increment, std::uint32_t>(on.s, on.tm, inputs.size(), config);
  std::uint32_t launches = 0;
  for (; launches < 3; ++launches) {
    run_async(on.s, on.tm, w, increment{words}, data.work());
    require_equal(w.collect(on.s, on.tm).commits, inputs.size(), "commits of one launch");
  }
  // an error of one launch is gone in the next
  run_async(on.s, on.tm, w, increment{{words.handle(), 0}}, data.work());
  require_equal(w.collect(on.s, on.tm).commits, inputs.size(), "commits of one launch");
  ++launches;
  std::vector<std::uint32_t> bad = inputs;
  bad.back() = 7;
  const on_device wrong(on.s, bad);
  run_async(on.s, on.tm, w, increment{words}, wrong.work());
  require_throws<index_out_of_range>([&] { w.collect(on.s, on.tm); }, {"index 7"});
  const std::uint32_t before = on.total(words);
  run_async(on.s, on.tm, w, increment{words}, data.work());
  run_async(on.s, on.tm, w, increment{words}, data.work());  // counters are those of the last one
  require_equal(w.collect(on.s, on.tm).commits, inputs.size(), "commits of the last of two launches");
  require_equal(on.total(words), before + 2 * inputs.size(), "increments of the last two launches");
  require(before >= launches * inputs.size(), "increments before the launch with an error");
}

/// Workspaces of one memory take turns: what one of them keeps is not stale after the launches of another.
template <class A>
void workspaces_take_turns(const venue& v) {
  scene<A> on(v);
  const std::uint32_t n = v.pick({2u, 5u, 50u});
  auto words = on.tm.template allocate<std::uint32_t>(n);
  std::vector<std::uint32_t> inputs(v.amount<A>(4u, 2000u, 20'000u)), count(n);
  dice d(v.seed);
  for (std::uint32_t& i : inputs) ++count[i = d.below(n)];
  const on_device data(on.s, inputs);
  launch_config config = v.shape();
  config.capacity = {.reads = 1, .writes = 1};
  auto first = make_workspace<increment, std::uint32_t>(on.s, on.tm, inputs.size(), config);
  auto second = make_workspace<increment, std::uint32_t>(on.s, on.tm, inputs.size(), config);
  static constexpr bool turns[] = {false, true, false, false, true, true, false};
  for (bool turn : turns) {
    auto& w = turn ? second : first;
    run_async(on.s, on.tm, w, increment{words}, data.work());
    require_equal(w.collect(on.s, on.tm).commits, inputs.size(), "commits of one launch");
  }
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t i = 0; i < n; ++i) require_equal(after[i], count[i] * std::size(turns), "increments of a word");
}

}  // namespace gputm::conformance
