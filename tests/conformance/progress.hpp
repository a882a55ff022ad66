// Progress: whatever the contention, every transaction gets through.
#pragma once

#include "gputm/run.hpp"
#include "isolation.hpp"

namespace gputm::conformance {

/// Everybody increments the same word.
struct hammer {
  array<std::uint32_t> words;
  std::uint32_t times;
  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    for (std::uint32_t k = 0; k < times && !ctx.stopped(); ++k)
      (void)ctx.transact(simt::full_mask, increment{words}, std::uint32_t{0});
  }
};

template <class A>
void all_threads_get_through_one_word(const venue& v) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(1);
  launch_config shape = v.shape();
  if (v.how == mode::gpu) shape.blocks = 16;
  const std::uint32_t times = v.amount<A>(2u, 100u, 4u);
  const statistics done = launch(on.s, on.tm, shape, hammer{words, times});
  const std::uint32_t threads = A::traits.one_thread ? 1 : shape.blocks * shape.threads;
  require_equal(done.commits, threads * times, "commits");
  require_equal(on.total(words), threads * times, "the word");
}

/// Lanes of one warp want the same two words in opposite orders, again and again: the tie that backoff alone
/// does not break.
struct cross {
  array<std::uint32_t> words;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t first) const {
    touch(words[first]);
    touch(words[1 - first]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t first) const {
    GPUTM_TRY(std::uint32_t a, tx.load(words[first]));
    GPUTM_TRY(tx.store(words[first], a + 1));
    GPUTM_TRY(std::uint32_t b, tx.load(words[1 - first]));
    GPUTM_TRY(tx.store(words[1 - first], b + 1));
    return gputm::commit;
  }
};

struct cross_often {
  array<std::uint32_t> words;
  std::uint32_t times;
  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    const cross body{words};
    for (std::uint32_t k = 0; k < times; ++k) (void)ctx.transact(simt::full_mask, body, (ctx.rank() + k) % 2);
  }
};

template <class A>
void opposite_orders_in_a_warp(const venue& v) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(2);
  launch_config shape = v.shape();
  const auto round = static_cast<std::uint32_t>(v.round);
  shape.blocks = v.pick({1u, 1u, 1 + round});
  shape.threads = v.pick({2 + round % 3, 32u, 32u});
  const std::uint32_t times = v.amount<A>(2u, 300u, 100u);
  const statistics done = launch(on.s, on.tm, shape, cross_often{words, times});
  const std::uint32_t threads = A::traits.one_thread ? 1 : shape.blocks * shape.threads;
  require_equal(done.commits, threads * times, "commits");
  for (std::uint32_t w : on.tm.read(on.s, words)) require_equal(w, threads * times, "a word");
}

/// One thread wants everything, the others move single pieces as fast as they can and stop only when it is
/// done, or when they have lost their patience.
struct whale {
  array<std::uint32_t> words;
  bool updates;
  using result_type = std::uint32_t;
  GPUTM_FN bool read_only(std::uint32_t) const { return !updates; }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    for (std::uint32_t i = 0; i < words.size(); ++i) touch(words[i]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t) const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < words.size(); ++i) {
      GPUTM_TRY(std::uint32_t w, tx.load(words[i]));
      sum += w;
      if (updates) {
        GPUTM_TRY(tx.store(words[i], w + 1000));
      }
    }
    tx.result(sum);
    return gputm::commit;
  }
};
struct minnow {
  array<std::uint32_t> words;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t from, std::uint32_t to) const {
    touch(words[from]);
    touch(words[to]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t from, std::uint32_t to) const {
    GPUTM_TRY(std::uint32_t a, tx.load(words[from]));
    GPUTM_TRY(std::uint32_t b, tx.load(words[to]));
    GPUTM_TRY(tx.store(words[from], a - 1));
    GPUTM_TRY(tx.store(words[to], b + 1));
    return gputm::commit;
  }
};

struct whale_among_minnows {
  array<std::uint32_t> words;
  bool updates;
  std::uint32_t patience;
  std::uint64_t* board;  // 0: the whale is through; 1: what it saw; 2: how many lost their patience
  template <class Context>
  GPUTM_FN void operator()(Context& ctx) const {
    if (ctx.rank() + 1 == ctx.size()) {
      std::uint32_t sum = 0;
      (void)ctx.transact_into(1u << simt::lane(), sum, whale{words, updates}, std::uint32_t{0});
      simt::atomic(board[1]).store(sum, simt::order::relaxed);
      simt::atomic(board[0]).store(1, simt::order::relaxed);
      return;
    }
    const minnow body{words};
    std::uint32_t at = ctx.rank();
    for (std::uint32_t k = 0; simt::atomic(board[0]).load(simt::order::relaxed) == 0; ++k) {
      if (k == patience) {
        simt::atomic(board[2]).fetch_add(1, simt::order::relaxed);
        return;
      }
      const std::uint32_t from = at % words.size(), to = (from + 1) % words.size();
      (void)ctx.transact(1u << simt::lane(), body, from, to);
      at += 7;
      simt::backoff(0);  // fast mode on one OS thread: let the others run
    }
  }
};

template <class A>
void a_large_transaction_gets_through(const venue& v, bool updates) {
  scene<A> on(v);
  const std::uint32_t n = v.pick({5u, 300u, 2000u});
  auto words = on.tm.template allocate<std::uint32_t>(n, 1'000'000u);
  scratch board(on.s, 3);
  launch_config shape = v.shape();
  if (v.how == mode::gpu) shape.blocks = 16;
  shape.capacity = {.reads = n + 2, .writes = n + 2};
  shape.patience.updating = v.amount<A>(3u, 64u, 64u);
  // The bound is generous: the gate needs a few aborts of the large one to close.
  launch(on.s, on.tm, shape, whale_among_minnows{words, updates, v.amount<A>(3000u, 100'000u, 2'000'000u), board.at()});
  const auto seen = board.values();
  if (v.fair) require_equal(seen[2], 0u, "small transactions that the large one could not get between");
  require_equal(seen[0], 1u, "the large transaction ended");
  require_equal(seen[1], static_cast<std::uint64_t>(n) * 1'000'000u % (std::uint64_t{1} << 32), "the sum it saw");
  require_equal(on.total(words), n * 1'000'000u + (updates ? n * 1000u : 0u), "the total");
}
template <class A>
void a_long_reader_gets_through(const venue& v) {
  a_large_transaction_gets_through<A>(v, false);
}
template <class A>
void a_large_update_gets_through(const venue& v) {
  a_large_transaction_gets_through<A>(v, true);
}

}  // namespace gputm::conformance
