// Floor 2: the memory of the table in which a speculative loop marks elements.
#pragma once

#include <cstdint>

#include "gputm/parts/element_key.hpp"
#include "gputm/parts/element_ranges.hpp"

namespace gputm::parts {

/// What a loop leaves to the next one of its workspace.
struct loop_past {
  std::uint32_t tag;   ///< the last one used
  std::uint32_t calm;  ///< 0, or, if its last window had no violations, `known` and the element_ranges of which reads
                       ///< must be logged
  std::uint32_t no_overlap;  ///< a window that overlapped commits has failed
  std::uint32_t offset;      ///< of element_ranges
  std::uint32_t moves;       ///< of the offset
  std::uint32_t peeks;       ///< the next loop does (loop_window): reads of the last one that was checked were few, and
                             ///< of elements without marks
  // Of a range to which loops have stored, and which the last one has read; nobody has looked for one if `end` is 0.
  std::uint32_t begin;   ///< its first element's index
  std::uint32_t lowest;  ///< of the elements of it that loops have stored to: all bits, less the lowest one's index
  std::uint32_t end;     ///< of those: the highest one's index and 1

  std::uint32_t listed;   ///< logs are as in_place_learning has left them: no window has used them since
  std::uint32_t in_vain;  ///< loops that have peeked, and were checked all the same, without violations

  static constexpr std::uint32_t known = 1u << 31;
  static constexpr std::uint32_t most_moves = 2, most_in_vain = 3;
};
static_assert((element_ranges::all & loop_past::known) == 0);

/// Trivially copyable; lives in the kernel's parameters. All zero before the first loop that uses it.
struct table_space {
  void* base = nullptr;
  std::uint64_t* heads = nullptr;      ///< of the lists of writers, one for each entry
  std::uint32_t* contested = nullptr;  ///< of each position: see writer_table::is_contested()
  loop_past* past = nullptr;
  std::uint32_t slots = 0;  ///< hashed entries, a power of two; 0: an entry for every element, not hashed
  std::uint64_t first[max_regions + 1] =
      {};  ///< not hashed: the entry of a region's element 0; then how many there are

  /// Not hashed: of the element's entry.
  GPUTM_INLINE std::uint64_t number(std::uint32_t region, std::uint32_t index) const { return first[region] + index; }
  GPUTM_INLINE std::uint64_t number(std::uint64_t key) const { return number(region_of(key), index_of(key)); }
};

}  // namespace gputm::parts
