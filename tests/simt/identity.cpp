// Who a thread is, and what the lanes of a warp tell each other, in every mode.
#include <algorithm>
#include <array>
#include <atomic>

#include "support.hpp"

namespace gputm::simt_test {
namespace {

class identity : public in_every_mode {};
GPUTM_IN_EVERY_MODE(identity);

TEST_P(identity, every_thread_of_the_grid_runs_once) {
  std::vector<unsigned> runs(3 * 70, 0);
  EXPECT_OK(run(3, 70, [&] {
    ++runs[grid_thread_rank()];
    check(grid_size() == 3 && block_size() == 70 && grid_threads() == 210, "sizes");
    check(grid_thread_rank() == block_rank() * 70 + thread_rank(), "rank in the grid");
    check(warp_rank() == thread_rank() / 32 && lane() == thread_rank() % 32 && warp_width() == 32, "warp");
  }));
  EXPECT_EQ(runs, std::vector<unsigned>(210, 1));
}

TEST_P(identity, warp_width_is_settable) {
  for (unsigned width : {1u, 3u, 8u, 32u}) {
    settings.warp_width = width;
    EXPECT_OK(run(2, 20, [width] {
      check(warp_width() == width && lane() == thread_rank() % width && warp_rank() == thread_rank() / width, "warp");
      const std::uint32_t lanes = std::min(width, 20 - warp_rank() * width);
      check(count(ballot(full_mask, true)) == lanes, "lanes that do not exist stay out");
    }));
  }
}

class collectives : public in_every_mode {};
GPUTM_IN_EVERY_MODE(collectives);

TEST_P(collectives, votes) {
  EXPECT_OK(run(2, 64, [] {
    check(ballot(full_mask, lane() % 2 == 1) == 0xaaaaaaaau, "ballot");
    check(any(full_mask, lane() == 7) && !any(full_mask, false), "any");
    check(all(full_mask, true) && !all(full_mask, lane() != 7), "all");
  }));
}

TEST_P(collectives, shuffles_move_four_and_eight_bytes) {
  EXPECT_OK(run(1, 64, [] {
    check(shfl(full_mask, lane() * 3, 5) == 15, "from one lane");
    const std::uint64_t wide = 0x100000000u * (lane() + 1);
    check(shfl(full_mask, wide, 31 - lane()) == 0x100000000u * (32 - lane()), "mirrored, 8 bytes");
    check(shfl_xor(full_mask, static_cast<float>(lane()), 1) == static_cast<float>(lane() ^ 1), "neighbours, float");
    check(shfl(full_mask, lane(), 35) == 3, "the source lane wraps at 32");
  }));
}

TEST_P(collectives, reductions_count_the_lanes_there_are) {
  for (const unsigned width : {5u, 8u, 32u}) {
    settings.warp_width = width;
    EXPECT_OK(run(1, 40, [width] {
      const std::uint32_t first = warp_rank() * width, lanes = std::min(width, 40 - first);
      const std::uint64_t wide = 0x100000001u;
      check(reduce_or(full_mask, 1u << lane()) == (lanes == 32 ? ~0u : (1u << lanes) - 1), "or");
      check(reduce_or(full_mask, wide << lane()) == wide * ((1ull << lanes) - 1), "or, 8 bytes");
      check(reduce_add(full_mask, lane() + 1) == lanes * (lanes + 1) / 2, "sum");
      check(reduce_add(full_mask, ~0ull >> 6) == (~0ull >> 6) * lanes, "sum of large numbers");
      check(reduce_min(full_mask, 7 - lane() % 8) == (lanes < 8 ? 8 - lanes : 0), "lowest");
      check(reduce_max(full_mask, wide * lane()) == wide * (lanes - 1), "highest, 8 bytes");
      if (lane() >= 1 && lane() < 4)
        check(reduce_min(0xeu, lane()) == 1 && reduce_max(0xeu, lane()) == 3, "lowest and highest of some");
      if (lane() < 4) check(reduce_add(0xfu, std::uint64_t{lane()}) == 6 && reduce_or(0xfu, lane()) == 3, "of some");
    }));
  }
}

TEST_P(collectives, match_any_finds_equal_values) {
  EXPECT_OK(run(1, 32, [] {
    const mask_t expected = lane() % 3 == 0 ? 0x49249249u : lane() % 3 == 1 ? 0x92492492u : 0x24924924u;
    check(match_any(full_mask, lane() % 3) == expected, "4 bytes");
    check(match_any(full_mask, std::int64_t{-1} - lane() / 16) == (lane() < 16 ? 0xffffu : 0xffff0000u), "8 bytes");
  }));
}

TEST_P(collectives, reduce_combines_in_lane_order) {
  EXPECT_OK(run(2, 40, [] {
    const std::uint32_t sum = reduce(full_mask, lane(), [](auto a, auto b) { return a + b; });
    check(sum == (warp_rank() == 0 ? 496u : 28u), "sum; the second warp is short");
    check(reduce(full_mask, lane(), [](auto a, auto) { return a; }) == 0, "first");
    check(reduce(full_mask, lane(), [](auto, auto b) { return b; }) == (warp_rank() == 0 ? 31u : 7u), "last");
  }));
}

TEST_P(collectives, lanes_in_step_wait_for_those_that_have_the_same_turn) {
  const auto turns_of = [](unsigned thread) { return thread % 32 == 3 ? 0 : 1 + thread % 5; };
  std::array<std::atomic<unsigned>, 40> begun{};
  EXPECT_OK(run(1, 40, [&] {
    const unsigned mine = turns_of(thread_rank()), first = thread_rank() - lane();
    unsigned turn = 0;
    bool has_turn = mine != 0;
    in_step lanes(has_turn);
    while (has_turn) {
      ++begun[thread_rank()];
      has_turn = lanes.next(++turn < mine);
      for (unsigned other = first; other < 40 && other < first + 32; ++other)
        check(begun[other] >= std::min(turn, turns_of(other)), "nobody is behind");
    }
    check(turn == mine, "as many turns as it has");
  }));
}

TEST_P(collectives, lanes_out_of_step_wait_for_nobody) {
  settings.in_step = false;
  std::uint32_t ended = 0;
  EXPECT_OK(run(1, 2, [&] {
    in_step lanes(true);
    int turn = 0;
    for (bool has_turn = true; has_turn;) {
      while (thread_rank() == 0 && atomic(ended).load(order::acquire) == 0) backoff();
      has_turn = lanes.next(++turn < 3);
    }
    atomic(ended).store(1, order::release);
  }));
}

TEST_P(collectives, shfl_words_gives_all_words_of_another_lane) {
  struct three {
    std::uint32_t a, b, c;
  };
  struct two {
    std::uint64_t a, b;
  };
  EXPECT_OK(run(1, 32, [] {
    const three t = shfl_words(full_mask, three{lane(), lane() + 100, lane() * lane()}, 7);
    check(t.a == 7 && t.b == 107 && t.c == 49, "words of 4 bytes");
    const two w = shfl_words(full_mask, two{lane() + (1ull << 40), ~0ull - lane()}, 31);
    check(w.a == 31 + (1ull << 40) && w.b == ~0ull - 31, "words of 8 bytes");
  }));
}

TEST_P(collectives, lanes_that_are_together_have_the_same_mask) {
  std::atomic<unsigned> most{0};
  EXPECT_OK(run(1, 40, [&most] {
    for (unsigned turn = 0; turn < 4; ++turn) {
      const mask_t mine = together();
      check(mine >> lane() & 1, "one is together with oneself");
      if (count(mine) > most) most = count(mine);
      check(match_any(mine, mine) == mine, "all of them know the same");
      if (lane() % 4 == turn) return;  // whoever has ended is not waited for
    }
  }));
  if (explores())
    EXPECT_GT(most, 1u);
  else
    EXPECT_EQ(most, 1u);
}

TEST_P(collectives, lanes_out_of_step_are_not_together) {
  settings.in_step = false;
  EXPECT_OK(run(1, 4, [] { check(together() == 1u << lane(), "alone"); }));
}

TEST_P(collectives, disjoint_masks_meet_apart) {
  EXPECT_OK(run(1, 32, [] {
    const mask_t mine = lane() < 10 ? 0x3ffu : ~0x3ffu;
    for (int i = 0; i < 5; ++i) check(ballot(mine, lane() % 2 == 0) == (0x55555555u & mine), "ballot of a part");
    check(ballot(full_mask, true) == full_mask, "all together again");
  }));
}

TEST_P(collectives, a_fast_lane_may_be_one_operation_ahead) {
  EXPECT_OK(run(1, 32, [] {
    if (lane() < 4) {  // the others are at the full ballot already
      for (std::uint32_t i = 0; i < 20; ++i) check(shfl(0xf, i + lane(), 2) == i + 2, "shfl of four lanes");
    }
    check(ballot(full_mask, lane() < 4) == 0xf, "ballot of all");
  }));
}

TEST_P(collectives, lanes_that_have_returned_are_not_waited_for) {
  EXPECT_OK(run(1, 32, [] {
    if (lane() % 2 == 1) return;
    check(ballot(full_mask, true) == 0x55555555u, "ballot of those who stay");
    check(all(full_mask, true), "all of those who stay");
    sync_warp();
  }));
}

TEST_P(collectives, the_full_mask_is_the_mask_of_the_lanes_that_exist) {
  EXPECT_OK(run(1, 6, [] {
    const mask_t mask = lane() < 3 ? full_mask : 0x3fu;
    check(ballot(mask, lane() > 3) == 0x30u, "all lanes have met");
  }));
}

TEST_P(collectives, one_lane_meets_itself) {
  EXPECT_OK(run(1, 5, [] {
    check(ballot(1u << lane(), true) == 1u << lane(), "alone");
    check(shfl(1u << lane(), 7, lane()) == 7, "from itself");
  }));
}

TEST(masks, arithmetic) {
  EXPECT_EQ(count(0xf0f0u), 8u);
  EXPECT_EQ(lowest(0xf0f0u), 4u);
  EXPECT_EQ(lowest(0u), 32u);
  EXPECT_EQ(without_lowest(0xf0f0u, 0), 0xf0f0u);
  EXPECT_EQ(without_lowest(0xf0f0u, 5), 0xe000u);
  EXPECT_EQ(without_lowest(0xf0f0u, 8), 0u);
  EXPECT_EQ(nth(0xf0f0u, 0), 4u);
  EXPECT_EQ(nth(0xf0f0u, 4), 12u);
  EXPECT_EQ(nth(~0u, 31), 31u);
}

}  // namespace
}  // namespace gputm::simt_test
