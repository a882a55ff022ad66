// Which locations of weak memory lie in eight aligned bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputm::host {

/// For each of eight aligned bytes, the index of its location plus one; 0: none yet.
using granule = std::array<std::uint32_t, 8>;

/// Granules by their number, which is their address divided by eight. Open addressing, and neighbours side by side: a
/// map's node for each costs an allocation, and one more cache miss an access.
class granule_table {
  struct entry {
    std::uintptr_t number = 0;
    std::uint32_t run = 0;  ///< in which it was made; one of an earlier run is free
    granule locations{};
  };
  static constexpr std::size_t neighbours = 8;

  std::vector<entry> entries_ = std::vector<entry>(1024);  // a power of two
  std::size_t taken_ = 0;
  std::uint32_t run_ = 1;

  std::size_t mask() const { return entries_.size() - 1; }
  std::size_t place_of(std::uintptr_t number) const {
    const std::uint64_t mixed = (number / neighbours) * 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio
    return ((mixed >> 32) * neighbours + number % neighbours) & mask();
  }
  /// The entry of that number, or the free one that it is to take.
  entry& find(std::uintptr_t number) {
    std::size_t at = place_of(number);
    while (entries_[at].run == run_ && entries_[at].number != number) at = (at + 1) & mask();
    return entries_[at];
  }
  void grow() {
    std::vector<entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const entry& e : old)
      if (e.run == run_) find(e.number) = e;
  }

 public:
  /// Forgets all granules.
  void clear() {
    taken_ = 0;
    if (++run_ != 0) return;
    entries_.assign(entries_.size(), {});  // four billion runs later: numbers come again
    run_ = 1;
  }
  /// Stays valid until the next call.
  granule& operator[](std::uintptr_t number) {
    if (entry& e = find(number); e.run == run_) return e.locations;
    if (2 * ++taken_ > entries_.size()) grow();
    entry& e = find(number);
    e = {number, run_, {}};
    return e.locations;
  }
};

}  // namespace gputm::host
