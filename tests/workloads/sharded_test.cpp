// The sharded bank: every client has accounts of its own.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "bank.hpp"
#include "gputm/algorithm/csmv.hpp"
#include "gputm/algorithm/jvstm_gpu.hpp"
#include "gputm/algorithm/locks.hpp"
#include "gputm/algorithm/pr_stm.hpp"
#include "libitm_bank.hpp"

namespace gputm::workloads_test {
namespace {

using namespace gputm::workloads;

bank_options sharded(std::uint64_t accounts, double rot, std::uint64_t rot_reads) {
  bank_options o;
  o.accounts = accounts;
  o.rot = rot;
  o.rot_reads = rot_reads;
  o.sharded = true;
  o.amount.transactions = 4000;
  o.launch.blocks = 2;
  o.launch.threads = 8;
  return o;
}
/// Whether all audits of the run were checked, and right.
void expect_audits(const measurement& m) {
  EXPECT_TRUE(m.ok) << m.invariant;
  const std::string n = std::to_string(m.stats.read_only_commits);
  EXPECT_NE(m.invariant.find(n + " of " + n + " read-only sums right"), std::string::npos) << m.invariant;
}

template <class A>
struct sharded_bank : testing::Test {};
using algorithms = testing::Types<algorithm::pr_stm, algorithm::pr_stm_opaque, algorithm::locks, algorithm::jvstm_gpu>;
TYPED_TEST_SUITE(sharded_bank, algorithms);

TYPED_TEST(sharded_bank, nothing_conflicts) {
  for (const std::uint64_t reads : {0, 2, 20}) {
    const measurement m = bank<TypeParam>(host_device(), sharded(16 * 20, 50, reads)).run();
    EXPECT_EQ(m.stats.read_only_aborts, 0u);
    EXPECT_EQ(m.stats[abort_reason::read_conflict] + m.stats[abort_reason::lock_stolen], 0u);
    EXPECT_EQ(m.stats.commits, 4000u);
    expect_audits(m);
  }
}
TYPED_TEST(sharded_bank, many_accounts_in_a_transaction) {
  bank_options o = sharded(16 * 20, 50, 0);
  for (const std::uint32_t k : {1, 3, 20}) {
    o.accounts_per_transaction = k;
    const measurement m = bank<TypeParam>(host_device(), o).run();
    EXPECT_EQ(m.stats[abort_reason::read_conflict], 0u);
    expect_audits(m);
  }
}
TYPED_TEST(sharded_bank, updates_that_read_more_than_they_change) {
  bank_options o = sharded(16 * 20, 50, 0);
  o.update_reads = 18;
  const measurement m = bank<TypeParam>(host_device(), o).run();
  EXPECT_EQ(m.stats[abort_reason::read_conflict], 0u);
  EXPECT_EQ(m.stats.commits, 4000u);
  expect_audits(m);
  if (std::is_same_v<TypeParam, algorithm::locks>) return;  // it has no log of reads
  o.rot = 0;
  o.reads = 10;
  EXPECT_THROW(bank<TypeParam>(host_device(), o).run(), capacity_exceeded);
}
TYPED_TEST(sharded_bank, updates_that_overwrite) {
  bank_options o = sharded(16 * 20, 50, 0);
  for (const std::uint32_t n : {2, 10, 18}) {
    o.update_writes = n;
    const measurement m = bank<TypeParam>(host_device(), o).run();
    EXPECT_EQ(m.stats[abort_reason::read_conflict] + m.stats[abort_reason::lock_stolen], 0u);
    EXPECT_EQ(m.stats.commits, 4000u);
    expect_audits(m);
  }
  for (const std::uint64_t accounts : {4, 7, 100}) {  // of all clients
    o.sharded = false;
    o.accounts = accounts;
    expect_audits(bank<TypeParam>(host_device(), o).run());
  }
  if (std::is_same_v<TypeParam, algorithm::locks>) return;  // it has no log of writes
  o.writes = 19;
  EXPECT_THROW(bank<TypeParam>(host_device(), o).run(), capacity_exceeded);
}
TEST(sharded_banks, of_csmv_abort_for_room_only) {
  const measurement m = bank<algorithm::csmv_sh>(host_device(), sharded(16 * 20, 50, 20)).run();
  EXPECT_EQ(m.stats[abort_reason::read_conflict], 0u);
  expect_audits(m);
}
TEST(sharded_banks, of_csmv_overwrite) {
  bank_options o = sharded(16 * 20, 50, 0);
  o.update_writes = 18;
  const measurement m = bank<algorithm::csmv_sh>(host_device(), o).run();
  EXPECT_EQ(m.stats[abort_reason::read_conflict], 0u);
  EXPECT_EQ(m.stats.commits, 4000u);
  expect_audits(m);
  o.writes = 19;
  EXPECT_THROW(bank<algorithm::csmv_sh>(host_device(), o).run(), capacity_exceeded);
}
/// Read-only transactions keep no log there, so they may read more than the capacity.
TEST(sharded_banks, read_capacity_is_that_of_updates) {
  bank_options o = sharded(16 * 100, 90, 100);
  o.reads = 2;
  expect_audits(bank<algorithm::csmv_sh>(host_device(), o).run());
  expect_audits(bank<algorithm::jvstm_gpu>(host_device(), o).run());
  EXPECT_THROW(bank<algorithm::pr_stm>(host_device(), o).run(), capacity_exceeded);
}
TEST(sharded_banks, clients_must_have_accounts) {
  const auto refusal = [](const bank_options& o) -> std::string {
    try {
      bank<algorithm::pr_stm>(host_device(), o).run();
      return "";
    } catch (const invalid_argument& e) {
      return e.what();
    }
  };
  EXPECT_EQ(refusal(sharded(32, 0, 0)), "");
  EXPECT_EQ(refusal(sharded(31, 0, 0)),
            "a sharded bank of 31 accounts has room for 15 clients with 2 accounts of their own, and the grid has 16; "
            "it takes 32 accounts or a smaller grid");
  EXPECT_NE(refusal(sharded(100, 10, 50)).find("room for 2 clients with 50 accounts"), std::string::npos);
  bank_options wide = sharded(16 * 20, 0, 0);
  wide.accounts_per_transaction = 21;
  EXPECT_NE(refusal(wide).find("room for 15 clients with 21 accounts"), std::string::npos);
  wide.accounts_per_transaction = 2;
  wide.update_reads = 19;
  EXPECT_NE(refusal(wide).find("room for 15 clients with 21 accounts"), std::string::npos);
  wide.update_reads = 3;
  wide.update_writes = 16;
  EXPECT_NE(refusal(wide).find("room for 15 clients with 21 accounts"), std::string::npos);
  wide.update_writes = 7;
  EXPECT_NE(refusal(wide).find("7 accounts that an update overwrites: it must be even"), std::string::npos);
  bank_options small;
  small.accounts = 3;
  small.update_writes = 2;
  EXPECT_NE(refusal(small).find("a bank of 3 accounts: those that updates overwrite are 2 at least"),
            std::string::npos);
}
TEST(sharded_banks, a_grid_of_gputms_choice_fits) {
  for (const std::uint64_t accounts : {2, 7, 100, 6000})
    for (const std::uint32_t blocks : {0, 1, 3})
      for (const std::uint32_t threads : {0, 1, 16}) {
        bank_options o = sharded(accounts, 50, 2);
        o.launch.blocks = blocks;
        o.launch.threads = threads;
        if (accounts / 2 < std::max(1u, blocks) * std::max(1u, threads)) continue;
        const measurement m = bank<algorithm::pr_stm>(host_device(), o).run();
        EXPECT_LE(m.blocks * m.threads, accounts / 2);
        expect_audits(m);
        EXPECT_EQ(m.blocks, blocks ? blocks : m.blocks);
        EXPECT_EQ(m.threads, threads ? threads : m.threads);
      }
}
TEST(sharded_banks, of_libitm) {
  if (!has_libitm()) GTEST_SKIP() << "this build has no libitm";
  expect_audits(run_libitm_bank(sharded(40, 50, 20), 2));
  expect_audits(run_libitm_bank(sharded(40, 50, 0), 2));
  bank_options more = sharded(40, 50, 0);
  more.update_reads = 18;
  expect_audits(run_libitm_bank(more, 2));
  more.update_reads = 0;
  more.update_writes = 18;
  expect_audits(run_libitm_bank(more, 2));
  more.sharded = false;
  expect_audits(run_libitm_bank(more, 2));
  EXPECT_THROW(run_libitm_bank(sharded(39, 50, 20), 2), invalid_argument);
}

TEST(banks, have_as_many_versions_as_they_are_told) {
  bank_options o = sharded(50, 20, 0);
  o.sharded = false;
  o.memory = {.versions = 2, .record_entries = 16};
  expect_audits(bank<algorithm::jvstm_gpu>(host_device(), o).run());
  expect_audits(bank<algorithm::csmv_sh>(host_device(), o).run());
  o.memory.versions = 1;
  EXPECT_THROW(bank<algorithm::jvstm_gpu>(host_device(), o), invalid_argument);
}

}  // namespace
}  // namespace gputm::workloads_test
