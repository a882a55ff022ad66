// The weak-memory model of explore mode: a view-based operational model of C++ atomics with PTX scopes.
//
// Every location keeps the stores it has seen, in the order in which they were executed (that is its
// modification order). Every thread keeps what it knows: per location the oldest store it may still read,
// and per thread how much of that thread happens before its own next step. A release attaches what its
// thread knows to the store; an acquire that reads the store learns it. So a load may return any store that
// is not older than what its thread knows, and an access races with another one that neither is ordered
// before it by happens-before nor is atomic at a scope that holds both threads.
//
// Limits: a load finds the last 128 stores, or up to 255. Not modelled: load buffering (a load that reads a store of
// its own future), modification orders other than the order of execution, accesses of different sizes to the same bytes
// (reported).
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "fiber.hpp"
#include "granule_table.hpp"

namespace gputm::host {

class worker;

/// What a thread knows, or a release publishes.
struct knowledge {
  std::vector<std::uint32_t> seen;   ///< by location: index of the oldest store that may still be read
  std::vector<std::uint32_t> clock;  ///< by thread: accesses that happen before
  void join(const knowledge& other);
  void clear();
};

/// What a release publishes. Every publication is a tick of its thread's clock, so whoever knows of those ticks
/// knows all that was published.
struct announcement {
  struct tick {
    std::uint32_t thread, clock;
  };
  knowledge what;
  std::vector<tick> ticks;  ///< the last of each thread whose release sequence goes on in it
  bool known_to(const knowledge&) const;
};
using publication = std::shared_ptr<const announcement>;

/// An access as the hooks give it.
struct request {
  const void* address;
  unsigned size;
  simt::order order;
  simt::scope scope;
  bool plain;
  op kind;
  site at;
};

/// What a read-modify-write does with the value.
struct modification {
  simt::host::rmw_kind kind;
  bool is_signed;
  std::uint64_t operand;
  std::uint64_t expected;
  simt::order failure;
};

class weak_memory {
 public:
  explicit weak_memory(worker& owner) : owner_(owner) {}

  void reset(std::uint32_t threads, std::uint32_t blocks);
  /// These addresses mean something else from now on.
  void forget(const shared_memory&);
  /// Its block has ended: nobody may access it any more.
  void end(const shared_memory&);

  std::uint64_t load(const request&);
  void store(const request&, std::uint64_t value);
  std::uint64_t modify(const request&, const modification&);
  void fence(simt::order, simt::scope);
  /// A barrier of these threads: each learns what the others know.
  void join(const std::vector<fiber*>&);

 private:
  /// Who may use a publication: threads of the block of the store that has it, at any scope; and threads of any block,
  /// at device scope. They differ where a release is of block scope, and where a read-modify-write continues another
  /// block's release sequence.
  enum side : std::uint8_t { near, far };
  template <class T>
  using by_side = std::array<T, 2>;

  struct thread {
    knowledge now;
    by_side<knowledge> acquirable;  ///< what relaxed loads have met, for an acquire fence to come
    by_side<publication> fenced;    ///< what a release fence has published, for relaxed stores to come
    void reset();
  };
  struct stored {
    std::uint64_t value = 0;
    std::uint32_t block = 0;
    by_side<publication> published;
  };
  /// The last access of its kind by a thread.
  struct access {
    std::uint32_t thread, block, clock;
    bool writes, plain;
    simt::scope scope;
    op kind;
    site at;
  };
  struct location {
    const void* address = nullptr;
    unsigned size = 0;
    site first;  ///< who created it, for reports
    op first_kind{};
    bool ended = false;         ///< with its block, whose shared memory it was
    std::uint32_t dropped = 0;  ///< stores that were forgotten, before the older ones
    // Most locations have one store that counts and are accessed by one thread: nothing of them lies elsewhere.
    stored newest;
    std::vector<stored> older;
    boost::container::small_vector<access, 1> accesses;

    std::uint32_t index_of_newest() const { return dropped + static_cast<std::uint32_t>(older.size()); }
    const stored& at(std::uint32_t index) const { return index == index_of_newest() ? newest : older[index - dropped]; }
  };

  /// Stores that a load may still find: far more than chance goes back, and few enough for long runs.
  static constexpr std::uint32_t window = 128;

  thread& self();
  location& locate(const request&);
  location& create(const request&);
  std::uint32_t index_of(const location& l) const { return static_cast<std::uint32_t>(&l - locations_.data()); }
  /// Calls act with each location in these bytes.
  template <class Act>
  void each_within(const void* begin, std::size_t bytes, Act act);
  void forget(const void* begin, std::size_t bytes);
  bool is_private(const void*) const;

  std::uint64_t load_one(const request&);
  void store_one(const request&, std::uint64_t value);
  std::uint32_t choose(location&, std::uint32_t oldest, const std::uint64_t* unwanted);
  void read(location&, std::uint32_t index, const request&, simt::order);
  void append(location&, const request&, std::uint64_t value, const stored* continued);
  publication announce();
  by_side<publication> publish(const request&, const stored* continued);

  void order_after_fences(simt::scope);
  void check(location&, const request&, bool writes);
  [[noreturn]] void fail_race(const access& before, const request&, bool too_narrow);
  [[noreturn]] void fail_mixed(const location&, const request&);
  [[noreturn]] void fail_misaligned(const request&);
  [[noreturn]] void fail_ended(const request&);
  [[noreturn]] void fail_changed(const location&, const request&);

  worker& owner_;
  std::vector<thread> threads_;  // by rank in the grid
  granule_table granules_;
  std::vector<location> locations_;  // the first used_ of them; the others keep their buffers
  std::uint32_t used_ = 0;
  struct bytes_of_block {
    std::uintptr_t begin;
    std::size_t bytes;
  };
  std::vector<bytes_of_block> ended_;  // shared memory of blocks that have ended, for what nobody has accessed before
  std::vector<std::uint32_t> device_fences_;              // seen by the seq_cst fences of device scope so far
  std::vector<std::vector<std::uint32_t>> block_fences_;  // and by those in each block, of any scope
};

}  // namespace gputm::host
