// Floor 2: what a loop whose iterations store in place has to know besides: which elements they own, what they store
// elsewhere, who reads where others may store.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_log.hpp"
#include "gputm/parts/owned_rows.hpp"

namespace gputm::parts {

/// What loops of a workspace have found out for those after them. All zero before the first one.
struct in_place_past {
  std::uint32_t ready;                 ///< loops of so many iterations, or fewer, may store in place
  std::uint32_t attempts;              ///< at finding out
  std::uint32_t arrays, begin, width;  ///< owned_rows
  std::uint32_t owned, astray;         ///< stores of a loop to its iterations' own elements, and elsewhere

  static constexpr std::uint32_t most_attempts = 3;
};

/// What a pass in place has come to; words of loop_state, zero before the loop.
struct in_place_words {
  std::uint32_t tag;      ///< of its marks; 0: there was no such pass
  std::uint32_t trouble;  ///< all of it must be undone
  std::uint32_t stale;    ///< the same, since somebody has read what a lower stray writes
  std::uint32_t any_strays, any_reads;
  /// Words that all blocks change are slow, so blocks take turns at several.
  static constexpr std::uint32_t shards = 64;
  struct alignas(32) shard {
    std::uint32_t strays, reads;  ///< entries of its parts of the lists; if these had been longer that was more
  } of[shards];
};

/// What a host knows of that: it reads the word while kernels run, and takes it for a hint. Nothing yet, or that no
/// loop will; else in_place_past::ready.
struct in_place_hope {
  static constexpr std::uint32_t unknown = 0, none = 0xffffffffu;
};

/// Trivially copyable; lives in the kernel's parameters. Strays are stores to elements that the iteration does not own.
/// Their list is a log with a column for each, and one entry in that. Beside it there is a list of reads of elements to
/// which strays are expected. Both have a part for each shard, of equally many entries.
struct stray_list {
  loop_log_space log;
  std::uint32_t* position = nullptr;  ///< whose stray it is
  std::uint32_t* before = nullptr;    ///< the one that the same iteration has stored before it, or none
  std::uint64_t* read_key = nullptr;  ///< what was read
  std::uint32_t* read_position = nullptr;
  std::uint32_t* expected = nullptr;  ///< a bit for each element of the memory: loops before have stored there, but it
                                      ///< is nobody's own
  in_place_past* past = nullptr;
  std::uint32_t* hope = nullptr;  ///< in_place_hope; memory that the host sees
  bool learns = false;            ///< this loop may find out whether later ones can store in place
  bool tried = false;             ///< a pass in place has been enqueued before this kernel

  static constexpr std::uint32_t none = 0xffffffffu;
  GPUTM_INLINE std::uint32_t capacity() const { return log.window; }
  GPUTM_INLINE std::uint32_t in_shard() const { return log.window / in_place_words::shards; }
  GPUTM_INLINE std::uint32_t entry(std::uint32_t shard, std::uint32_t i) const { return shard * in_shard() + i; }
  /// A free entry of the calling block's part of a list; none if that is full.
  GPUTM_INLINE std::uint32_t take(in_place_words& words, std::uint32_t in_place_words::shard::*list,
                                  std::uint32_t& any) const {
    const std::uint32_t shard = simt::block_rank() % in_place_words::shards;
    // relaxed, as the flag: the next kernel reads them
    const std::uint32_t i = simt::atomic(words.of[shard].*list).fetch_add(1, simt::order::relaxed);
    if (i == 0) simt::atomic(any).store(1, simt::order::relaxed);
    return i < in_shard() ? entry(shard, i) : none;
  }

  GPUTM_INLINE bool is_expected(std::uint64_t element) const {
    return (simt::plain_load(expected[element / 32]) >> element % 32 & 1) != 0;
  }
  GPUTM_INLINE void expect(std::uint64_t element) const {
    std::uint32_t& word = expected[element / 32];
    // relaxed: the next kernel reads them
    simt::atomic(word).fetch_or(1u << element % 32, simt::order::relaxed);
  }
  GPUTM_INLINE owned_rows rows() const {
    return {simt::plain_load(past->arrays), simt::plain_load(past->begin), simt::plain_load(past->width)};
  }
  GPUTM_INLINE void tell_host(std::uint32_t h) const {
    simt::atomic<simt::scope::system>(*hope).store(h, simt::order::relaxed);  // a hint
  }
};

}  // namespace gputm::parts
