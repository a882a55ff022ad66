// Floor 2: what iterations of a pass in place (in_place_pass.hpp) store to elements that they do not own.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_log.hpp"

namespace gputm::parts {

/// Where strays lie; trivially copyable, lives in the kernel's parameters. Each block of the pass has entries of its
/// own, so that nobody waits for others to get one; and all have some together, for blocks with more. An entry that is
/// not in use has no key; none is but between a pass and the end of its loop.
struct stray_space {
  std::uint64_t* base = nullptr;  ///< zero before the first pass
  std::uint32_t entries = 0;
  std::uint32_t value_words = 1;  ///< 8-byte words of the largest element

  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint32_t sector = 32;  ///< bytes that a GPU's cache loads together
  /// Words of 8 bytes of an entry: key; whose it is, and the one that the same iteration has stored before it; value.
  /// Whole sectors, so that most are loaded at once.
  static GPUTM_INLINE constexpr std::uint32_t entry_words(std::uint32_t value_words) {
    constexpr std::uint32_t words = sector / sizeof(std::uint64_t);
    return (2 + value_words + words - 1) / words * words;
  }
};

/// Who has which entries in a pass.
struct stray_shares {
  std::uint32_t of_block = 0;   ///< entries
  std::uint32_t of_blocks = 0;  ///< of all blocks together, which come first
  std::uint32_t more = 0;       ///< behind them

  /// Entries of each of so many blocks that are expected to have so many strays in all: twice as many as each has
  /// then on average, and one.
  static GPUTM_INLINE std::uint32_t share(const stray_space& space, std::uint32_t blocks, std::uint64_t strays) {
    // one thread does it while all wait, and a division of 64 bits is hundreds of instructions
    const std::uint32_t half = space.entries / 2, most = half / blocks;
    const std::uint32_t few = strays < half ? static_cast<std::uint32_t>(strays) : half;
    const std::uint32_t wanted = few == 0 ? 1 : (2 * few - 1) / blocks + 2;
    return wanted < most ? wanted : most;
  }
};

/// One entry.
class stray_entry {
  std::uint64_t* words_;

  static constexpr std::uint64_t in_use = std::uint64_t{1} << loop_log::key_bits;
  GPUTM_INLINE auto words_of_value() const {
    return [to = words_ + 2](std::uint32_t i) -> std::uint64_t& { return to[i]; };
  }

 public:
  GPUTM_INLINE stray_entry(const stray_space& s, std::uint32_t k)
      : words_(s.base + std::uint64_t{k} * stray_space::entry_words(s.value_words)) {}

  /// For a new stray.
  GPUTM_INLINE void begin(std::uint64_t key, std::uint32_t position, std::uint32_t before) const {
    simt::plain_store(words_[0], in_use | key);
    simt::plain_store(words_[1], std::uint64_t{before} << 32 | position);
  }
  GPUTM_INLINE void end() const { simt::plain_store(words_[0], 0); }
  template <class T>
  GPUTM_INLINE void set_value(const T& value) const {
    put_words(value, words_of_value());
  }
  template <class T>
  GPUTM_INLINE T value() const {
    return get_words<T>(words_of_value());
  }
  /// The key as it lies there; see is_used() and key_of().
  GPUTM_INLINE std::uint64_t key_word() const { return simt::plain_load(words_[0]); }
  static GPUTM_INLINE bool is_used(std::uint64_t key_word) { return key_word != 0; }
  static GPUTM_INLINE std::uint64_t key_of(std::uint64_t key_word) { return key_word & ~in_use; }
  /// Whose stray it is.
  GPUTM_INLINE std::uint32_t position() const { return static_cast<std::uint32_t>(simt::plain_load(words_[1])); }
  /// The one before it of the same iteration, or none.
  GPUTM_INLINE std::uint32_t before() const { return static_cast<std::uint32_t>(simt::plain_load(words_[1]) >> 32); }
  /// Of its value.
  GPUTM_INLINE std::uint64_t first_word() const { return simt::plain_load(words_[2]); }
  /// As loop_log::write_back().
  GPUTM_INLINE void write_back(latest_region& array, std::uint64_t key, std::uint64_t value) const {
    write_element_back(array, key, value, words_of_value());
  }
};

}  // namespace gputm::parts
