// Hand-made histories: each known anomaly in its smallest form, and its lawful neighbour.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "histories.hpp"

namespace gputm::history::test {
namespace {

void expect_ok(const history& h, level at) {
  const verdict v = check(h, {.level = at});
  EXPECT_TRUE(v.ok) << v.what;
  EXPECT_EQ(v.found, finding::consistent);
  EXPECT_EQ(v.what, "");
}

void expect_ok(const history& h) {
  for (level at : all_levels) expect_ok(h, at);
}

/// Returns the verdict, for a closer look at its words.
verdict expect_violation(const history& h, level at, const std::string& words = "") {
  const verdict v = check(h, {.level = at});
  EXPECT_FALSE(v.ok);
  EXPECT_EQ(v.found, finding::violation) << v.what;
  EXPECT_NE(v.what.find(words), std::string::npos) << v.what;
  return v;
}

void expect_violation(const history& h, const std::string& words = "") {
  for (level at : all_levels) expect_violation(h, at, words);
}

using numbers = std::vector<std::size_t>;

// ---- lawful ----------------------------------------------------------------------------------
TEST(Lawful, EmptyHistory) { expect_ok(history{}); }

TEST(Lawful, TransactionsWithoutAccesses) {
  expect_ok(of({committed(1, 2, {}), aborted(1, 3, {}), cancelled(4, 5, {})}));
}

TEST(Lawful, SerialIncrements) {
  history h = of({committed(1, 2, {r(7, 0), w(7, 1)}), committed(3, 4, {r(7, 1), w(7, 2)})});
  h.final[{0, 7}] = 2;
  expect_ok(h);
  EXPECT_EQ(check(h).order, (numbers{0, 1}));
}

TEST(Lawful, InitialValuesOtherThanZero) {
  history h = of({committed(1, 2, {r(7, 40), w(7, 41)})});
  h.initial[{0, 7}] = 40;
  h.final[{0, 7}] = 41;
  expect_ok(h);
}

TEST(Lawful, OverlappingInTheOrderOppositeToTheirBegins) {
  expect_ok(of({committed(1, 10, {r(0, 5)}), committed(2, 9, {w(0, 5)})}));
}

TEST(Lawful, OwnWritesAreReadBack) {
  expect_ok(of({committed(1, 2, {r(0, 0), w(0, 5), r(0, 5), w(0, 6), r(0, 6)}), committed(3, 4, {r(0, 6)})}));
}

TEST(Lawful, RegionsAreApart) {
  history h = of({committed(1, 2, {{0, 3, 5, true}}), committed(3, 4, {{1, 3, 0, false}, {0, 3, 5, false}})});
  expect_ok(h);
}

TEST(Lawful, RetryWritesWhatTheAbortedAttemptWrote) {
  expect_ok(of({aborted(1, 4, {r(0, 0), w(0, 1)}), committed(5, 6, {r(0, 0), w(0, 1)}), committed(7, 8, {r(0, 1)})}));
}

TEST(Lawful, CancelledLeavesNothingBehind) {
  expect_ok(of({cancelled(1, 2, {r(0, 0), w(0, 1)}), committed(3, 4, {r(0, 0), w(0, 2)})}));
}

TEST(Lawful, BlindWritesThatNobodyReads) {
  history h = of({committed(1, 9, {w(0, 1)}), committed(1, 9, {w(0, 2)}), committed(1, 9, {w(0, 3)})});
  expect_ok(h);
  h.final[{0, 0}] = 2;
  expect_ok(h);
}

// ---- wrong whatever the order ----------------------------------------------------------------
TEST(Values, DirtyReadOfAborted) {
  const history h = of({aborted(1, 5, {w(0, 9)}), committed(2, 4, {r(0, 9)})});
  expect_violation(h, "dirty read");
  EXPECT_EQ(check(h).culprits, (numbers{1, 0}));
}

TEST(Values, DirtyReadOfCancelled) {
  expect_violation(of({cancelled(1, 5, {w(0, 9)}), committed(2, 4, {r(0, 9)})}), "dirty read");
}

TEST(Values, DirtyReadByAbortedCountsForOpacityOnly) {
  const history h = of({aborted(1, 5, {w(0, 9)}), aborted(2, 4, {r(0, 9)})});
  expect_ok(h, level::serialisable);
  expect_ok(h, level::strict);
  expect_violation(h, level::opaque, "dirty read");
}

TEST(Values, IntermediateRead) {
  const history h = of({committed(1, 5, {w(0, 1), w(0, 2)}), committed(2, 4, {r(0, 1)})});
  expect_violation(h, "intermediate read");
  EXPECT_EQ(check(h).culprits, (numbers{1, 0}));
}

TEST(Values, NonRepeatableRead) {
  expect_violation(of({committed(1, 9, {r(0, 0), r(0, 1)}), committed(2, 3, {w(0, 1)})}), "non-repeatable");
}

TEST(Values, NonRepeatableReadOfAbortedCountsForOpacityOnly) {
  const history h = of({aborted(1, 9, {r(0, 0), r(0, 1)}), committed(2, 3, {w(0, 1)})});
  expect_ok(h, level::strict);
  expect_violation(h, level::opaque, "non-repeatable");
}

TEST(Values, OwnWriteNotReadBack) {
  expect_violation(of({committed(1, 2, {w(0, 5), r(0, 0)})}), "must read its own write");
  expect_violation(of({cancelled(1, 2, {w(0, 5), w(0, 6), r(0, 5)})}), "must read its own write");
}

TEST(Values, OwnWriteReadTooEarly) {
  expect_violation(of({committed(1, 2, {r(0, 5), w(0, 5)})}), "only later");
  expect_violation(of({committed(1, 2, {r(0, 5), w(0, 5), w(0, 6)})}), "only later");
}

TEST(Values, UnknownValue) {
  const history h = of({committed(1, 2, {}), committed(3, 4, {r(3, 77)})});
  expect_violation(h, "unknown value");
  expect_violation(h, "element 0:3 = 77");
}

TEST(Values, UnknownInitialValue) {
  history h = of({committed(3, 4, {r(3, 0)})});
  h.initial[{0, 3}] = 1;
  expect_violation(h, "unknown value");
}

TEST(Values, OneValueOfTwoWritersIsUnusable) {
  const history h = of({committed(1, 2, {w(0, 5)}), committed(3, 4, {w(0, 5)})});
  for (level at : all_levels) {
    const verdict v = check(h, {.level = at});
    EXPECT_FALSE(v.ok);
    EXPECT_EQ(v.found, finding::unusable) << v.what;
    EXPECT_EQ(v.culprits, (numbers{0, 1}));
  }
}

TEST(Values, UnusableGoesBeforeViolation) {
  const history h = of({committed(1, 2, {r(0, 99), w(0, 5)}), committed(3, 4, {w(0, 5)})});
  EXPECT_EQ(check(h).found, finding::unusable);
}

TEST(Values, WritingTheInitialValueAgainIsUnusable) {
  EXPECT_EQ(check(of({committed(1, 2, {w(0, 0)})})).found, finding::unusable);
}

TEST(Values, EqualValuesOfOtherElementsAreFine) {
  expect_ok(of({committed(1, 2, {w(0, 5)}), committed(3, 4, {w(1, 5)})}));
}

TEST(Values, EndBeforeBeginIsUnusable) { EXPECT_EQ(check(of({committed(4, 3, {})})).found, finding::unusable); }

// ---- cycles ----------------------------------------------------------------------------------
TEST(Cycles, LostUpdate) {
  const history h = of({committed(1, 5, {r(0, 0), w(0, 1)}), committed(2, 6, {r(0, 0), w(0, 2)})});
  expect_violation(h, "lost update");
  EXPECT_EQ(check(h).culprits, (numbers{0, 1}));
}

TEST(Cycles, WriteSkew) {
  const history h = of({committed(1, 5, {r(0, 0), r(1, 0), w(0, 1)}), committed(2, 6, {r(0, 0), r(1, 0), w(1, 1)})});
  expect_violation(h, "anti-dependency");
  EXPECT_EQ(check(h).culprits.size(), 2u);
}

TEST(Cycles, FracturedRead) {
  expect_violation(of({committed(1, 5, {w(0, 1), w(1, 1)}), committed(2, 6, {r(0, 1), r(1, 0)})}));
}

TEST(Cycles, LongFork) {
  expect_violation(of({committed(1, 9, {w(0, 1)}), committed(1, 9, {w(1, 1)}), committed(1, 9, {r(0, 1), r(1, 0)}),
                       committed(1, 9, {r(0, 0), r(1, 1)})}));
}

TEST(Cycles, CausalityThroughAThirdTransaction) {
  // #1 saw #0 and told #2, which does not see #0.
  expect_violation(
      of({committed(1, 9, {w(0, 1)}), committed(1, 9, {r(0, 1), w(1, 1)}), committed(1, 9, {r(1, 1), r(0, 0)})}));
}

TEST(Cycles, ReadsFromEachOther) {
  expect_violation(of({committed(1, 9, {r(0, 1), w(1, 1)}), committed(1, 9, {r(1, 1), w(0, 1)})}), "reads-from");
  // Each overwrites what the other one made of it: no chain of versions leads back to the initial value.
  expect_violation(of({committed(1, 9, {r(0, 1), w(0, 2)}), committed(1, 9, {r(0, 2), w(0, 1)})}), "reads-from");
}

TEST(Cycles, CancelledWithInconsistentReads) {
  expect_violation(of({committed(1, 5, {w(0, 1), w(1, 1)}), cancelled(2, 6, {r(0, 1), r(1, 0), w(2, 9)})}));
}

TEST(Cycles, ReportNamesTransactionsThreadsEdgesAndValues) {
  history h = of({committed(1, 5, {w(0, 1), w(1, 2)}), committed(2, 6, {r(0, 1), r(1, 0)})});
  h.transactions[1].thread = 31;
  const std::string what = expect_violation(h, level::strict).what;
  for (const char* part : {"strict serialisability", "#0 (thread 0, 1..5, committed)",
                           "#1 (thread 31, 2..6, committed)", "reads-from: it wrote element 0:0 = 1, which #1 read",
                           "anti-dependency: it read element 0:1 = 0, and #0 wrote 2 later"})
    EXPECT_NE(what.find(part), std::string::npos) << part << " is not in:\n" << what;
}

// ---- levels ----------------------------------------------------------------------------------
TEST(Levels, StaleReadViolatesRealTimeOnly) {
  const history h = of({committed(1, 2, {r(0, 0), w(0, 1)}), committed(3, 4, {r(0, 0)})});
  expect_ok(h, level::serialisable);
  expect_violation(h, level::strict, "real time: it ended at 2, #1 began at 3");
  expect_violation(h, level::opaque, "real time");
}

TEST(Levels, ManyStaleReadsAreSerialisable) {
  history h = of({committed(1, 100, {w(99, 1)}), committed(1, 100, {w(99, 2)})});
  for (std::uint32_t e = 0; e < 30; ++e) {
    h.transactions.push_back(committed(2 * e, 2 * e + 1, {r(e, 0), w(e, 1)}));
    h.transactions.push_back(committed(2 * e + 2, 2 * e + 3, {r(e, 0)}));
  }
  expect_ok(h, level::serialisable);
  expect_violation(h, level::strict);
}

TEST(Levels, EqualStampsOverlap) { expect_ok(of({committed(1, 3, {r(0, 0), w(0, 1)}), committed(3, 4, {r(0, 0)})})); }

TEST(Levels, StaleReadOfAborted) {
  const history h = of({committed(1, 2, {r(0, 0), w(0, 1)}), aborted(3, 4, {r(0, 0)})});
  expect_ok(h, level::strict);
  expect_violation(h, level::opaque);
}

TEST(Levels, AbortedThatSawTwoStates) {
  const history h = of({committed(1, 5, {r(0, 0), r(1, 0), w(0, 1), w(1, 1)}), aborted(2, 6, {r(0, 1), r(1, 0)})});
  expect_ok(h, level::serialisable);
  expect_ok(h, level::strict);
  expect_violation(h, level::opaque, "aborted");
}

TEST(Levels, AbortedOnesInTheWrongOrder) {
  // #0 takes effect before #1 and after #2, but #1 ended before #2 began.
  const history h = of({committed(1, 9, {r(0, 0), w(0, 1)}), aborted(3, 4, {r(0, 1)}), aborted(6, 7, {r(0, 0)})});
  expect_ok(h, level::strict);
  expect_violation(h, level::opaque, "real time");
}

TEST(Levels, AbortedThatSawOneState) {
  expect_ok(of({committed(1, 5, {r(0, 0), r(1, 0), w(0, 1), w(1, 1)}), aborted(2, 6, {r(0, 1), r(1, 1), w(0, 7)}),
                aborted(2, 6, {r(0, 0), r(1, 0), w(1, 7)})}));
}

// ---- blind writes ----------------------------------------------------------------------------
TEST(BlindWrites, OrderIsFoundByItsReaders) {
  // #0 must come after #2 has read the value of #1, as #3 read the value of #0 and knows of #2.
  expect_ok(of({committed(1, 20, {w(0, 1)}), committed(1, 20, {w(0, 2), w(1, 5)}), committed(1, 20, {r(0, 2), w(2, 5)}),
                committed(1, 20, {r(0, 1), r(2, 5)})}));
}

TEST(BlindWrites, NoOrderWorks) {
  // By element 0 the last of the two is #0, by element 1 it is #1.
  const history h = of({committed(1, 20, {w(0, 1), w(1, 1)}), committed(1, 20, {w(0, 2), w(1, 2)}),
                        committed(1, 20, {r(0, 1), r(1, 2)})});
  expect_violation(h);
}

TEST(BlindWrites, OverwrittenValueComesBack) {
  // Values came and went and came again.
  const history h = of({committed(1, 20, {w(0, 1)}), committed(1, 20, {w(0, 2)}), committed(2, 3, {r(0, 1)}),
                        committed(4, 5, {r(0, 2)}), committed(6, 7, {r(0, 1)})});
  expect_ok(h, level::serialisable);
  expect_violation(h, level::strict);
}

TEST(BlindWrites, ContradictionNamesBothOrders) {
  // #2 read the value of #0 and knows of #1; #3 read the value of #1 and knows of #0.
  const history h = of({committed(1, 20, {w(0, 1), w(2, 1)}), committed(1, 20, {w(0, 2), w(3, 1)}),
                        committed(1, 20, {r(0, 1), r(3, 1)}), committed(1, 20, {r(0, 2), r(2, 1)})});
  for (level at : all_levels) {
    const verdict v = expect_violation(h, at, "neither can come first");
    EXPECT_NE(v.what.find("suppose that #0 came first"), std::string::npos) << v.what;
    EXPECT_NE(v.what.find("suppose that #1 came first"), std::string::npos) << v.what;
  }
}

TEST(BlindWrites, WorkBound) {
  // #0 ended first, which makes it the first guess, but #3 read its value and knows of #1.
  const history h = of({committed(1, 10, {w(0, 1)}), committed(1, 11, {w(0, 2), w(1, 1)}),
                        committed(1, 20, {r(1, 1), w(2, 1)}), committed(1, 20, {r(0, 1), r(2, 1)})});
  expect_ok(h);
  const verdict v = check(h, {.work_bound = 0});
  EXPECT_FALSE(v.ok);
  EXPECT_EQ(v.found, finding::undetermined) << v.what;
  EXPECT_NE(v.what.find("work bound of 0"), std::string::npos) << v.what;
}

// ---- final state -----------------------------------------------------------------------------
TEST(FinalState, WrongValue) {
  history h = of({committed(1, 2, {r(0, 0), w(0, 1)}), committed(3, 4, {r(0, 1), w(0, 2)})});
  h.final[{0, 0}] = 1;
  expect_violation(h, "wrong final state");
  h.final[{0, 0}] = 0;
  expect_violation(h, "wrong final state");
  h.final[{0, 0}] = 3;
  expect_violation(h, "no committed transaction left there");
}

TEST(FinalState, OfAnAbortedWrite) {
  history h = of({aborted(1, 2, {w(0, 1)})});
  h.final[{0, 0}] = 1;
  expect_violation(h, "wrong final state");
}

TEST(FinalState, InitialValueAfterABlindWrite) {
  history h = of({committed(1, 2, {w(0, 1)})});
  h.final[{0, 0}] = 0;
  expect_violation(h, "wrong final state");
}

TEST(FinalState, OfTheEarlierBlindWrite) {
  history h = of({committed(1, 2, {w(0, 1)}), committed(3, 4, {w(0, 2)})});
  h.final[{0, 0}] = 1;
  expect_ok(h, level::serialisable);
  expect_violation(h, level::strict);
}

TEST(FinalState, OfTwoElementsInOppositeOrders) {
  history h = of({committed(1, 9, {w(0, 1), w(1, 1)}), committed(1, 9, {w(0, 2), w(1, 2)})});
  h.final = {{{0, 0}, 1}, {{0, 1}, 2}};
  expect_violation(h, "as that led to the final value");
}

TEST(FinalState, OfAnUntouchedElement) {
  history h;
  h.initial[{0, 0}] = 3;
  h.final[{0, 0}] = 3;
  h.final[{0, 1}] = 0;
  expect_ok(h);
  h.final[{0, 1}] = 1;
  expect_violation(h, "wrong final state");
}

}  // namespace
}  // namespace gputm::history::test
