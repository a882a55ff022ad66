// Isolation: the anomalies that a serial order rules out, one by one.
#pragma once

#include "atomicity.hpp"
#include "gputm/run.hpp"

namespace gputm::conformance {

/// Each reads both words of a pair and, if both are set, clears one of them. Serially one always stays set.
struct clear_one {
  array<std::uint32_t> words;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t in) const {
    touch(words[in / 2 * 2]);
    touch(words[in / 2 * 2 + 1]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    GPUTM_TRY(std::uint32_t a, tx.load(words[in / 2 * 2]));
    GPUTM_TRY(std::uint32_t b, tx.load(words[in / 2 * 2 + 1]));
    if (a + b < 2) return gputm::cancel;
    GPUTM_TRY(tx.store(words[in], 0u));
    return gputm::commit;
  }
};

template <class A>
void no_write_skew(const venue& v) {
  scene<A> on(v);
  const std::uint32_t pairs = v.pick({1u, 2000u, 20'000u});
  auto words = on.tm.template allocate<std::uint32_t>(2 * pairs, 1u);
  std::vector<std::uint32_t> inputs(2 * pairs);
  for (std::uint32_t i = 0; i < inputs.size(); ++i) inputs[i] = i;
  const auto done = run(on.s, on.tm, inputs, clear_one{words}, {.reads = 2, .writes = 1}, v.threads(2));
  require_equal(done.stats.commits, pairs, "one of each pair is cleared; commits");
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t p = 0; p < pairs; ++p)
    require_equal(after[2 * p] + after[2 * p + 1], 1u, "write skew: words of a pair that stayed set");
}

/// An election: who finds that nobody has voted, votes. Serially each has one voter. In every other one each voter
/// looks at few words, its own ones, and all of them vote: short transactions without conflicts, between the long ones.
struct elect {
  static constexpr std::uint32_t words_each = 20, own_words = 4, voters = 3;
  array<std::uint32_t> words;
  static GPUTM_FN bool is_long(std::uint32_t in) { return in / voters % 2 == 0; }
  GPUTM_FN std::uint32_t first(std::uint32_t in) const {
    return in / voters * words_each + (is_long(in) ? 0 : in % voters * own_words);
  }
  static GPUTM_FN std::uint32_t count(std::uint32_t in) { return is_long(in) ? words_each : own_words; }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t in) const {
    for (std::uint32_t i = 0; i < count(in); ++i) touch(words[first(in) + i]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    std::uint32_t votes = 0;
    for (std::uint32_t i = 0; i < count(in); ++i) {
      GPUTM_TRY(std::uint32_t vote, tx.load(words[first(in) + i]));
      votes += vote;
    }
    if (votes != 0) return gputm::cancel;
    GPUTM_TRY(tx.store(words[first(in) + count(in) - 1 - in % voters], 1u));
    return gputm::commit;
  }
};

/// Write skew among transactions that read much: what decides about them does not fit where few would.
template <class A>
void no_write_skew_of_long_transactions(const venue& v) {
  const std::uint32_t elections = v.amount<A>(4u, 2000u, 20'000u);
  std::vector<std::uint32_t> inputs;
  for (std::uint32_t voter = 0; voter < elect::voters; ++voter)  // in another warp each
    for (std::uint32_t e = 0; e < elections; ++e) inputs.push_back(e * elect::voters + voter);
  launch_config c = v.shape();
  if (v.exploring()) {
    c.blocks = 2;
    c.threads = 4;
  }
  // where servers have tables, they are small ones; one of csmv_rounds has a list besides
  if (v.shared_bytes) *v.shared_bytes = std::string(A::name) == "csmv_rounds" ? 9000 : 3000;
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(elections * elect::words_each);
  const auto done = run(on.s, on.tm, inputs, elect{words}, {.reads = elect::words_each, .writes = 1}, c);
  require_equal(done.stats.commits, elections / 2 * (1 + elect::voters), "commits");
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t e = 0; e < elections; ++e) {
    std::uint32_t votes = 0;
    for (std::uint32_t i = 0; i < elect::words_each; ++i) votes += after[e * elect::words_each + i];
    require_equal(votes, elect::is_long(e * elect::voters) ? 1 : elect::voters, "votes of an election");
  }
}

struct increment {
  array<std::uint32_t> words;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t i) const {
    touch(words[i]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t i) const {
    GPUTM_TRY(std::uint32_t n, tx.load(words[i]));
    tx.result(n);
    GPUTM_TRY(tx.store(words[i], n + 1));
    return gputm::commit;
  }
};

/// No update is lost, and each result is the one of the attempt that committed: what the increments of one
/// word found before them is 0, 1, 2, ... in some order.
template <class A>
void no_lost_update_among(const venue& v, const launch_config& shape, std::uint32_t n, std::uint32_t increments) {
  scene<A> on(v, locking(v));
  auto words = on.tm.template allocate<std::uint32_t>(n);
  std::vector<std::uint32_t> inputs(increments);
  dice d(v.seed);
  for (std::uint32_t& i : inputs) i = d.below(n);
  const auto done = run(on.s, on.tm, inputs, increment{words}, {.reads = 1, .writes = 1}, shape);
  outcomes_and_counters_agree(done, inputs.size());
  std::vector<std::vector<bool>> found(n, std::vector<bool>(inputs.size()));
  std::vector<std::uint32_t> count(n);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    require(done.results[k] < inputs.size() && !found[inputs[k]][done.results[k]], "two increments found one value");
    found[inputs[k]][done.results[k]] = true;
    ++count[inputs[k]];
  }
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t i = 0; i < n; ++i) require_equal(after[i], count[i], "increments of a word");
}

