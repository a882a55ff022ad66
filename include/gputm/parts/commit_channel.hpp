// Floor 2: letters between client warps and a server, in global memory. The lanes that commit together write
// one letter each; the lowest of them, their leader, puts up the flag of its warp, and waits for the answer,
// which is written into the letters. Several groups of one warp may be waiting at once: they share no lane, so
// each has a leader of its own. Belongs to one launch; counters and flags are zero at first, and again after it.
//
//   {client threads that have left, servers that are open, servers that are done} {flags: a word for each client warp}
//   {letters: word k of lane l at k * width + l}
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/parts/commit_record.hpp"
#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// What one lane asks for, and what became of it. Plain words: whose turn it is to write, the flag and the
/// answer decide.
class letter {
  std::uint64_t* first_;
  std::uint32_t width_;

  enum : std::uint32_t { batch_word, answered_word, snapshot_word, counts_word, found_word, stamp_word, first_key };

  GPUTM_INLINE std::uint64_t& word(std::uint32_t k) const { return first_[std::size_t{k} * width_]; }

 public:
  GPUTM_INLINE letter(std::uint64_t* first, std::uint32_t width) : first_(first), width_(width) {}
  static GPUTM_INLINE constexpr std::uint32_t words(std::uint32_t text) { return first_key + text; }

  // ---- the text: keys, first of what was written, then of what was only read; then what the protocol likes
  GPUTM_INLINE void write(std::uint32_t k, std::uint64_t text) const { simt::plain_store(word(first_key + k), text); }
  GPUTM_INLINE std::uint64_t read(std::uint32_t k) const { return simt::plain_load(word(first_key + k)); }
  /// N words from `k` on, those that are below `end`; latencies overlap.
  template <std::size_t N>
  GPUTM_INLINE void read_some(std::uint32_t k, std::uint32_t end, std::uint64_t (&some)[N]) const {
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) some[i] = k + i < end ? read(k + i) : 0;
  }
  GPUTM_INLINE void head(std::uint64_t snapshot, std::uint32_t written, std::uint32_t keys) const {
    simt::plain_store(word(snapshot_word), snapshot);
    simt::plain_store(word(counts_word), std::uint64_t{written} << 32 | keys);
  }
  GPUTM_INLINE std::uint64_t snapshot() const { return simt::plain_load(word(snapshot_word)); }
  GPUTM_INLINE std::uint32_t written() const {
    return static_cast<std::uint32_t>(simt::plain_load(word(counts_word)) >> 32);
  }
  GPUTM_INLINE std::uint32_t keys() const { return static_cast<std::uint32_t>(simt::plain_load(word(counts_word))); }

  /// Copies what the sender has written, without what follows the keys; latencies overlap.
  GPUTM_INLINE void copy_to(const letter& to) const {
    const std::uint64_t snapshot = simt::plain_load(word(snapshot_word)), counts = simt::plain_load(word(counts_word));
    simt::plain_store(to.word(snapshot_word), snapshot);
    simt::plain_store(to.word(counts_word), counts);
    const auto keys = static_cast<std::uint32_t>(counts);
    constexpr unsigned at_once = 4;
    for (std::uint32_t k = 0; k < keys; k += at_once) {
      std::uint64_t some[at_once];
      read_some(k, keys, some);
      GPUTM_UNROLL
      for (unsigned i = 0; i < at_once; ++i)
        if (k + i < keys) to.write(k + i, some[i]);
    }
  }

  // ---- the answer: clean means committed, with this stamp
  GPUTM_INLINE void answer(record_check found, std::uint64_t stamp) const {
    simt::plain_store(word(found_word), static_cast<std::uint64_t>(found));
    simt::plain_store(word(stamp_word), stamp);
  }
  GPUTM_INLINE record_check found() const { return static_cast<record_check>(simt::plain_load(word(found_word))); }
  GPUTM_INLINE std::uint64_t stamp() const { return simt::plain_load(word(stamp_word)); }

  // ---- the leader's: which lanes have written, and whether they have been answered
  GPUTM_INLINE std::uint64_t& batch() const { return word(batch_word); }
  GPUTM_INLINE std::uint64_t& answered() const { return word(answered_word); }
};

/// Trivially copyable.
class commit_channel {
  using order = simt::order;
  static constexpr std::uint32_t head = 3;
  std::uint64_t* words_;
  std::uint32_t warps_, width_, letter_words_;

