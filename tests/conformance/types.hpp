// Elements of any trivially copyable type, several arrays in one transaction, any number of elements a lock.
#pragma once

#include "gputm/run.hpp"
#include "venue.hpp"

namespace gputm::conformance {

/// N fields that a transaction always changes together.
template <class Field, unsigned N>
struct fields {
  Field f[N] = {};
  GPUTM_FN bool all(Field x) const {
    bool same = true;
    for (unsigned k = 0; k < N; ++k) same = same && f[k] == x;
    return same;
  }
  GPUTM_FN void set(Field x) {
    for (unsigned k = 0; k < N; ++k) f[k] = x;
  }
};
using bytes_1 = fields<std::uint8_t, 1>;
using bytes_2 = fields<std::uint16_t, 1>;
using bytes_3 = fields<std::uint8_t, 3>;
using bytes_4 = fields<float, 1>;
using bytes_6 = fields<std::uint16_t, 3>;
using bytes_8 = fields<double, 1>;
using bytes_12 = fields<std::uint32_t, 3>;
using bytes_24 = fields<std::uint64_t, 3>;
using bytes_40 = fields<std::uint64_t, 5>;
static_assert(sizeof(bytes_3) == 3 && sizeof(bytes_6) == 6 && sizeof(bytes_12) == 12 && sizeof(bytes_40) == 40);

/// Adds one to element i of each of five arrays.
template <class T1, class T2, class T3, class T4, class T5>
struct count_everywhere {
  static constexpr unsigned inline_entries = 2;
  array<T1> a1;
  array<T2> a2;
  array<T3> a3;
  array<T4> a4;
  array<T5> a5;
  alarm wrong;
  bool opaque;
  using result_type = std::uint32_t;

  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t i) const {
    touch(a1[i]);
    touch(a2[i]);
    touch(a3[i]);
    touch(a4[i]);
    touch(a5[i]);
  }
  /// Adds one to the element at `e`, if it is what is expected.
  template <class Tx, class T>
  GPUTM_FN bool count(Tx& tx, element<T> e, std::uint64_t now, bool& torn) const {
    using field = std::remove_cvref_t<decltype(T{}.f[0])>;
    loaded<T> x = tx.load(e);
    if (!x.ok) return false;
    if (!x.value.all(static_cast<field>(now))) torn = true;
    x.value.set(static_cast<field>(now + 1));
    const stored done = tx.store(e, x.value);
    return done.ok;
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t i) const {
    GPUTM_TRY(T5 now, tx.load(a5[i]));
    const std::uint64_t n = static_cast<std::uint64_t>(now.f[0]);
    bool torn = false;
    const bool ok = count(tx, a1[i], n, torn) && count(tx, a2[i], n, torn) && count(tx, a3[i], n, torn) &&
                    count(tx, a4[i], n, torn) && count(tx, a5[i], n, torn);
    wrong.raise_if(opaque && torn);
    if (!ok) return outcome::conflict;
    tx.result(torn ? 1u : 0u);
    return gputm::commit;
  }
};

template <class A, class T>
void require_counts(const scene<A>& on, const array<T>& a, const std::vector<std::uint32_t>& expected) {
  const std::vector<T> values = on.tm.read(on.s, a);
  using field = std::remove_cvref_t<decltype(values[0].f[0])>;
  for (std::uint32_t i = 0; i < a.size(); ++i) require(values[i].all(static_cast<field>(expected[i])), "a final value");
}

