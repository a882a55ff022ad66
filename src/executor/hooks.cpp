// The out-of-line hooks of gputm/simt/host_hooks.hpp.
#include <sched.h>

#include <chrono>
#include <stdexcept>

#include "worker.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gputm::simt::host {

namespace {

using gputm::host::this_worker;
using gputm::host::worker;
namespace sanitizer = gputm::host::sanitizer;

/// The calling thread is inside the executor.
class inside {
 public:
  inside() : f_(this_worker().self()) { sanitizer::quiet_begin(f_.tsan); }
  ~inside() { sanitizer::quiet_end(f_.tsan); }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  worker* operator->() const { return &this_worker(); }

 private:
  gputm::host::fiber& f_;
};

void require_kernel(const char* what, const site* at = nullptr) {
  if (current) return;
  throw std::logic_error(std::string("gputm: ") + what + " outside of a kernel" +
                         (at ? " at " + gputm::host::text(*at) : ""));
}

constexpr std::uint64_t ns_per_step = 10;

}  // namespace

void point(op o, site at) { inside()->point(o, at); }

void backoff(site at) {
  if (!current) {
    sched_yield();
    return;
  }
  inside()->backoff(at);
}

void progress() {
  if (current) this_worker().progress();
}

std::uint64_t collective(collective_kind kind, mask_t mask, std::uint64_t value, std::uint32_t argument, site at) {
  require_kernel("a warp collective", &at);
  return inside()->collective(kind, mask, value, argument, at);
}

mask_t together(site at) {
  require_kernel("a warp collective", &at);
  return inside()->together(at);
}

std::uint32_t block_sync(std::uint32_t predicate, site at) {
  require_kernel("a block barrier", &at);
  return inside()->block_sync(predicate, at);
}

void* shared(std::size_t bytes, std::size_t alignment, const void* key, site at) {
  require_kernel("shared memory", &at);
  return inside()->shared(bytes, alignment, key, at);
}

void* dynamic_shared() {
  require_kernel("dynamic shared memory");
  return inside()->dynamic_shared();
}

void* dynamic_shared_of(std::uint32_t rank, site at) {
  require_kernel("dynamic shared memory of another block", &at);
  return inside()->dynamic_shared_of(rank, at);
}

std::uint64_t nanoseconds() {
  if (controlled) return this_worker().time_step() * ns_per_step;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

std::uint64_t cycles() {
  if (controlled) return this_worker().time_step();
#if defined(__x86_64__)
  return __rdtsc();
#else
  return nanoseconds();
#endif
}

void fail(const char* what, site at) {
  if (!current) throw std::logic_error(std::string("gputm: check failed: ") + what + " at " + gputm::host::text(at));
  inside in;
  in->check_failed(what, at);
}

std::uint64_t weak_load(const void* p, unsigned size, order o, scope s, bool plain, site at) {
  return inside()->memory_model().load({p, size, o, s, plain, plain ? op::plain_load : op::load, at});
}

void weak_store(void* p, unsigned size, std::uint64_t value, order o, scope s, bool plain, site at) {
  inside()->memory_model().store({p, size, o, s, plain, plain ? op::plain_store : op::store, at}, value);
}

std::uint64_t weak_rmw(void* p, unsigned size, bool is_signed, rmw_kind kind, std::uint64_t operand,
                       std::uint64_t expected, order success, order failure, scope s, site at) {
  const bool cas = kind == rmw_kind::cas;
  return inside()->memory_model().modify({p, size, success, s, false, cas ? op::cas : op::rmw, at},
                                         {kind, is_signed, operand, expected, failure});
}

void weak_fence(order o, scope s, site) { inside()->memory_model().fence(o, s); }

}  // namespace gputm::simt::host
