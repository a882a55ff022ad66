#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>

#include "histories.hpp"
#include "random_histories.hpp"

namespace gputm::history::test {
namespace {

std::string text_of(const history& h) {
  std::ostringstream out;
  write(out, h);
  return out.str();
}

history parsed(const std::string& text) {
  std::istringstream in(text);
  return read(in);
}

TEST(Text, Form) {
  history h = of({committed(1, 4, {r(7, 0), w(7, 13)}), aborted(2, 3, {})});
  h.transactions[0].accesses.push_back({2, 1, ~std::uint64_t{0}, true});
  h.initial = {{{1, 0}, 6}, {{0, 7}, 5}};
  h.final = {{{0, 7}, 13}};
  EXPECT_EQ(text_of(h),
            "gputm-history 1\n"
            "initial 0:7=5\n"
            "initial 1:0=6\n"
            "committed 0 1 4 r0:7=0 w0:7=13 w2:1=18446744073709551615\n"
            "aborted 1 2 3\n"
            "final 0:7=13\n"
            "end\n");
}

TEST(Text, RoundTrip) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const history h = executed({.transactions = 30, .final_values = seed % 2 == 0}, random);
    const std::string text = text_of(h);
    const history again = parsed(text);
    EXPECT_EQ(again.transactions.size(), h.transactions.size());
    EXPECT_EQ(again.initial, h.initial);
    EXPECT_EQ(again.final, h.final);
    EXPECT_EQ(text_of(again), text);
  }
}

TEST(Text, CommentsBlankLinesAndCarriageReturns) {
  const history h = parsed("gputm-history 1\r\n\r\n# kept from a failing run\r\ncancelled\t5 1 2  r0:0=0 \r\nend\r\n");
  ASSERT_EQ(h.transactions.size(), 1u);
  EXPECT_EQ(h.transactions[0].how, transaction::ended::cancelled);
  EXPECT_EQ(h.transactions[0].thread, 5u);
  EXPECT_EQ(h.transactions[0].accesses.size(), 1u);
}

struct broken {
  const char* body;
  std::size_t line;
  const char* words;
};

TEST(Text, ErrorsNameTheLine) {
  const broken cases[] = {
      {"committed 0 1\nend\n", 2, "an end"},
      {"# fine\nfinished 0 1 2\nend\n", 3, "'finished' is none of"},
      {"committed 0 1 2 x0:0=1\nend\n", 2, "start with r or w"},
      {"committed 0 1 2 r0:0\nend\n", 2, "region:element=value"},
      {"committed 0 1 2 r0=0:1\nend\n", 2, "region:element=value"},
      {"committed 0 1 2 r:0=1\nend\n", 2, "not a region"},
      {"committed 0 1 2 r0:0=-1\nend\n", 2, "not a value"},
      {"committed 0 1 2 r0:0=18446744073709551616\nend\n", 2, "64 bits"},
      {"committed 4294967296 1 2\nend\n", 2, "not a thread"},
      {"initial 0:0=1\ninitial 0:0=2\nend\n", 3, "before"},
      {"final 0:0=1 0:1=2\nend\n", 2, "more on this line"},
      {"committed 0 1 2 r0:0=1\n", 2, "cut off"},
  };
  for (const broken& b : cases) {
    try {
      (void)parsed(std::string("gputm-history 1\n") + b.body);
      ADD_FAILURE() << "accepted: " << b.body;
    } catch (const format_error& e) {
      EXPECT_EQ(e.line, b.line) << b.body;
      EXPECT_NE(std::string(e.what()).find(b.words), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("line " + std::to_string(b.line)), std::string::npos) << e.what();
    }
  }
}

TEST(Text, ForeignFilesAreRefused) {
  EXPECT_THROW((void)parsed(""), format_error);
  EXPECT_THROW((void)parsed("gputm-history 2\nend\n"), format_error);
}

TEST(Text, AStreamThatFailsIsReported) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THROW(write(out, history{}), std::ios_base::failure);
}

}  // namespace
}  // namespace gputm::history::test
