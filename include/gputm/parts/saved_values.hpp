// Floor 2: what was in memory before the iterations of a pass in place (in_place_pass.hpp) have stored there.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_log.hpp"

namespace gputm::parts {

/// A word of status for each position, and words of values: word k of slot i of position p is at
/// (i * value_words + k) * positions + p, all together less than 2^32 words. And of keys, if there is room for them,
/// for passes in which nothing else tells whose values these are: that of slot i of position p is at i * positions + p.
/// Trivially copyable, lives in the kernel's parameters. Statuses are zero before the first loop, and after each
/// clearing of marks.
struct saved_space {
  std::uint64_t* statuses = nullptr;
  std::uint64_t* values = nullptr;
  std::uint64_t* keys = nullptr;
  std::uint32_t positions = 0;
  std::uint32_t value_words = 1;  ///< 8-byte words of the largest element

  /// Half of what 32 bits can tell apart: so a thread's position and the number of threads, added up, do not wrap. An
  /// iteration has two words at least, so there are less than half as many of these.
  static constexpr std::uint32_t most_words = ~0u / 2;
  /// In the logs, as far as they have positions: no window is under way during a pass.
  static saved_space within(const loop_log_space& logs) {
    return {logs.statuses(), logs.values(), logs.write_keys(), logs.window, logs.value_words};
  }
  /// Words of memory of its own, with so many slots: statuses, values, and then keys, if it has any.
  static constexpr std::uint64_t words(std::uint64_t positions, std::uint32_t slots, std::uint32_t value_words,
                                       bool has_keys) {
    return positions * (1 + std::uint64_t{slots} * (std::uint64_t{value_words} + has_keys));
  }
};

/// Those of one position. Only the thread that runs it writes them, and the next kernel reads them; in there what is
/// postponed (postponed_pass.hpp) writes others, behind barriers.
class saved_values {
  std::uint64_t* status_;
  std::uint64_t* values_;
  std::uint64_t* keys_;
  std::uint32_t positions_, value_words_;

  GPUTM_INLINE auto words_of(std::uint32_t slot) const {
    return [first = values_ + slot * value_words_ * positions_, width = positions_](std::uint32_t k) -> std::uint64_t& {
      return first[k * width];
    };
  }

 public:
  GPUTM_INLINE saved_values(const saved_space& s, std::uint32_t position)
      : status_(s.statuses + position),
        values_(s.values + position),
        keys_(s.keys != nullptr ? s.keys + position : nullptr),
        positions_(s.positions),
        value_words_(s.value_words) {}

  /// As what caches need not keep: mostly nobody ever looks at it.
  template <class T>
  GPUTM_INLINE void set(std::uint32_t slot, const T& value) const {
    for_words(value, [word = words_of(slot)](std::uint32_t k, std::uint64_t w) { simt::streaming_store(word(k), w); });
  }
  /// Whose value the slot has; as that.
  GPUTM_INLINE void set_key(std::uint32_t slot, std::uint64_t key) const {
    simt::streaming_store(keys_[slot * positions_], key);
  }
  GPUTM_INLINE std::uint64_t key(std::uint32_t slot) const { return simt::plain_load(keys_[slot * positions_]); }
  /// The element of this key gets what the slot has.
  GPUTM_INLINE void put_back(latest_region& array, std::uint32_t slot, std::uint64_t key) const {
    const auto word = words_of(slot);
    write_element_back(array, key, simt::plain_load(word(0)), word);
  }
  /// What has been set in the pass of a tag, as bits of slots or of pieces of them, or as their number: kept as the
  /// value of that tag's status.
  GPUTM_INLINE void set_bits(std::uint32_t tag, std::uint32_t bits) const { put({.tag = tag, .value = bits}); }
  /// Those, or `otherwise`, if nobody has said so in that pass.
  GPUTM_INLINE std::uint32_t bits(std::uint32_t tag, std::uint32_t otherwise) const {
    bool is_postponed;
    return bits(tag, otherwise, is_postponed);
  }
  /// The position has not run in the pass of this tag, so it has set none.
  GPUTM_INLINE void leave_out(std::uint32_t tag) const { put({.tag = tag, .dirty = true}); }
  GPUTM_INLINE bool is_left_out(std::uint32_t tag) const {
    const position_status s = status();
    return s.tag == tag && s.dirty;
  }
  /// It is postponed (postponed_pass.hpp), and has set none.
  GPUTM_INLINE void postpone(std::uint32_t tag) const { put({.tag = tag, .version = postponed}); }
  /// Both by one load.
  GPUTM_INLINE std::uint32_t bits(std::uint32_t tag, std::uint32_t otherwise, bool& is_postponed) const {
    const position_status s = status();
    is_postponed = s.tag == tag && s.version == postponed;
    return s.tag == tag ? s.value : otherwise;
  }
  GPUTM_INLINE void forget() const { set_bits(0, 0); }

 private:
  static constexpr std::uint32_t postponed = 1;  ///< version of such a status

  // relaxed, both: the end of the kernel orders them, or a barrier
  GPUTM_INLINE void put(const position_status& s) const {
    simt::atomic(*status_).store(s.word(), simt::order::relaxed);
  }
  GPUTM_INLINE position_status status() const {
    return position_status::of(simt::atomic(*status_).load(simt::order::relaxed));
  }
};

}  // namespace gputm::parts
