// Floor 2: a list of those iterations of a loop that access anything, in their order.
#pragma once

#include <cstdint>

#include "gputm/simt/simt.hpp"

namespace gputm::parts {

/// A bit for each iteration, in words of as many as a warp has lanes; chunks of such words, one for each warp of a grid
/// that makes the list. Trivially copyable; lives in the kernel's parameters.
struct busy_space {
  std::uint64_t iterations = 0;  ///< of the loop, at least one
  std::uint32_t* words = nullptr;
  std::uint32_t* counts = nullptr;  ///< of each chunk: busy iterations
  std::uint32_t* total = nullptr;   ///< of all
  std::uint32_t* list = nullptr;    ///< their numbers
  std::uint32_t chunks = 0;

  /// So many words are needed, a warp having so many lanes.
  static GPUTM_INLINE constexpr std::uint64_t words_of(std::uint64_t iterations, std::uint32_t lanes) {
    return (iterations + lanes - 1) / lanes;
  }
  struct range {
    std::uint32_t begin, end;
  };
  /// The words of a chunk.
  GPUTM_INLINE range words_in(std::uint32_t chunk) const {
    const auto all = static_cast<std::uint32_t>(words_of(iterations, simt::warp_width()));
    const std::uint32_t each = (all - 1) / chunks + 1;
    const std::uint64_t begin = std::uint64_t{chunk} * each;
    const std::uint32_t first = begin < all ? static_cast<std::uint32_t>(begin) : all;
    return {first, all - first < each ? all : first + each};
  }
  /// Of this warp; `chunks` or more if there is none for it.
  static GPUTM_INLINE std::uint32_t chunk_of_warp() { return simt::grid_thread_rank() / simt::warp_width(); }

  /// Lists what the words of this warp's chunk say, behind all chunks before it. All words and counts are known. All
  /// lanes of a full warp call it.
  GPUTM_INLINE void make_list() const {
    const std::uint32_t chunk = chunk_of_warp(), lanes = simt::warp_width(), lane = simt::lane();
    if (chunk >= chunks) return;
    std::uint32_t at = count_before(chunk);
    const range mine = words_in(chunk);
    GPUTM_NO_UNROLL
    for (std::uint32_t first = mine.begin; first < mine.end; first += lanes) {
      const std::uint32_t word = first + lane;
      std::uint32_t bits = word < mine.end ? simt::plain_load(words[word]) : 0;
      const std::uint32_t up_to = sum_up_to_lane(simt::count(bits));
      std::uint32_t to = at + up_to - simt::count(bits);
      GPUTM_NO_UNROLL
      for (; bits != 0; bits &= bits - 1) simt::plain_store(list[to++], word * lanes + simt::lowest(bits));
      at += simt::shfl(simt::full_mask, up_to, lanes - 1);
      simt::progress();
    }
    if (chunk == chunks - 1 && lane == 0) simt::plain_store(*total, at);
  }

 private:
  /// Busy iterations of all chunks before this one; the same on all lanes.
  GPUTM_INLINE std::uint32_t count_before(std::uint32_t chunk) const {
    constexpr std::uint32_t at_once = 16;  // loads whose latencies overlap
    const std::uint32_t lanes = simt::warp_width();
    std::uint32_t sum = 0;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = simt::lane(); k < chunk; k += at_once * lanes) {
      std::uint32_t some[at_once];
      GPUTM_UNROLL
      for (unsigned j = 0; j < at_once; ++j)
        some[j] = k + j * lanes < chunk ? simt::plain_load(counts[k + j * lanes]) : 0;
      GPUTM_UNROLL
      for (unsigned j = 0; j < at_once; ++j) sum += some[j];
    }
    return simt::reduce_add(simt::full_mask, sum);
  }
  /// The sum of the values of the lanes up to this one.
  static GPUTM_INLINE std::uint32_t sum_up_to_lane(std::uint32_t value) {
    const std::uint32_t lane = simt::lane();
    GPUTM_NO_UNROLL
    for (std::uint32_t by = 1; by < simt::warp_width(); by *= 2) {
      const std::uint32_t lower = simt::shfl(simt::full_mask, value, lane >= by ? lane - by : lane);
      value += lane >= by ? lower : 0;
    }
    return value;
  }
};

}  // namespace gputm::parts
