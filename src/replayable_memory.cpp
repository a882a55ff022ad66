#include "gputm/host/replayable_memory.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "executor/sanitizers.hpp"

namespace gputm::host {
namespace {

constexpr std::size_t range_bytes = std::size_t{4} << 30;
constexpr std::size_t worth_giving_back = std::size_t{64} << 20;
constexpr std::size_t page = std::size_t{64} << 10;  // or a multiple of it

struct address_range {
  bool taken = false;          // for good where the operating system refuses it
  std::byte* begin = nullptr;  // stays mapped: the next exploration has its pages already
};
std::mutex ranges_mutex;
std::array<address_range, 16> ranges;

std::byte* map([[maybe_unused]] std::size_t which) {
#if defined(GPUTM_ASAN) || defined(__SANITIZE_THREAD__) || defined(GPUTM_TSAN)
  return nullptr;
#else
  // Between heaps, which begin low or behind the program, and libraries and stacks, which lie high.
  constexpr std::uintptr_t first_address = std::uintptr_t{0x2000} << 32;
  void* const wanted = reinterpret_cast<void*>(first_address + which * range_bytes);
  void* const p = mmap(wanted, range_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (p == wanted) return static_cast<std::byte*>(p);
  if (p != MAP_FAILED) munmap(p, range_bytes);  // kernels before 4.17 take the address for a wish
  return nullptr;
#endif
}

std::byte* take_range() {
  const std::lock_guard lock(ranges_mutex);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    address_range& r = ranges[i];
    if (r.taken) continue;
    r.taken = true;
    if (!r.begin) r.begin = map(i);
    if (r.begin) return r.begin;
  }
  return nullptr;
}

}  // namespace

replayable_memory::replayable_memory() : begin_(take_range()) {}

replayable_memory::~replayable_memory() {
  if (!begin_) return;
  const std::lock_guard lock(ranges_mutex);
  std::find_if(ranges.begin(), ranges.end(), [&](const address_range& r) { return r.begin == begin_; })->taken = false;
}

bool replayable_memory::holds(const void* p) const {
  return begin_ && reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(begin_) < range_bytes;
}

std::size_t replayable_memory::size(void* p) {
  if (!holds(p)) return malloc_usable_size(p);
  const auto from = static_cast<std::size_t>(static_cast<std::byte*>(p) - begin_);
  const std::lock_guard lock(mutex_);
  return live_.at(from) - from;
}

void* replayable_memory::allocate(std::size_t bytes) {
  if (bytes > SIZE_MAX - 255) return nullptr;
  const std::size_t whole = bytes == 0 ? 256 : (bytes + 255) / 256 * 256;
  const std::lock_guard lock(mutex_);
  if (!begin_ || whole > range_bytes - used_) return std::aligned_alloc(256, whole);
  void* const p = begin_ + used_;
  live_.emplace(used_, used_ + whole);
  used_ += whole;
  return p;
}

void replayable_memory::free(void* p) noexcept {
  if (!holds(p)) return std::free(p);
  const std::lock_guard lock(mutex_);
  live_.erase(static_cast<std::size_t>(static_cast<std::byte*>(p) - begin_));
  const std::size_t before = used_;
  used_ = live_.empty() ? 0 : live_.rbegin()->second;
  const std::size_t pages = (used_ + page - 1) / page * page;
  if (before > pages + worth_giving_back) madvise(begin_ + pages, before - pages, MADV_DONTNEED);
}

}  // namespace gputm::host
