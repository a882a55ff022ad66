// Where a property runs: a device, a way of scheduling, and the sizes that suit it. A property is a function
// over an algorithm and a venue that throws `violated` when what it states does not hold; nothing here knows
// of a test framework, so that the mutants can be held against the same properties.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "gputm/device.hpp"
#include "gputm/memory.hpp"
#include "gputm/workspace.hpp"

namespace gputm::conformance {

enum class mode : std::uint8_t {
  fast,     ///< host device, blocks spread over OS threads
  explore,  ///< host device, one schedule of a portfolio
  weak,     ///< the same, under weak memory
  gpu
};

/// A property does not hold.
class violated : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void require(bool ok, const char* what) {
  if (!ok) throw violated(what);
}
template <class A, class B>
void require_equal(const A& found, const B& expected, const char* what) {
  if (!(found == static_cast<A>(expected)))
    throw violated(std::string(what) + ": " + std::to_string(found) + ", expected " + std::to_string(expected));
}
inline void require_mentions(const std::string& message, const std::string& part) {
  if (message.find(part) == std::string::npos)
    throw violated("the message does not mention '" + part + "': " + message);
}
/// Expects `act` to throw an Error whose message has all `parts`.
template <class Error, class Act>
void require_throws(Act act, const std::vector<std::string>& parts) {
  try {
    act();
  } catch (const Error& e) {
    for (const std::string& part : parts) require_mentions(e.what(), part);
    return;
  } catch (const std::exception& e) {
    throw violated(std::string("an exception of another type: ") + e.what());
  }
  throw violated("nothing was thrown");
}

/// Random numbers that depend on the venue alone.
class dice {
  std::uint64_t state_;

 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }
};

struct venue {
  device on;
  mode how;
  std::uint64_t seed = 1;  ///< of the inputs
  std::uint64_t round = 0;
  bool fair = true;                     ///< every thread runs again and again; not so under PCT
  std::size_t* shared_bytes = nullptr;  ///< exploring: of a block, at most; for this schedule a property may change it

  bool exploring() const { return how == mode::explore || how == mode::weak; }
  /// A size for this mode: to explore, fast, on a GPU. A list in braces, since arguments that throw dice would do so in
  /// an order that compilers choose, and a seed has to give all of them the same.
  template <class T>
  T pick(const T (&size)[3]) const {
    return size[exploring() ? 0 : how == mode::fast ? 1 : 2];
  }
  /// How much work for algorithm A: on the host device a server costs many times more than what it serves.
  template <class A>
  std::uint32_t amount(std::uint32_t explore, std::uint32_t fast, std::uint32_t gpu) const {
    return pick({explore, A::traits.needs_server ? (fast + 19) / 20 : fast, gpu});
  }
  /// A grid of a few threads when exploring, of several warps elsewhere; another one in every round. By turns servers
  /// are a cluster, where they can be.
  launch_config shape() const {
    launch_config c;
    c.clusters = (exploring() ? round / 8 : round) % 2 == 0;
    if (exploring()) {
      static constexpr std::uint32_t grids[][2] = {{1, 3}, {3, 1}, {2, 2}, {1, 2}, {2, 1}, {1, 4}};
      c.blocks = grids[round % 6][0];
      c.threads = grids[round % 6][1];
      // time is counted in steps; now and then the starvation gate closes early
      c.patience.updating = round / 6 % 3 == 0 ? 1 : round / 6 % 3 == 1 ? 4 : 1024;
      c.patience.read_only = round / 6 % 2 + 1;
      c.patience.gather_ns = round / 12 % 2 * 1000;
      c.patience.stuck_ns = 20'000'000;
    } else if (how == mode::fast) {
      c.blocks = 4;
      c.threads = 32;
    } else {  // few threads, some, and enough for every multiprocessor; more would only wait for each other
      static constexpr std::uint32_t grids[][2] = {{2, 64}, {16, 96}, {120, 128}};
      c.blocks = grids[round % 3][0];
      c.threads = grids[round % 3][1];
    }
    return c;
  }
  /// A grid of about `n` threads when exploring.
  launch_config threads(std::uint32_t n) const {
    launch_config c = shape();
    if (!exploring()) return c;
    c.blocks = round % 2 ? n : 1;
    c.threads = round % 2 ? 1 : n;
    return c;
  }
};

/// Counts what must never happen, from inside of bodies and kernels.
struct alarm {
  std::uint64_t* count = nullptr;
  GPUTM_INLINE void raise_if(bool bad) const {
    if (bad) simt::atomic(*count).fetch_add(1, simt::order::relaxed);
  }
};

/// Words of device memory that belong to no memory: flags, counters, pointers for kernels. All zero at first.
class scratch {
  const stream& s_;
  buffer words_;

 public:
  scratch(const stream& s, std::size_t n) : s_(s), words_(s.on(), n * 8) {
    s.on()->fill_zero(s.handle(), words_.as<void>(), words_.size());
    s.synchronize();
  }
  std::uint64_t* at(std::size_t i = 0) const { return words_.as<std::uint64_t>() + i; }
  gputm::conformance::alarm alarm() const { return {at()}; }
  std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> v(words_.size() / 8);
    s_.on()->copy_from_device(s_.handle(), v.data(), at(), words_.size());
    s_.synchronize();
    return v;
  }
  std::uint64_t value(std::size_t i = 0) const { return values()[i]; }
};

/// What most properties start with.
template <class A>
struct scene {
  stream s;
  memory<A> tm;
  explicit scene(const venue& v, memory_options o = {}) : s(v.on), tm(v.on, small(v, o)) {}

  template <class T>
  T total(array<T> a) const {
    T sum{};
    for (const T& x : tm.read(s, a)) sum += x;
    return sum;
  }

 private:
  /// When exploring, by turns records and rings of versions so short that what is in them is soon overwritten, and one
  /// to three servers.
  static memory_options small(const venue& v, memory_options o) {
    static constexpr std::uint32_t entries[] = {1024, 2, 3, 2, 8}, versions[] = {10, 10, 2, 3},
                                   servers[] = {2, 3, 2, 1};
    if (v.exploring()) {
      o.record_entries = std::min(o.record_entries, entries[v.round / 2 % 5]);
      o.versions = std::min(o.versions, versions[v.round / 3 % 4]);
      o.servers = servers[v.round / 4 % 4];
    }
    return o;
  }
};

/// words_per_lock by turns.
inline memory_options locking(const venue& v) {
  static constexpr std::uint32_t widths[] = {1, 2, 64, 1};
  return {.words_per_lock = widths[v.round / 2 % 4]};
}

}  // namespace gputm::conformance
