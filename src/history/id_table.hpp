// Dense numbers for keys: an open-addressing table of numbers, whose keys lie in the caller's arrays. A node-based map
// takes longer than everything else the checker does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputm::history::detail {

using id = std::uint32_t;
inline constexpr id none = ~id{0};

/// Mixes two words so that every bit of the result depends on every bit of both (the finaliser of SplitMix64).
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a + 0x9e3779b97f4a7c15u * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class id_table {
 public:
  /// The number that `equal(number)` accepts among those inserted with this hash, or none.
  template <class Equal>
  id find(std::uint64_t hash, Equal equal) const {
    if (slots_.empty()) return none;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      if (slots_[at].number == none) return none;
      if (slots_[at].hash == hash && equal(slots_[at].number)) return slots_[at].number;
    }
  }

  void insert(std::uint64_t hash, id number) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    place({hash, number});
    ++used_;
  }

 private:
  struct slot {
    std::uint64_t hash = 0;
    id number = none;
  };

  std::size_t mask() const { return slots_.size() - 1; }

  void place(slot s) {
    std::size_t at = s.hash & mask();
    while (slots_[at].number != none) at = (at + 1) & mask();
    slots_[at] = s;
  }

  void grow() {
    std::vector<slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const slot& s : old)
      if (s.number != none) place(s);
  }

  std::vector<slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace gputm::history::detail
