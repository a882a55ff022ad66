// What a worker keeps of simulated threads, warps and blocks.
#pragma once

#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "gputm/simt/host_hooks.hpp"
#include "gputm/simt/types.hpp"
#include "sanitizers.hpp"
#include "shared_memory.hpp"

namespace gputm::host {

using simt::mask_t;
using simt::site;
using simt::host::collective_kind;
using simt::host::op;

struct block;
struct warp;

/// One simulated thread.
struct fiber {
  simt::host::thread_state state;
  boost::context::detail::fcontext_t context = nullptr;
  void* stack = nullptr;  ///< null until the thread first runs and after it has returned
  fiber* next = nullptr;  ///< ring of the threads that can run
  fiber* prev = nullptr;
  block* home = nullptr;
  warp* team = nullptr;
  std::uint64_t result = 0;    ///< of the collective or barrier it waited for
  std::int64_t priority = 0;   ///< PCT
  std::uint32_t position = 0;  ///< in the array of threads that can run
  std::uint32_t rank = 0;      ///< in the grid
  bool ready = false;          ///< in the ring
  bool done = false;
  bool spinning = false;  ///< its last operation was a backoff
  op last = op::none;     ///< for reports: its last operation, and where
  site where;
  [[no_unique_address]] sanitizer::stack_record asan;
  [[no_unique_address]] sanitizer::thread_record tsan;
};

/// Lanes that have met, or are about to meet, at one operation with one mask at one place.
struct rendezvous {
  bool used = false;
  collective_kind kind{};
  mask_t mask = 0, arrived = 0;
  site where;
  std::array<std::uint64_t, 32> value;
  std::array<std::uint32_t, 32> argument;
};

struct warp {
  mask_t alive = 0;
  fiber* lanes = nullptr;           ///< lane i is lanes[i]
  std::vector<rendezvous> pending;  ///< several at once: lanes of disjoint masks, or fast lanes ahead of others
};

struct block {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t alive = 0;    ///< threads that have not returned
  std::uint32_t ready = 0;    ///< of these, how many can run
  std::uint32_t counted = 0;  ///< nonzero predicates at the barrier
  std::uint32_t capacity = 0;
  std::uint32_t slot = 0;  ///< index among the resident blocks
  std::unique_ptr<fiber[]> threads;
  std::vector<warp> warps;
  std::vector<fiber*> waiting;  ///< at the barrier
  shared_memory memory;
};

}  // namespace gputm::host
