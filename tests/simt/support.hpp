// What the tests of the substrate share: the modes, and a way to count outcomes over schedules.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "gputm/host/executor.hpp"
#include "gputm/simt/simt.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define GPUTM_ADDRESS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPUTM_ADDRESS_SANITIZED 1
#endif
#endif

namespace gputm::simt_test {

using namespace gputm::simt;
using gputm::host::config;
using gputm::host::executor;
using gputm::host::report;
using gputm::host::scheduler;
using gputm::host::verdict;

/// A config with a name, to run a test under.
struct mode {
  std::string name;
  config settings;
  friend std::ostream& operator<<(std::ostream& out, const mode& m) { return out << m.name; }
};

inline config exploring(scheduler s, bool weak = false, std::uint64_t seed = 1) {
  config c;
  c.schedule = s;
  c.weak_memory = weak;
  c.seed = seed;
  c.livelock_steps = 100'000;
  return c;
}

/// Fast with one and two OS threads, and every scheduler with and without weak memory.
inline std::vector<mode> every_mode() {
  std::vector<mode> modes;
  for (unsigned os_threads : {1u, 2u}) {
    config c;
    c.os_threads = os_threads;
    c.livelock_seconds = 20;
    modes.push_back({"fast" + std::to_string(os_threads), c});
  }
  for (const bool weak : {false, true}) {
    const std::string suffix = weak ? "_weak" : "";
    modes.push_back({"round_robin" + suffix, exploring(scheduler::round_robin, weak)});
    modes.push_back({"random" + suffix, exploring(scheduler::random, weak)});
    config lazy = exploring(scheduler::random, weak);
    lazy.switch_probability = 0.05;
    modes.push_back({"random_lazy" + suffix, lazy});
    modes.push_back({"pct" + suffix, exploring(scheduler::pct, weak)});
  }
  return modes;
}

/// A test that runs once in every mode.
class in_every_mode : public testing::TestWithParam<mode> {
 protected:
  report run(std::uint32_t blocks, std::uint32_t threads, const std::function<void()>& kernel) {
    return device.run(settings, blocks, threads, kernel);
  }
  bool explores() const { return settings.schedule != scheduler::fast; }

  executor device;
  config settings = GetParam().settings;
};

inline std::string mode_name(const testing::TestParamInfo<mode>& m) { return m.param.name; }

#define GPUTM_IN_EVERY_MODE(suite) INSTANTIATE_TEST_SUITE_P(modes, suite, testing::ValuesIn(every_mode()), mode_name)

/// "file.cpp:12" of a line of the including file, as reports name it.
inline std::string place(const char* file, unsigned line) {
  const std::string path = file;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

#define EXPECT_OK(r)                                                                                        \
  do {                                                                                                      \
    const gputm::host::report& outcome_ = (r);                                                              \
    EXPECT_EQ(outcome_.result, gputm::host::verdict::ok) << name(outcome_.result) << ": " << outcome_.what; \
  } while (false)

/// Whether a report has this verdict and its text names `part`.
inline testing::AssertionResult says(const report& r, verdict v, const std::string& part) {
  if (r.result == v && r.what.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "wanted " << name(v) << " that names '" << part << "', got " << name(r.result)
                                     << ": " << r.what;
}

/// The words and registers of a litmus test. The registers are each written by one thread, and not shared.
struct words {
  std::uint32_t x = 0, y = 0, z = 0;
  std::uint32_t r[6] = {};
};

/// Where the threads of a litmus test run: all in one block, or each in a block of its own.
enum class placed { together, apart };

/// Runs small concurrent programs under many seeds of the weak-memory model.
class litmus : public testing::Test {
 protected:
  using thread = std::function<void()>;

  /// How often `outcome` holds at the end of a run. Every run must end well.
  unsigned count(placed where, std::initializer_list<thread> threads, const std::function<bool()>& outcome,
                 unsigned seeds = 2000) {
    unsigned hits = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      m = {};
      const report r = once(where, threads, seed);
      EXPECT_OK(r);
      if (!r) return hits;
      hits += outcome();
    }
    return hits;
  }
  unsigned count(std::initializer_list<thread> threads, const std::function<bool()>& outcome, unsigned seeds = 2000) {
    return count(placed::apart, threads, outcome, seeds);
  }

  /// The first report that is not ok, or the last one.
  report first_failure(placed where, std::initializer_list<thread> threads, unsigned seeds = 200) {
    report r;
    for (unsigned seed = 1; seed <= seeds && r; ++seed) {
      m = {};
      r = once(where, threads, seed);
    }
    return r;
  }

  words m;

 private:
  report once(placed where, const std::vector<thread>& threads, std::uint64_t seed) {
    const auto n = static_cast<std::uint32_t>(threads.size());
    const bool apart = where == placed::apart;
    return device_.run(exploring(scheduler::random, true, seed), apart ? n : 1, apart ? 1 : n,
                       [&] { threads[grid_thread_rank()](); });
  }
  executor device_;
};

}  // namespace gputm::simt_test
