// Histories that need the search: formulas in disguise. Whether a history with blind writes is serialisable is
// NP-complete (Papadimitriou, J. ACM 26(4), 1979), which also makes hard tests: the checker has to find a history
// serialisable exactly if the formula in it can be satisfied.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "histories.hpp"

namespace gputm::history::test {
namespace {

struct literal {
  std::uint32_t variable;
  bool positive;
};
using clause = std::array<literal, 3>;
using formula = std::vector<clause>;

formula random_formula(std::uint32_t variables, std::size_t clauses, std::mt19937_64& random) {
  formula f(clauses);
  for (clause& c : f) {
    for (literal& l : c) l = {static_cast<std::uint32_t>(random() % variables), random() % 2 == 0};
  }
  return f;
}

bool satisfiable(const formula& f, std::uint32_t variables) {
  for (std::uint32_t assignment = 0; assignment < (1u << variables); ++assignment) {
    bool all = true;
    for (const clause& c : f) {
      bool any = false;
      for (const literal& l : c) any = any || ((assignment >> l.variable & 1) != 0) == l.positive;
      all = all && any;
    }
    if (all) return true;
  }
  return false;
}

/// Two transactions that write one element blindly, and a reader of either. The switch is on if `a` comes first, and
/// then `read_a` precedes `b`; it is off if `b` comes first, and then `read_b` precedes `a`.
struct toggle {
  std::size_t a, b, read_a, read_b;
};

class disguise {
 public:
  history h;

  toggle make_toggle() {
    const std::uint32_t element = elements_++;
    return {add({w(element, 1)}), add({w(element, 2)}), add({r(element, 1)}), add({r(element, 2)})};
  }

  /// By reads-from, through an element of their own.
  void precede(std::size_t before, std::size_t after) {
    h.transactions[before].accesses.push_back(w(elements_, 1));
    h.transactions[after].accesses.push_back(r(elements_++, 1));
  }

  /// A cycle unless: if `part` is on, then the variable has the literal's value.
  void implies(const toggle& part, const toggle& variable, bool positive) {
    precede(positive ? variable.a : variable.b, part.read_a);
    precede(part.b, positive ? variable.read_b : variable.read_a);
  }

  /// A cycle if all three are off.
  void one_is_on(const std::array<toggle, 3>& parts) {
    for (std::size_t i = 0; i < 3; ++i) precede(parts[i].a, parts[(i + 1) % 3].read_b);
  }

 private:
  std::size_t add(std::vector<access> accesses) {
    h.transactions.push_back(committed(0, 1000, std::move(accesses)));
    return h.transactions.size() - 1;
  }

  std::uint32_t elements_ = 0;
};

history disguised(const formula& f, std::uint32_t variables) {
  disguise d;
  std::vector<toggle> variable;
  for (std::uint32_t v = 0; v < variables; ++v) variable.push_back(d.make_toggle());
  for (const clause& c : f) {
    const std::array<toggle, 3> parts{d.make_toggle(), d.make_toggle(), d.make_toggle()};
    for (std::size_t i = 0; i < 3; ++i) d.implies(parts[i], variable[c[i].variable], c[i].positive);
    d.one_is_on(parts);
  }
  return d.h;
}

TEST(Search, DecidesFormulas) {
  int yes = 0, no = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint32_t variables = 3 + static_cast<std::uint32_t>(seed % 6);
    const formula f = random_formula(variables, 5 * variables, random);
    const bool expected = satisfiable(f, variables);
    ++(expected ? yes : no);
    for (level at : all_levels) {
      const verdict v = check(disguised(f, variables), {.level = at});
      ASSERT_EQ(v.found, expected ? finding::consistent : finding::violation) << "seed " << seed << ": " << v.what;
    }
  }
  EXPECT_GT(yes, 30);
  EXPECT_GT(no, 30);
}

TEST(Search, WorkBoundLeavesOpenOrAnswersRight) {
  int open = 0, answered = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint32_t variables = 5 + static_cast<std::uint32_t>(seed % 4);
    const formula f = random_formula(variables, 5 * variables, random);
    const finding expected = satisfiable(f, variables) ? finding::consistent : finding::violation;
    for (std::uint64_t bound = 1'000; bound < 1'000'000; bound += bound / 3) {
      const finding found = check(disguised(f, variables), {.work_bound = bound}).found;
      ++(found == finding::undetermined ? open : answered);
      if (found != finding::undetermined) {
        ASSERT_EQ(found, expected) << "seed " << seed << ", bound " << bound;
      }
    }
  }
  EXPECT_GT(open, 100);
  EXPECT_GT(answered, 100);
}

}  // namespace
}  // namespace gputm::history::test