template <class A>
void no_lost_update(const venue& v) {
  no_lost_update_among<A>(v, v.shape(), v.pick({2u, 8u, 500u}), v.amount<A>(5u, 8000u, 40'000u));
}
/// Many commits while one transaction sleeps: versions that wrap soon do not survive it.
template <class A>
void no_lost_update_in_a_row(const venue& v) {
  no_lost_update_among<A>(v, v.shape(), 1, v.amount<A>(20u, 5000u, 5000u));
}
/// Where warps are narrow, blocks of several; more commits under way than a short record keeps.
template <class A>
void no_lost_update_of_several_warps(const venue& v) {
  launch_config c = v.shape();
  if (v.exploring()) {
    c.blocks = 2;
    c.threads = v.on->warp_width() == 2 ? 8 : 3;
  }
  no_lost_update_among<A>(v, c, v.pick({6u, 8u, 500u}), v.amount<A>(24u, 2000u, 10'000u));
}

/// Increments every word of a set: bit i of the input stands for word i.
struct increment_set {
  array<std::uint32_t> words;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t in) const {
    for (std::uint32_t i = 0; in >> i != 0; ++i)
      if (in >> i & 1) touch(words[i]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    for (std::uint32_t i = 0; in >> i != 0; ++i) {
      if (!(in >> i & 1)) continue;
      GPUTM_TRY(std::uint32_t n, tx.load(words[i]));
      GPUTM_TRY(tx.store(words[i], n + 1));
    }
    return gputm::commit;
  }
};

/// The same with sets that overlap in part, so that locks are stolen while others are kept.
template <class A>
void no_lost_update_of(const venue& v, std::uint32_t n, const std::vector<std::uint32_t>& sets,
                       const launch_config& c) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(n);
  const auto done = run(on.s, on.tm, sets, increment_set{words}, {.reads = n, .writes = n}, c);
  require_equal(done.stats.commits, sets.size(), "commits");
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t count = 0;
    for (std::uint32_t in : sets) count += in >> i & 1;
    require_equal(after[i], count, "increments of a word");
  }
}
template <class A>
void no_lost_update_of_sets(const venue& v) {
  const std::uint32_t n = v.pick({3u, 10u, 24u});
  std::vector<std::uint32_t> sets(v.amount<A>(6u, 4000u, 10'000u));
  dice d(v.seed);
  for (std::uint32_t& in : sets) in = 1 + d.below((1u << n) - 1);
  no_lost_update_of<A>(v, n, sets, v.shape());
}
/// Few words and many sets: locks are stolen again and again from those who keep others.
template <class A>
void no_lost_update_where_locks_are_stolen(const venue& v) {
  std::vector<std::uint32_t> sets(v.amount<A>(40u, 2000u, 4000u));
  dice d(v.seed);
  for (std::uint32_t& in : sets) in = 1 + d.below(3);
  no_lost_update_of<A>(v, 2, sets, v.threads(4));
}

/// Writers pass through a value that nobody may see: kind 0 overwrites it, kind 1 cancels after it.
struct hide {
  array<std::uint32_t> words;
  alarm wrong;
  bool opaque;
  using result_type = std::uint32_t;
  enum : std::uint32_t { secret = 0xbad };

  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    touch(words[0]);
    touch(words[1]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t kind) const {
    if (kind >= 2) {
      GPUTM_TRY(std::uint32_t a, tx.load(words[kind % 2]));
      wrong.raise_if(a == secret);
      tx.result(a);
      return gputm::commit;
    }
    GPUTM_TRY(tx.store(words[0], secret));
    GPUTM_TRY(tx.store(words[1], secret));
    if (kind == 1) return gputm::cancel;
    GPUTM_TRY(tx.store(words[0], 7u));
    GPUTM_TRY(tx.store(words[1], 7u));
    return gputm::commit;
  }
};

/// Not opacity: no algorithm shows what has not been committed, not even to an attempt that will abort,
/// unless it stores in place.
template <class A>
void no_dirty_read(const venue& v) {
  scene<A> on(v, locking(v));
  auto words = on.tm.template allocate<std::uint32_t>(2);
  scratch seen(on.s, 1);
  std::vector<std::uint32_t> inputs(v.amount<A>(5u, 6000u, 20'000u));
  dice d(v.seed);
  for (std::uint32_t& k : inputs) {
    k = d.below(4);
    if (A::traits.keeps_stores && k == 1) k = 0;  // decides to cancel after it has stored
  }
  const auto done = run(on.s, on.tm, inputs, hide{words, seen.alarm(), true}, {.reads = 2, .writes = 2}, v.shape());
  outcomes_and_counters_agree(done, inputs.size());
  require_equal(seen.value(), 0u, "reads of a value that was never committed");
}

/// Writers keep all words equal; readers read them all, once or more often.
struct keep_equal {
  array<std::uint32_t> words;
  std::uint32_t passes;
  alarm wrong;
  bool opaque;
  using result_type = std::uint32_t;

  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    for (std::uint32_t i = 0; i < words.size(); ++i) touch(words[i]);
  }
  GPUTM_FN bool read_only(std::uint32_t in) const { return in % 4 == 1; }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    const std::uint32_t n = words.size();
    if (in % 2 == 0) {  // a blind write of everything, in one direction or the other
      for (std::uint32_t i = 0; i < n; ++i) {
        GPUTM_TRY(tx.store(words[in % 4 == 0 ? i : n - 1 - i], in + 1));
      }
      return gputm::commit;
    }
    GPUTM_TRY(std::uint32_t first, tx.load(words[0]));
    bool same = true;
    for (std::uint32_t i = 1; i < passes * n; ++i) {
      GPUTM_TRY(std::uint32_t a, tx.load(words[i % n]));
      same = same && a == first;
    }
    wrong.raise_if(opaque && !same);
    tx.result(same ? 1u : 0u);
    if (in % 4 == 1) return gputm::commit;
    GPUTM_TRY(tx.store(words[0], first));  // changes nothing, but is an update
    return gputm::commit;
  }
};

template <class A>
void reads_are_repeatable_and_consistent(const venue& v) {
  scene<A> on(v, locking(v));
  const std::uint32_t n = v.pick({2u, 9u, 9u}), passes = v.round / 3 % 3 == 0 ? 2 : 1;
  auto words = on.tm.template allocate<std::uint32_t>(n, 1u);
  scratch seen(on.s, 1);
  std::vector<std::uint32_t> inputs(v.amount<A>(4u, 6000u, 6000u));
  dice d(v.seed);
  for (std::uint32_t& k : inputs) k = d.below(1u << 20);
  const auto done = run(on.s, on.tm, inputs, keep_equal{words, passes, seen.alarm(), A::traits.opaque},
                        {.reads = passes * n, .writes = n}, v.shape());
  outcomes_and_counters_agree(done, inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    require(inputs[k] % 2 == 0 || done.results[k], "a committed transaction saw words of different writers");
  require_equal(seen.value(), 0u, "attempts that saw words of different writers");
  const auto after = on.tm.read(on.s, words);
  for (std::uint32_t w : after) require_equal(w, after[0], "blind writers mixed");
}

/// Writers of many words beside readers of the first and the last one: a commit takes long, and is seen whole.
struct write_all_read_ends {
  array<std::uint32_t> words;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    for (std::uint32_t i = 0; i < words.size(); ++i) touch(words[i]);
  }
  GPUTM_FN bool read_only(std::uint32_t in) const { return in % 2 == 1; }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    const std::uint32_t last = words.size() - 1;
    for (std::uint32_t i = 0; in % 2 == 0 && i <= last; ++i) {
      GPUTM_TRY(tx.store(words[in % 4 == 0 ? i : last - i], in));
    }
    if (in % 2 == 0) return gputm::commit;
    GPUTM_TRY(std::uint32_t a, tx.load(words[in % 4 == 1 ? 0 : last]));
    GPUTM_TRY(std::uint32_t b, tx.load(words[in % 4 == 1 ? last : 0]));
    tx.result(a == b ? 1u : 0u);
    return gputm::commit;
  }
};

/// Writers keep x[0] and y[1] equal. Others store blindly to y[0], under whose lock y[1] may be, between loads of both.
struct stores_beside_what_it_loads {
  array<std::uint64_t> x, y;
  alarm differ;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    GPUTM_TRY(const std::uint64_t a, tx.load(x[0]));
    if (in % 2 == 0) {
      GPUTM_TRY(tx.store(x[0], a + 1));
      GPUTM_TRY(tx.store(y[1], a + 1));
      return gputm::commit;
    }
    GPUTM_TRY(tx.store(y[0], in));
    GPUTM_TRY(const std::uint64_t b, tx.load(y[1]));
    differ.raise_if(a != b);
    return gputm::commit;
  }
};

/// That attempts which have stored to an element see its neighbours as they were together with what they have read.
template <class A>
void blind_stores_vouch_for_nothing(const venue& v) {
  scene<A> on(v, {.words_per_lock = 2});
  scratch differ(on.s, 1);
  const stores_beside_what_it_loads body{on.tm.template allocate<std::uint64_t>(2),
                                         on.tm.template allocate<std::uint64_t>(2), differ.alarm()};
  std::vector<std::uint32_t> inputs(v.amount<A>(8u, 2000u, 10'000u));
  for (std::uint32_t k = 0; k < inputs.size(); ++k) inputs[k] = k;
  run(on.s, on.tm, inputs, body, {.reads = 4, .writes = 4}, v.shape());
  require_equal(differ.value(), 0u, "attempts that saw two words differ which are always equal");
}

template <class A>
void large_commits_are_seen_whole(const venue& v) {
  scene<A> on(v);
  const std::uint32_t n = v.pick({8u, 60u, 60u});
  auto words = on.tm.template allocate<std::uint32_t>(n);
  std::vector<std::uint32_t> inputs(v.amount<A>(6u, 3000u, 6000u));
  dice d(v.seed);
  for (std::uint32_t& in : inputs) in = d.below(1u << 20);
  const auto done = run(on.s, on.tm, inputs, write_all_read_ends{words}, {.reads = n, .writes = n}, v.threads(2));
  outcomes_and_counters_agree(done, inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    require(inputs[k] % 2 == 0 || done.results[k], "a committed transaction saw half of a commit");
}

/// Independent reads of independent writes: two readers may not see two writes in opposite orders.
struct write_or_read_pair {
  array<std::uint32_t> words;  // pairs
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t in) const {
    touch(words[in / 4 * 2]);
    touch(words[in / 4 * 2 + 1]);
  }
  GPUTM_FN bool read_only(std::uint32_t in) const { return in % 4 >= 2; }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    const std::uint32_t at = in / 4 * 2;
    if (in % 4 < 2) {
      GPUTM_TRY(tx.store(words[at + in % 4], 1u));
      return gputm::commit;
    }
    GPUTM_TRY(std::uint32_t first, tx.load(words[at + in % 2]));
    GPUTM_TRY(std::uint32_t second, tx.load(words[at + 1 - in % 2]));
    tx.result(in % 2 ? second | first << 1 : first | second << 1);
    return gputm::commit;
  }
};

template <class A>
void readers_agree_on_the_order_of_writes(const venue& v) {
  scene<A> on(v);
  const std::uint32_t pairs = v.pick({1u, 1500u, 10'000u});
  auto words = on.tm.template allocate<std::uint32_t>(2 * pairs);
  std::vector<std::uint32_t> inputs(4 * pairs);
  for (std::uint32_t i = 0; i < inputs.size(); ++i) inputs[i] = i;
  if (!v.exploring()) {  // the four of a group on different warps
    dice d(v.seed);
    for (std::size_t i = inputs.size(); i > 1; --i) std::swap(inputs[i - 1], inputs[d.below(static_cast<unsigned>(i))]);
  }
  const auto done = run(on.s, on.tm, inputs, write_or_read_pair{words}, {.reads = 2, .writes = 1}, v.threads(4));
  outcomes_and_counters_agree(done, inputs.size());
  std::vector<std::uint32_t> seen(pairs);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k] % 4 >= 2) seen[inputs[k] / 4] |= 1u << done.results[k];
  for (std::uint32_t s : seen) require((s & 0b0110) != 0b0110, "two readers saw two writes in opposite orders");
}

}  // namespace gputm::conformance
