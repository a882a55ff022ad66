// What a body says and what it gives back: cancel, retry, results.
#pragma once

#include "atomicity.hpp"
#include "gputm/run.hpp"

namespace gputm::conformance {

/// Odd inputs change their mind: after they have stored, unless the algorithm stores in place.
struct maybe_cancel {
  array<std::uint32_t> words;
  bool stores_first;
  using result_type = std::uint32_t;

  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t in) const {
    touch(words[in % words.size()]);
    touch(words[(in + 1) % words.size()]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    const std::uint32_t i = in % words.size(), j = (in + 1) % words.size();
    GPUTM_TRY(std::uint32_t a, tx.load(words[i]));
    GPUTM_TRY(std::uint32_t b, tx.load(words[j]));
    tx.result(in + 1);
    if (in % 2 && !stores_first) return gputm::cancel;
    GPUTM_TRY(tx.store(words[i], a + (in % 2 ? 1000 : 1)));
    GPUTM_TRY(tx.store(words[j], b + (in % 2 ? 1000 : 1)));
    return in % 2 ? gputm::cancel : gputm::commit;
  }
};

template <class A>
void cancel_leaves_no_trace(const venue& v) {
  scene<A> on(v, locking(v));
  const std::uint32_t n = v.pick({3u, 9u, 99u});
  auto words = on.tm.template allocate<std::uint32_t>(n);
  std::vector<std::uint32_t> inputs(v.amount<A>(5u, 5000u, 20'000u));
  for (std::uint32_t k = 0; k < inputs.size(); ++k) inputs[k] = k;
  const auto done =
      run(on.s, on.tm, inputs, maybe_cancel{words, !A::traits.keeps_stores}, {.reads = 2, .writes = 2}, v.shape());
  outcomes_and_counters_agree(done, inputs.size());
  std::vector<std::uint32_t> expected(n);
  for (std::uint32_t in : inputs) {
    require_equal(static_cast<int>(done.outcomes[in]), static_cast<int>(in % 2 ? outcome::cancel : outcome::commit),
                  "what became of an input");
    require_equal(done.results[in], in % 2 ? 0 : in + 1, "the result of an input; one that cancels has none");
    if (in % 2) continue;
    ++expected[in % n];
    ++expected[(in + 1) % n];
  }
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t i = 0; i < n; ++i) require_equal(after[i], expected[i], "a word");
}

/// A mailbox of one letter: input 2 * k takes from box k, and waits while it is empty; input 2 * k + 1 puts
/// into it, and waits while it is full.
struct mail {
  array<std::uint32_t> boxes;
  using result_type = std::uint32_t;
  struct letter {
    std::uint32_t box;
    std::uint32_t text;  ///< 0: take
  };
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const letter& l) const {
    touch(boxes[l.box]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const letter& l) const {
    GPUTM_TRY(std::uint32_t now, tx.load(boxes[l.box]));
    tx.result(l.text ? 12345u : now ? now : 54321u);
    if ((now == 0) == (l.text == 0)) return gputm::retry;
    GPUTM_TRY(tx.store(boxes[l.box], l.text));
    return gputm::commit;
  }
};

/// Every taker stands before all senders in the list of inputs.
template <class A>
void retry_waits_for_later_inputs(const venue& v) {
  scene<A> on(v);
  const std::uint32_t boxes = v.pick({1u, 40u, 1000u}), letters = v.pick({2u, 25u, 25u});
  auto box = on.tm.template allocate<std::uint32_t>(boxes);
  std::vector<mail::letter> inputs(2 * boxes * letters);
  const std::size_t half = inputs.size() / 2;
  for (std::uint32_t k = 0; k < half; ++k) {
    inputs[k] = {k % boxes, 0};
    inputs[half + k] = {k / letters, k + 1};
  }
  const auto done = run(on.s, on.tm, inputs, mail{box}, {.reads = 1, .writes = 1}, v.shape());
  outcomes_and_counters_agree(done, inputs.size());
  require_equal(done.stats.commits, inputs.size(), "commits");
  std::vector<bool> taken(half + 1);
  for (std::uint32_t k = 0; k < half; ++k) {
    const std::uint32_t text = done.results[k];
    require(text >= 1 && text <= half && !taken[text], "a letter was lost or taken twice");
    require_equal((text - 1) / letters, inputs[k].box, "the box a letter came from");
    taken[text] = true;
    require_equal(done.results[half + k], 12345u, "the result of a sender");
  }
  require_equal(on.total(box), 0u, "letters left over");
}

/// Threads hand letters round in a ring, in a kernel of their own.
struct ring {
  array<std::uint32_t> boxes;
  alarm wrong;
  std::uint32_t rounds;

  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    const std::uint32_t me = ctx.rank(), next = (me + 1) % ctx.size();
    const mail body{boxes};
    for (std::uint32_t r = 0; r < rounds; ++r) {
      std::uint32_t got = 0;
      if (me != 0) {
        wrong.raise_if(ctx.transact_into(1u << simt::lane(), got, body, mail::letter{me, 0}) != gputm::commit);
        wrong.raise_if(got != me * rounds + r + 1);
      }
      const mail::letter l{next, next * rounds + r + 1};
      wrong.raise_if(ctx.transact(1u << simt::lane(), body, l) != gputm::commit);
      if (me == 0) {
        wrong.raise_if(ctx.transact_into(1u << simt::lane(), got, body, mail::letter{0, 0}) != gputm::commit);
        wrong.raise_if(got != r + 1);
      }
    }
  }
};

template <class A>
void retry_waits_in_a_kernel(const venue& v) {
  scene<A> on(v);
  launch_config shape = v.shape();
  if (v.how == mode::gpu) shape.blocks = 2;
  const std::uint32_t n = A::traits.one_thread ? 1 : shape.blocks * shape.threads, rounds = v.amount<A>(2u, 20u, 20u);
  auto boxes = on.tm.template allocate<std::uint32_t>(n);
  scratch seen(on.s, 1);
  const statistics done = launch(on.s, on.tm, shape, ring{boxes, seen.alarm(), rounds});
  require_equal(seen.value(), 0u, "letters that were not the expected ones");
  require_equal(done.commits, 2 * n * rounds, "commits");
  require_equal(on.total(boxes), 0u, "letters left over");
}

/// Every third input waits for what never comes.
struct wait_for_ever {
  array<std::uint32_t> words;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    touch(words[0]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    GPUTM_TRY(std::uint32_t now, tx.load(words[0]));
    if (in % 3 == 0) return gputm::retry;
    GPUTM_TRY(tx.store(words[0], now + 1));
    return gputm::commit;
  }
};

template <class A>
void hopeless_retry_ends_with_an_error(const venue& v) {
  const std::vector<std::uint32_t> inputs{0, 1, 2, 3, 4};
  constexpr capacity sizes{.reads = 1, .writes = 1};
  for (std::uint64_t stuck_ns = v.pick({400'000u, 20'000'000u, 20'000'000u});; stuck_ns *= 10) {
    scene<A> on(v);
    auto words = on.tm.template allocate<std::uint32_t>(1);
    launch_config shape = v.shape();
    shape.patience.stuck_ns = stuck_ns;
    require_throws<no_progress>([&] { run(on.s, on.tm, inputs, wait_for_ever{words}, sizes, shape); },
                                {"kept returning retry", "patience.stuck_ns"});
    // Where time is the machine's, the machine may have run nothing else for that long; but not for ever so long.
    if (!v.exploring() && on.total(words) < 3 && stuck_ns < 10'000'000'000) continue;
    require_equal(on.total(words), 3u, "commits of the others");
    // and the memory is as good as ever
    const std::vector<std::uint32_t> fine{1, 2, 4, 5};
    require_equal(run(on.s, on.tm, fine, wait_for_ever{words}, sizes, v.shape()).stats.commits, 4u,
                  "commits of a run after it");
    require_equal(on.total(words), 7u, "commits in all");
    return;
  }
}

}  // namespace gputm::conformance