template <class A, class T1, class T2, class T3, class T4, class T5>
void types_mix(const venue& v) {
  scene<A> on(v, locking(v));
  const std::uint32_t n = v.pick({2u, 70u, 70u});
  scratch seen(on.s, 1);
  const count_everywhere<T1, T2, T3, T4, T5> body{on.tm.template allocate<T1>(n),
                                                  on.tm.template allocate<T2>(n),
                                                  on.tm.template allocate<T3>(n),
                                                  on.tm.template allocate<T4>(n),
                                                  on.tm.template allocate<T5>(n),
                                                  seen.alarm(),
                                                  A::traits.opaque};
  std::vector<std::uint32_t> inputs(v.amount<A>(3u, 5000u, 15'000u)), expected(n);
  dice d(v.seed);
  for (std::uint32_t& i : inputs) ++expected[i = d.below(n)];
  const auto done = run(on.s, on.tm, inputs, body, {.reads = 5, .writes = 5}, v.threads(2));
  require_equal(done.stats.commits, inputs.size(), "commits");
  for (std::uint32_t torn : done.results) require_equal(torn, 0u, "elements that disagree in a committed transaction");
  require_equal(seen.value(), 0u, "attempts that saw elements disagree");
  const auto check = [&](const auto&... arrays) { (require_counts(on, arrays, expected), ...); };
  check(body.a1, body.a2, body.a3, body.a4, body.a5);
}
template <class A>
void types_mix_in_one_transaction(const venue& v) {
  types_mix<A, bytes_1, bytes_8, bytes_12, bytes_4, bytes_24>(v);
}
template <class A>
void odd_types_mix_in_one_transaction(const venue& v) {
  types_mix<A, bytes_3, bytes_40, bytes_2, bytes_6, bytes_4>(v);
}

/// Blind writes of a large element beside reads of it.
struct tear {
  array<bytes_40> elements;
  alarm wrong;
  bool opaque;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t in) const {
    touch(elements[in / 2 % elements.size()]);
  }
  GPUTM_FN bool read_only(std::uint32_t in) const { return in % 2 == 1; }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    const std::uint32_t i = in / 2 % elements.size();
    if (in % 2 == 0) {
      bytes_40 x;
      x.set(in + 1);
      GPUTM_TRY(tx.store(elements[i], x));
      return gputm::commit;
    }
    GPUTM_TRY(bytes_40 x, tx.load(elements[i]));
    const bool torn = !x.all(x.f[0]);
    wrong.raise_if(opaque && torn);
    tx.result(torn ? 1u : 0u);
    return gputm::commit;
  }
};

template <class A>
void large_elements_are_not_torn(const venue& v) {
  scene<A> on(v, locking(v));
  const std::uint32_t n = v.pick({1u, 3u, 20u});
  auto elements = on.tm.template allocate<bytes_40>(n);
  scratch seen(on.s, 1);
  std::vector<std::uint32_t> inputs(v.amount<A>(4u, 8000u, 20'000u));
  dice d(v.seed);
  for (std::uint32_t& in : inputs) in = d.below(1u << 20);
  const auto done =
      run(on.s, on.tm, inputs, tear{elements, seen.alarm(), A::traits.opaque}, {.reads = 1, .writes = 1}, v.shape());
  require_equal(done.stats.commits, inputs.size(), "commits");
  for (std::uint32_t torn : done.results) require_equal(torn, 0u, "torn reads that committed");
  require_equal(seen.value(), 0u, "torn reads inside of transactions");
  for (const bytes_40& x : on.tm.read(on.s, elements)) require(x.all(x.f[0]), "a torn write");
}

/// Each transaction changes one word of four: all bits of all words tell that an element has changed. Half a word is
/// what they are raised by, so that its lower half is 0 and, for a float, -0 by turns.
struct raise_one_word {
  array<fields<std::uint64_t, 4>> elements;
  static constexpr std::uint64_t half = std::uint64_t{1} << 31;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    touch(elements[0]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t word) const {
    GPUTM_TRY(auto x, tx.load(elements[0]));
    x.f[word] += half;
    GPUTM_TRY(tx.store(elements[0], x));
    return gputm::commit;
  }
};

template <class A>
void words_of_an_element_count_alone(const venue& v) {
  scene<A> on(v, locking(v));
  const raise_one_word body{on.tm.template allocate<fields<std::uint64_t, 4>>(1)};
  const std::uint32_t all = v.amount<A>(5u, 3000u, 10'000u);
  const bool one = v.pick({0u, 1u, 1u}) == 0;  // the last one alone, or any
  std::vector<std::uint32_t> inputs(all);
  std::uint64_t expected[4] = {};
  dice d(v.seed);
  for (std::uint32_t& word : inputs) expected[word = one ? 3 : d.below(4)] += raise_one_word::half;
  run(on.s, on.tm, inputs, body, {.reads = 1, .writes = 1}, v.shape());
  const auto now = on.tm.read(on.s, body.elements, 0);
  for (unsigned k = 0; k < 4; ++k) require_equal(now.f[k], expected[k], "a word of the element");
}

inline constexpr std::uint32_t a_constant = 7;
/// Stores a constant that has an address on the host alone.
struct store_a_constant {
  array<std::uint32_t> words;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t i) const {
    touch(words[i]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t i) const {
    GPUTM_TRY(tx.store(words[i], a_constant));
    tx.result(a_constant);
    return gputm::commit;
  }
};
template <class A>
void constants_are_stored(const venue& v) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(3);
  const auto done =
      run(on.s, on.tm, std::vector<std::uint32_t>{0, 2}, store_a_constant{words}, {.reads = 1, .writes = 1}, v.shape());
  require_equal(done.results[1], a_constant, "the result");
  require_equal(on.total(words), 14u, "what has been stored");
}

}  // namespace gputm::conformance
