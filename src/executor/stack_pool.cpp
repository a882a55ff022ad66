#include "stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "sanitizers.hpp"

namespace gputm::host {

namespace {
std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* map(void* where, std::size_t bytes, int flags) {
  void* mapping = mmap(where, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | flags, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  return mapping;
}
}  // namespace

void stack_pool::set_size(std::size_t bytes) {
  const std::size_t rounded = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  if (rounded == bytes_) return;
  clear();
  bytes_ = rounded;
}

void* stack_pool::take() {
  if (!free_.empty()) {
    void* stack = free_.back();
    free_.pop_back();
    sanitizer::stack_reused(stack, bytes_);
    if (sanitizer::sees_reuse) map(stack, bytes_, MAP_FIXED);
    return stack;
  }
  free_.reserve(free_.capacity() + 1);  // so that give() cannot fail
  const std::size_t guard = page_bytes();
  void* mapping = map(nullptr, bytes_ + guard, 0);
  if (mprotect(mapping, guard, PROT_NONE) != 0) {
    munmap(mapping, bytes_ + guard);
    throw std::bad_alloc();
  }
  return static_cast<std::byte*>(mapping) + guard;
}

void stack_pool::clear() {
  const std::size_t guard = page_bytes();
  for (void* stack : free_) {
    sanitizer::stack_reused(stack, bytes_);
    munmap(static_cast<std::byte*>(stack) - guard, bytes_ + guard);
  }
  free_.clear();
}

}  // namespace gputm::host
