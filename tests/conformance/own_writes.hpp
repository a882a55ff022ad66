// A transaction sees what it has written itself, however much that is and however often it is overwritten.
#pragma once

#include <numeric>

#include "gputm/run.hpp"
#include "venue.hpp"

namespace gputm::conformance {

/// Writes all elements of two arrays, in an order of its own, and looks at every step whether it reads what it
/// has written. In the end element i holds id * stride + i.
template <unsigned Inline>
struct write_and_look {
  static constexpr unsigned inline_entries = Inline;
  static constexpr std::uint32_t stride = 4096;
  using result_type = std::uint32_t;
  array<std::uint32_t> a;
  array<std::uint64_t> b;
  std::uint32_t step;  ///< no common divisor with the length

  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    for (std::uint32_t k = 0; k < a.size(); ++k) {
      touch(a[k]);
      touch(b[k]);
    }
  }
  GPUTM_FN std::uint32_t place(std::uint32_t id, std::uint32_t k) const {
    const std::uint64_t forward = (std::uint64_t{k} * step + id) % a.size();
    return static_cast<std::uint32_t>(id % 2 ? forward : a.size() - 1 - forward);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t id) const {
    std::uint32_t wrong = 0;
    for (std::uint32_t k = 0; k < a.size(); ++k) {
      const std::uint32_t i = place(id, k);
      if (k % 2) {  // half of them are read before they are written
        GPUTM_TRY([[maybe_unused]] std::uint32_t before, tx.load(a[i]));
      }
      GPUTM_TRY(tx.store(a[i], ~i));
      GPUTM_TRY(std::uint32_t first, tx.load(a[i]));
      wrong += first != ~i;
      GPUTM_TRY(tx.store(b[i], std::uint64_t{id} * stride + i));
    }
    for (std::uint32_t k = 0; k < a.size(); ++k) {
      const std::uint32_t i = place(id, k);
      GPUTM_TRY(std::uint32_t first, tx.load(a[i]));
      wrong += first != ~i;
      GPUTM_TRY(tx.store(a[i], id * stride + i));
    }
    for (std::uint32_t i = 0; i < a.size(); ++i) {
      GPUTM_TRY(std::uint32_t x, tx.load(a[i]));
      GPUTM_TRY(std::uint64_t y, tx.load(b[i]));
      wrong += x != id * stride + i;
      wrong += y != x;
    }
    tx.result(wrong);
    return gputm::commit;
  }
};

template <class A, unsigned Inline>
void look_at_own_writes(const venue& v, std::uint32_t length, std::uint32_t transactions) {
  scene<A> on(v, locking(v));
  auto a = on.tm.template allocate<std::uint32_t>(length, 0u, "a");
  auto b = on.tm.template allocate<std::uint64_t>(length, 0u, "b");
  std::vector<std::uint32_t> ids(transactions);
  for (std::uint32_t k = 0; k < transactions; ++k) ids[k] = k + 1;
  std::uint32_t step = 7;
  while (std::gcd(step, length) != 1) ++step;
  const auto done = run(on.s, on.tm, ids, write_and_look<Inline>{a, b, step},
                        {.reads = 2 * length, .writes = 2 * length}, v.threads(2));
  for (std::uint32_t wrong : done.results) require_equal(wrong, 0u, "own writes that were read wrong");
  require_equal(done.stats.commits, transactions, "commits");
  const auto x = on.tm.read(on.s, a);
  const auto y = on.tm.read(on.s, b);
  for (std::uint32_t i = 0; i < length; ++i) {
    require_equal(x[i] % write_and_look<Inline>::stride, i, "what was written to an element");
    require_equal(x[i], x[0] + i, "writes of two transactions are mixed");
    require_equal(y[i], x[i], "the second array");
  }
}

/// A few more entries than live in registers; as many; fewer.
template <class A>
void own_writes_are_read(const venue& v) {
  const std::uint32_t length =
      static_cast<std::uint32_t>(v.pick({1 + v.round % 4, 5 + v.round % 3 * 9, 5 + v.round % 3 * 9}));
  look_at_own_writes<A, 4>(v, length, v.amount<A>(2u, 400u, 1000u));
}
template <class A>
void own_writes_are_read_with_one_inline_entry(const venue& v) {
  look_at_own_writes<A, 1>(v, v.pick({2u, 11u, 11u}), v.amount<A>(2u, 400u, 1000u));
}
/// Write sets that need the hash index, and more than one lap of the priorities.
template <class A>
void large_write_sets(const venue& v) {
  look_at_own_writes<A, 4>(v, v.pick({20u, 700u, 700u}), v.amount<A>(2u, 80u, 12u));
}

}  // namespace gputm::conformance
