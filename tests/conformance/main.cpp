// Registers and runs the properties. Environment:
//   GPUTM_SCHEDULES  scales how many schedules, and steps in them, are explored (default 1)
//   GPUTM_SEED       of the portfolio (default 1)
//   GPUTM_REPLAY     explores this index only, as a failure printed it
#include <gtest/gtest.h>

#include <cstdlib>

#include "explorer.hpp"
#include "gpu.hpp"
#include "suite.hpp"

namespace gputm::conformance {
namespace {

double number_in(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtod(text, nullptr) : otherwise;
}

/// A few seconds: where there are servers a schedule takes ten times as many as elsewhere.
/// Mutants of servers show up within 0.7 million.
constexpr double most_steps = 2e6;

class on_fast_host : public testing::Test {
  property p_;

 public:
  explicit on_fast_host(const property& p) : p_(p) {}
  void TestBody() override {
    static device devices[] = {make(32, 2), make(1, 2), make(32, 1)};
    for (std::uint64_t round = 0; round < std::size(devices); ++round) {
      try {
        p_.check({devices[round], mode::fast, static_cast<std::uint64_t>(number_in("GPUTM_SEED", 1)) + round, round});
      } catch (const std::exception& e) {
        FAIL() << p_.name << ": " << e.what() << "\n  on " << devices[round]->name() << ", warp width "
               << devices[round]->warp_width();
      }
    }
  }

 private:
  static device make(unsigned warp_width, unsigned os_threads) {
    host::config c;
    c.warp_width = warp_width;
    c.os_threads = os_threads;
    return host_device(c);
  }
};

class explored : public testing::Test {
  property p_;
  bool weak_;

 public:
  explored(const property& p, bool weak) : p_(p), weak_(weak) {}
  void TestBody() override {
    const auto seed = static_cast<std::uint64_t>(number_in("GPUTM_SEED", 1));
    const double scale = number_in("GPUTM_SCHEDULES", 1);
    auto count = static_cast<std::uint64_t>(p_.schedules * scale) + 1;
    std::uint64_t first = 0;
    if (const double only = number_in("GPUTM_REPLAY", -1); only >= 0) {
      first = static_cast<std::uint64_t>(only);
      count = 1;
    }
    const search_result found =
        explorer(weak_).search(p_.check, seed, first, count, static_cast<std::uint64_t>(most_steps * scale) + 1);
    if (found.failed)
      FAIL() << p_.name << ": " << found.what << "\n  to replay: GPUTM_SEED=" << seed << " GPUTM_REPLAY=" << found.index
             << " with --gtest_filter=" << testing::UnitTest::GetInstance()->current_test_info()->test_suite_name()
             << "." << p_.name;
  }
};

class on_gpu : public testing::Test {
  property p_;

 public:
  explicit on_gpu(const property& p) : p_(p) {}
  void TestBody() override {
    static std::string why_not;
    static const std::optional<device> gpu = find_gpu(why_not);
    if (!gpu) GTEST_SKIP() << "no GPU to run on: " << why_not;
    const auto rounds = static_cast<std::uint64_t>(2 * number_in("GPUTM_SCHEDULES", 1)) + 1;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      try {
        p_.check({*gpu, mode::gpu, static_cast<std::uint64_t>(number_in("GPUTM_SEED", 1)) + round, round});
      } catch (const std::exception& e) {
        FAIL() << p_.name << ", round " << round << ": " << e.what();
      }
    }
  }
};

template <class Make>
void add(const std::string& suite, const property& p, Make make) {
  testing::RegisterTest(suite.c_str(), p.name, nullptr, nullptr, __FILE__, __LINE__,
                        [=]() -> testing::Test* { return make(); });
}

}  // namespace

bool join(const char* algorithm, std::vector<property> properties) {
  const std::string name = algorithm;
  for (const property& p : properties) add(name + "/fast", p, [p] { return new on_fast_host(p); });
  for (const property& p : properties) add(name + "/explore", p, [p] { return new explored(p, false); });
  for (const property& p : properties) add(name + "/weak", p, [p] { return new explored(p, true); });
  if (built_for_gpus())
    for (const property& p : properties) add(name + "/gpu", p, [p] { return new on_gpu(p); });
  return true;
}

}  // namespace gputm::conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
