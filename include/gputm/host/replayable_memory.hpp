// Memory for explorations. Algorithms hash addresses, so a seed replays its schedule only where these are the same
// again.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace gputm::host {

/// Memory whose addresses follow from the order of calls alone, and from how many others exist: they are the same in
/// every process, whatever the heap has been used for before. Where that cannot be had, it is memory of the heap: while
/// 16 others exist, beyond 4 GiB, with a sanitizer (which watches the heap), and where the operating system refuses
/// that range of addresses.
class replayable_memory {
 public:
  replayable_memory();
  /// All of its memory has been given back.
  ~replayable_memory();
  replayable_memory(const replayable_memory&) = delete;
  replayable_memory& operator=(const replayable_memory&) = delete;

  /// Aligned to 256 bytes, contents unspecified; null if there is none left.
  void* allocate(std::size_t bytes);
  void free(void*) noexcept;
  /// Whether `p` is at such an address.
  bool holds(const void* p) const;
  /// Bytes of what allocate() has returned: as many as were asked for, or some more.
  std::size_t size(void* p);

 private:
  std::mutex mutex_;
  std::byte* const begin_;  ///< of its range; null: none
  std::size_t used_ = 0;    ///< of the range: up to the end of the last piece that has not been given back
  std::map<std::size_t, std::size_t> live_;  ///< where pieces begin and end in the range
};

}  // namespace gputm::host
