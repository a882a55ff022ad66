// Floor 2: the word of a lock table: version, owner's priority, pre-locked, locked (pr-stm section 2.2).
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"

namespace gputm::parts {

/// Bit 0: locked. Bit 1: pre-locked. Then the owner's priority (a lower number is a higher priority),
/// then the version, which wraps.
template <class Word, unsigned VersionBits, unsigned OwnerBits>
struct lock_layout {
  static_assert(VersionBits + OwnerBits + 2 <= 8 * sizeof(Word));
  using word = Word;
  static constexpr unsigned version_bits = VersionBits;
  static constexpr unsigned owner_bits = OwnerBits;
  static constexpr std::uint64_t max_version = (std::uint64_t{1} << VersionBits) - 1;
  static constexpr word locked_bit = 1, prelocked_bit = 2;

  static GPUTM_INLINE constexpr word free(std::uint64_t version) {
    return static_cast<word>(version << (OwnerBits + 2));
  }
  static GPUTM_INLINE constexpr word prelocked(std::uint64_t version, std::uint32_t owner) {
    return static_cast<word>(free(version) | static_cast<word>(owner) << 2 | prelocked_bit);
  }
  static GPUTM_INLINE constexpr word locked(std::uint64_t version, std::uint32_t owner) {
    return static_cast<word>(free(version) | static_cast<word>(owner) << 2 | locked_bit);
  }
  static GPUTM_INLINE constexpr std::uint64_t version(word w) {
    return static_cast<std::uint64_t>(w) >> (OwnerBits + 2) & max_version;
  }
  static GPUTM_INLINE constexpr std::uint32_t owner(word w) {
    return static_cast<std::uint32_t>(w >> 2) & ((std::uint32_t{1} << OwnerBits) - 1);
  }
  static GPUTM_INLINE constexpr bool is_locked(word w) { return w & locked_bit; }
  static GPUTM_INLINE constexpr bool is_prelocked(word w) { return w & prelocked_bit; }
  static GPUTM_INLINE constexpr std::uint64_t next(std::uint64_t version) { return (version + 1) & max_version; }
};

/// 64 bits: a version that does not wrap within a transaction's life, and room for 2^19 threads with
/// eight levels of urgency.
using wide_lock = lock_layout<std::uint64_t, 40, 22>;

/// The paper's 32 bits: 11 of version, 19 of owner. Its version wraps after 2,048 commits to one lock,
/// which lets a stale read validate (ABA): for comparison only.
using paper_lock = lock_layout<std::uint32_t, 11, 19>;

}  // namespace gputm::parts
