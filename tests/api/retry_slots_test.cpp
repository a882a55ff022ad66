// Inputs that ask for a retry, where the caller owns the memory of a run.
#include "support.hpp"

namespace gputm::api_test {
namespace {

/// Counts its input once the flag is set; the last input sets it, if it may.
struct wait_for_flag {
  array<long> flag, counts;
  bool may_set;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long i) const {
    const auto k = static_cast<unsigned>(i);
    GPUTM_TRY(const long set, tx.load(flag[0]));
    if (set == 0 && !(may_set && k == counts.size() - 1)) return gputm::retry;
    GPUTM_TRY(const long x, tx.load(counts[k]));
    GPUTM_TRY(tx.store(counts[k], x + 1));
    GPUTM_TRY(tx.store(flag[0], 1));
    return gputm::commit;
  }
};

struct retry_slots : testing::Test {
  static constexpr std::uint32_t n = 40;
  using result = gputm::detail::result_of<wait_for_flag>::type;
  device on = host_device();
  stream s{on};
  memory<stm> tm{on};
  array<long> flag = tm.allocate<long>(1), counts = tm.allocate<long>(n);
  buffer in{on, n * sizeof(long)}, said{on, n}, slots{on, n * 8};
  launch_config config{.blocks = 2, .threads = 4, .patience = {.stuck_ns = 20'000'000}};
  workspace<stm> w = make_workspace<wait_for_flag, long, with_statistics>(s, tm, n, config);

  void SetUp() override {
    std::vector<long> numbers(n);
    for (std::uint32_t k = 0; k < n; ++k) numbers[k] = k;
    on->copy_to_device(s.handle(), in.as<void>(), numbers.data(), in.size());
    std::vector<std::uint64_t> garbage(n, 3);
    on->copy_to_device(s.handle(), slots.as<void>(), garbage.data(), slots.size());
  }
  statistics go(bool may_set, bool with_slots = true) {
    run_async(s, tm, w, wait_for_flag{flag, counts, may_set},
              bulk<long, result>{in.as<long>(), n, nullptr, said.as<outcome>(),
                                 with_slots ? slots.as<std::uint64_t>() : nullptr});
    return w.collect(s, tm);
  }
};

TEST_F(retry_slots, need_not_be_cleared_by_the_caller) {
  EXPECT_EQ(go(true).commits, n);
  EXPECT_EQ(tm.read(s, counts), std::vector<long>(n, 1));
}
TEST_F(retry_slots, are_as_good_as_ever_after_an_error) {
  EXPECT_TRUE(throws<no_progress>([&] { go(false); }, {"retry"}));
  for (long turn = 1; turn < 4; ++turn) {
    tm.fill(s, flag, 0);
    EXPECT_EQ(go(true).commits, n);
    EXPECT_EQ(tm.read(s, counts), std::vector<long>(n, turn));
  }
}
TEST_F(retry_slots, are_waited_for_without_end_if_the_limit_is_zero) {
  config.patience.stuck_ns = 0;
  w = make_workspace<wait_for_flag, long, with_statistics>(s, tm, n, config);
  EXPECT_EQ(go(true).commits, n);
}
TEST_F(retry_slots, are_what_it_takes_to_be_tried_again) {
  const statistics done = go(false, false);
  EXPECT_EQ(done.commits, 0u);
  EXPECT_EQ(done.aborts[static_cast<unsigned>(abort_reason::retry)], n);
  for (std::uint32_t k = 0; k < n; ++k) EXPECT_EQ(said.as<outcome>()[k], outcome::retry);
}

}  // namespace
}  // namespace gputm::api_test
