// Stacks of simulated threads, each above a guard page, kept for reuse.
#pragma once

#include <cstddef>
#include <vector>

namespace gputm::host {

class stack_pool {
 public:
  stack_pool() = default;
  ~stack_pool() { clear(); }
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  /// From now on stacks have at least this size; no stack is out.
  void set_size(std::size_t bytes);
  std::size_t stack_bytes() const { return bytes_; }

  /// The lowest usable byte of a stack. Throws std::bad_alloc.
  void* take();
  void give(void* stack) { free_.push_back(stack); }

 private:
  void clear();

  std::size_t bytes_ = 0;
  std::vector<void*> free_;  // last in, first out: the top one is warm
};

}  // namespace gputm::host
