// The loop workloads themselves: their data, their references, their refusals, and the loop that nothing orders.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "gputm/speculation/doall.hpp"
#include "loops_of.hpp"

namespace gputm::workloads_test {
namespace {

measurement doall(const prepared_loop& l) {
  host::config c;
  c.os_threads = 1;
  return loop_workload<speculation::doall>(host_device(c), {.blocks = 2, .threads = 32}).run(l);
}

TEST(doall, is_right_without_dependences_and_judged_by_that) {
  int right = 0, wrong = 0;
  for (const named_loop& l : loops_of(1500)) {
    const measurement m = doall(l.loop);
    const bool dependent = std::visit([](const auto& p) { return p.dependent; }, l.loop.problem());
    EXPECT_EQ(m.loop->judged, !dependent) << l.name;
    if (!dependent) {
      EXPECT_TRUE(m.ok) << l.name << ": " << m.invariant;
    }
    (m.ok ? right : wrong) += 1;
  }
  EXPECT_GE(right, 8);
  EXPECT_GE(wrong, 4);
}
TEST(doall, a_wrong_result_without_dependences_counts) {
  const prepared_loop l(synthetic_problem({.iterations = 100}));
  host_reference tampered = l.reference();
  tampered.arrays[0][900] ^= std::byte{4};  // the last word that is read only: nothing else differs
  const measurement m = doall(prepared_loop(l.problem(), std::move(tampered)));
  EXPECT_TRUE(m.loop->judged);
  EXPECT_FALSE(m.ok);
  EXPECT_EQ(m.loop->identical, false);
  EXPECT_NE(m.invariant.find("1 bytes differ"), std::string::npos) << m.invariant;
  EXPECT_NE(m.invariant.find("byte 900 of array 0"), std::string::npos) << m.invariant;
}

// ---- prices are held to ulps of the CPU's

TEST(inexact, distances) {
  const double a[] = {1.0, 100.0, 0.0}, b[] = {1.0, std::nextafter(100.0, 101.0), 0.0};
  const auto bytes = [](const auto& v) {
    const auto* p = reinterpret_cast<const std::byte*>(&v);
    return std::vector<std::byte>(p, p + sizeof v);
  };
  const array_bytes x{bytes(a)}, y{bytes(b)};
  EXPECT_EQ(distance_in_ulps(x, x, 100), 0);
  EXPECT_EQ(distance_in_ulps(x, y, 100), 1);
  const double n[] = {1.0, std::numeric_limits<double>::quiet_NaN(), 0.0};
  EXPECT_EQ(distance_in_ulps(x, {bytes(n)}, 100), INFINITY);
  EXPECT_EQ(distance_in_ulps({bytes(a), bytes(a)}, {bytes(a), bytes(b)}, 100), INFINITY);
  EXPECT_EQ(distance_in_ulps(x, {}, 100), INFINITY);
}
TEST(inexact, beyond_the_limit_nothing_claims_to_be_identical) {
  const std::int64_t n = most_rerun + 1;
  const prepared_loop l(black_scholes_problem({.iterations = n}));
  const measurement m = doall(l);
  EXPECT_TRUE(m.ok) << m.invariant;
  EXPECT_FALSE(m.loop->identical);
  host_reference tampered = l.reference();
  double price;
  std::memcpy(&price, tampered.arrays[0].data() + 8000, sizeof price);
  price += 1e-9;
  std::memcpy(tampered.arrays[0].data() + 8000, &price, sizeof price);
  EXPECT_FALSE(doall(prepared_loop(l.problem(), std::move(tampered))).ok);
}
TEST(inexact, errors_are_counted) {
  const prepared_loop l(black_scholes_problem({.iterations = 4000, .errors = 5}));
  std::int64_t errors;
  std::memcpy(&errors, l.reference().arrays[1].data(), sizeof errors);
  EXPECT_NEAR(static_cast<double>(errors), 200, 60);
}

// ---- the data is what it says

TEST(synthetic, has_the_dependences_it_says) {
  for (unsigned kind = 0; kind < 4; ++kind) {
    synthetic_options o;
    o.iterations = 20'000;
    o.kind = static_cast<dependence>(kind);
    o.percent = 5;
    o.distance = 100;
    o.random = true;
    const synthetic_problem p(o);
    std::vector<int> reader(p.a.size(), -1), writer(p.a.size(), -1);
    int war = 0, waw = 0, raw = 0;
    for (int i = 0; i < 20'000; ++i) {
      for (std::size_t k = 0; k < 5; ++k) {
        const std::size_t at = static_cast<std::size_t>(i) * 5 + k;
        raw += writer[p.read_at[at]] >= 0;
        waw += writer[p.write_at[at]] >= 0;
        war += reader[p.write_at[at]] >= 0;
        if (kind == 1 && reader[p.write_at[at]] >= 0) {
          EXPECT_LE(i - reader[p.write_at[at]], 100);
        }
      }
      for (std::size_t k = 0; k < 5; ++k) {
        reader[p.read_at[static_cast<std::size_t>(i) * 5 + k]] = i;
        writer[p.write_at[static_cast<std::size_t>(i) * 5 + k]] = i;
      }
    }
    EXPECT_EQ(war > 0, kind == 1);
    EXPECT_EQ(raw > 0, kind == 3);
    if (kind == 0) {
      EXPECT_EQ(waw, 0);
    }
    if (kind == 2) {
      EXPECT_NEAR(waw, 1000, 150);
    }
    if (kind == 3) {
      EXPECT_NEAR(raw, 1000, 150);
    }
  }
}
TEST(shuffle, is_a_permutation) {
  const prepared_loop l(shuffle_problem({.iterations = 1000}));
  std::vector<std::int32_t> numbers(1000);
  std::memcpy(numbers.data(), l.reference().arrays[0].data(), 4000);
  EXPECT_EQ(std::set<std::int32_t>(numbers.begin(), numbers.end()).size(), 1000u);
  int same = 0;
  for (int k = 0; k < 1000; ++k) same += numbers[static_cast<unsigned>(k)] == k;
  EXPECT_LT(same, 10);
}
TEST(colouring, gives_neighbours_different_colours) {
  for (const std::string& name : {std::string("rmat"), std::string("grid"), chess_board})
    for (const bool random_order : {false, true}) {
      const prepared_loop l(colouring_problem({.iterations = 3000, .graph = name, .random_order = random_order}));
      const graph& g = std::get<colouring_problem>(l.problem()).graph;
      std::vector<std::uint32_t> colours(g.vertices());
      std::memcpy(colours.data(), l.reference().arrays[0].data(), colours.size() * 4);
      std::uint32_t most = 0;
      for (std::uint32_t v = 0; v < g.vertices(); ++v) {
        most = std::max(most, colours[v]);
        for (std::uint64_t e = g.first[v]; e < g.first[v + 1]; ++e) ASSERT_NE(colours[v], colours[g.earlier[e]]);
      }
      EXPECT_GT(g.earlier.size(), g.vertices());
      EXPECT_GE(most, name == chess_board ? 7u : 3u);  // a row of a chess board takes eight
    }
}
/// How many neighbours the vertices of a graph have, in ascending order.
std::vector<std::uint32_t> degrees(const graph& g) {
  std::vector<std::uint32_t> all(g.vertices());
  for (std::uint32_t v = 0; v < g.vertices(); ++v)
    for (std::uint64_t e = g.first[v]; e < g.first[v + 1]; ++e) {
      ++all[v];
      ++all[g.earlier[e]];
    }
  std::sort(all.begin(), all.end());
  return all;
}
TEST(colouring, a_random_order_leaves_the_graph_what_it_is) {
  const colouring_problem natural({.iterations = 2500, .graph = "grid"});
  const colouring_problem random({.iterations = 2500, .graph = "grid", .random_order = true});
  const colouring_problem another({.iterations = 2500, .graph = "grid", .seed = 2, .random_order = true});
  EXPECT_EQ(degrees(random.graph), degrees(natural.graph));
  EXPECT_NE(random.graph.earlier, natural.graph.earlier);
  EXPECT_NE(random.graph.earlier, another.graph.earlier);
}
TEST(molecular_dynamics, has_the_partners_it_says) {
  for (const double partners : {0.02, 0.5, 2.0}) {
    const molecular_dynamics_problem p({.iterations = 30'000, .partners = partners});
    EXPECT_NEAR(static_cast<double>(p.partners.size()) / 30'000, partners, partners * 0.15);
  }
}

// ---- refusals

template <class Problem, class Options>
std::string refusal(const Options& o) {
  try {
    const Problem p(o);
    return "";
  } catch (const invalid_argument& e) {
    return e.what();
  }
}
TEST(refusals, numbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double p : {nan, -1.0, 100.5}) {
    synthetic_options o{.kind = dependence::raw, .percent = p};
    EXPECT_NE(refusal<synthetic_problem>(o).find("from 0 to 100"), std::string::npos);
    EXPECT_NE(refusal<cfd_problem>(cfd_options{.percent = p}), "");
    EXPECT_NE(refusal<black_scholes_problem>(black_scholes_options{.errors = p}), "");
    EXPECT_NE(refusal<molecular_dynamics_problem>(molecular_dynamics_options{.partners = p}), "");
  }
  for (const std::int64_t n : {std::int64_t{-1}, std::int64_t{1} << 31}) {
    EXPECT_NE(refusal<synthetic_problem>(synthetic_options{.iterations = n}), "");
    EXPECT_NE(refusal<shuffle_problem>(shuffle_options{.iterations = n}), "");
    EXPECT_NE(refusal<colouring_problem>(colouring_options{.iterations = n}), "");
  }
  EXPECT_NE(refusal<synthetic_problem>(synthetic_options{.writes = 0}).find("1 write"), std::string::npos);
  EXPECT_NE(refusal<synthetic_problem>(synthetic_options{.reads = 0, .kind = dependence::raw}).find("read nothing"),
            std::string::npos);
  EXPECT_NE(refusal<synthetic_problem>(synthetic_options{.iterations = 0x7fffffff}).find("4294967295"),
            std::string::npos);
  EXPECT_NE(refusal<cfd_problem>(cfd_options{.distance = 0}).find("at least 1"), std::string::npos);
}
TEST(refusals, files) {
  const std::string path = (std::filesystem::temp_directory_path() / "gputm_loops_test.mtx").string();
  const auto says = [&](const std::string& text) {
    std::ofstream(path) << text;
    return refusal<colouring_problem>(colouring_options{.graph = path});
  };
  const std::string head = "%%MatrixMarket matrix coordinate real general\n% a comment\n";
  EXPECT_EQ(says(head + "3 3 2\n1 2 0.5\n\n3 1 1e5\n"), "");
  EXPECT_EQ(says(head + "0 0 0\n"), "");
  EXPECT_NE(says("nonsense\n").find("line 1"), std::string::npos);
  EXPECT_NE(says("").find("ends too early"), std::string::npos);
  EXPECT_NE(says("%%MatrixMarket matrix array real general\n2 2\n").find("no sparse matrix"), std::string::npos);
  EXPECT_NE(says(head + "3 4 1\n1 2\n").find("square"), std::string::npos);
  EXPECT_NE(says(head + "3 3 1\n1 4 1\n").find("line 4: here are a row and a column from 1 to 3"), std::string::npos);
  EXPECT_NE(says(head + "3 3 1\n0 1 1\n").find("line 4"), std::string::npos);
  EXPECT_NE(says(head + "3 3 2\n1 2 1\n").find("ends too early"), std::string::npos);
  EXPECT_EQ(says(head + "3 3 1\n1 2 1\n\n  \n% the end\n"), "");
  EXPECT_NE(says(head + "3 3 1\n1 2 1\n2 x\n").find("line 5: there are more entries than the 1"), std::string::npos);
  EXPECT_NE(says(head + "3 x 2\n").find("rows, columns and entries"), std::string::npos);
  EXPECT_NE(says(head + "5000000000 5000000000 0\n").find("2^31"), std::string::npos);
  std::remove(path.c_str());
  EXPECT_NE(refusal<colouring_problem>(colouring_options{.graph = "/"}).find("'/' cannot be read"), std::string::npos);
  EXPECT_NE(refusal<colouring_problem>(colouring_options{.graph = "/nonexistent.mtx"}).find("/nonexistent.mtx"),
            std::string::npos);
}

}  // namespace
}  // namespace gputm::workloads_test