  GPUTM_INLINE std::uint64_t& left() const { return words_[0]; }
  GPUTM_INLINE std::uint64_t& open() const { return words_[1]; }
  GPUTM_INLINE std::uint64_t& done() const { return words_[2]; }
  GPUTM_INLINE std::uint64_t& flags_of(std::uint32_t warp) const { return words_[head + warp]; }

 public:
  /// For letters of `text` words.
  static GPUTM_INLINE constexpr std::size_t bytes(std::uint32_t warps, std::uint32_t width, std::uint32_t text) {
    return 8 * (head + warps + std::size_t{warps} * width * letter::words(text));
  }
  GPUTM_INLINE commit_channel(std::uint64_t* words, std::uint32_t warps, std::uint32_t width, std::uint32_t text)
      : words_(words), warps_(warps), width_(width), letter_words_(letter::words(text)) {}

  GPUTM_INLINE std::uint32_t warps() const { return warps_; }
  GPUTM_INLINE letter of(std::uint32_t warp, std::uint32_t lane) const {
    return {words_ + head + warps_ + std::size_t{warp} * width_ * letter_words_ + lane, width_};
  }

  /// Sends the letters that the lanes of `batch` have written, and waits for the answers. All of `lanes` call it.
  GPUTM_INLINE void exchange(std::uint32_t warp, simt::mask_t lanes, simt::mask_t batch) const {
    simt::sync_warp(lanes);  // the leader's release below covers the letters of all
    const std::uint32_t leader = simt::lowest(batch);
    if (simt::lane() == leader) {
      const letter mine = of(warp, leader);
      simt::plain_store(mine.batch(), batch);
      // relaxed: the flag orders it before the server's answer
      simt::atomic(mine.answered()).store(0, order::relaxed);
      // release: pairs with the acquire in take(); the flags of other leaders are read-modify-writes too, and
      // keep the release sequence
      simt::atomic(flags_of(warp)).fetch_or(std::uint64_t{1} << leader, order::release);
      // acquire: pairs with the release in answer()
      (void)simt::await_at_least(mine.answered(), 1);
    }
    simt::sync_warp(lanes);  // carries the leader's acquire on to the others
  }
  /// This client thread sends no more.
  GPUTM_INLINE void leave() const {
    simt::atomic(left()).fetch_add(1, order::relaxed);  // says nothing about other words
  }

  // ---- the server's side ------------------------------------------------------------------------
  /// Whether letters of this warp have come in since the last take().
  GPUTM_INLINE bool flagged(std::uint32_t warp) const { return simt::atomic(flags_of(warp)).load(order::relaxed) != 0; }
  /// The leaders of this warp whose letters have come in since the last call.
  GPUTM_INLINE simt::mask_t take(std::uint32_t warp) const {
    // acquire: pairs with the release in exchange()
    return static_cast<simt::mask_t>(simt::atomic(flags_of(warp)).exchange(0, order::acquire));
  }
  GPUTM_INLINE simt::mask_t batch(std::uint32_t warp, std::uint32_t leader) const {
    return static_cast<simt::mask_t>(simt::plain_load(of(warp, leader).batch()));
  }
  GPUTM_INLINE void answer(std::uint32_t warp, std::uint32_t leader) const {
    // release: pairs with the acquire in exchange(): the answers are in the letters, which are read no more
    simt::atomic(of(warp, leader).answered()).store(1, order::release);
  }
  GPUTM_INLINE bool all_left(std::uint64_t threads) const {
    return simt::atomic(left()).load(order::relaxed) == threads;
  }
  /// One thread of each of several servers: waits until all of them are here.
  GPUTM_INLINE void meet(std::uint32_t servers) const {
    if (servers == 1) return;
    // acq_rel and acquire: what each server has done before, all see after it
    simt::atomic(open()).fetch_add(1, order::acq_rel);
    (void)simt::await_at_least(open(), servers);
  }
  /// One thread of each server, after the last client has left. The last one makes all as it was before the first.
  GPUTM_INLINE void close(std::uint32_t servers) const {
    // acq_rel: nobody looks at the words below any more
    if (simt::atomic(done()).fetch_add(1, order::acq_rel) + 1 < servers) return;
    simt::atomic(left()).store(0, order::relaxed);
    simt::atomic(done()).store(0, order::relaxed);
    simt::atomic(open()).store(0, order::release);  // pairs with the acquire in await_end()
  }
  /// One thread of each of several servers, after close(): waits until all of them have come so far.
  GPUTM_INLINE void await_end() const {
    simt::await_equal(open(), 0);  // acquire: pairs with the release in close(), whose thread has seen all others there
  }
};

}  // namespace gputm::parts
