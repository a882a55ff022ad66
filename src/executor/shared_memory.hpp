// The shared memory of one block: named objects, and the part whose size the launch gave.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace gputm::host {

class shared_memory {
 public:
  static constexpr std::size_t named_limit = 48 * 1024;   ///< what a GPU gives to __shared__ objects
  static constexpr std::size_t total_limit = 227 * 1024;  ///< the most a block can have on sm_90

  /// A new block starts: everything is uninitialised again.
  void reset(std::size_t dynamic_bytes);

  /// The object of that key, filled with 0xCD when it is new; null if it does not fit.
  void* named(std::size_t bytes, std::size_t alignment, const void* key);
  void* dynamic();

  std::size_t named_bytes() const { return used_; }
  std::size_t dynamic_bytes() const { return dynamic_bytes_; }
  /// Start and size of the memory behind it; null while nothing has been used.
  const void* named_begin() const { return named_.get(); }
  const void* dynamic_begin() const { return dynamic_.get(); }

 private:
  static constexpr std::align_val_t base_alignment{1024};
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, base_alignment); }
  };
  using buffer = std::unique_ptr<std::byte, release>;
  struct entry {
    const void* key;
    std::size_t offset;
  };
  static buffer make(std::size_t bytes);

  buffer named_, dynamic_;
  std::vector<entry> entries_;
  std::size_t used_ = 0, dynamic_bytes_ = 0, dynamic_capacity_ = 0;
  bool dynamic_poisoned_ = false;
};

}  // namespace gputm::host
