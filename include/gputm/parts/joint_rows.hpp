// Floor 2: long rows of elements that iterations of a first pass add up, for all warps of the grid to load, a piece
// each: one warp would take long for one of them, and all others would wait for it.
//
//   post()   an iteration asks for a row, and ends                                        ... barrier
//            a warp for each piece adds it up, and enters what it has read in the iteration's log; who is the last one
//            of a row puts its pieces together                                            ... barrier
//            the iteration runs again, and finds what the row comes to, or asks for another one, and so on
//
// If it runs once more in a repair, it need not load again the first pieces of a row of whose elements no lower
// position has marked any.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_log.hpp"

namespace gputm::parts {

/// Which elements, and for whom.
struct joint_row {
  const void* index = nullptr;  ///< where their indices lie
  std::uint64_t kind = 0;       ///< of which types it is (kind_of_loads)
  std::uint32_t position = 0;   ///< the iteration's, in the window
  std::uint32_t array = 0;      ///< its number in the memory
  std::uint32_t count = 0;      ///< elements
  std::uint32_t reads = 0;      ///< entries of the iteration's log before these
  std::uint32_t logged = 0;     ///< whether these are entered there, all of them, or none
  std::uint32_t before = 0;     ///< rows that the iteration has asked for before it,
  std::uint32_t previous = 0;   ///< and the number of the last one of these
  std::uint32_t first = 0;      ///< number of its first piece
  std::uint32_t pieces = 0;     ///< that it has
  std::uint32_t in_piece = 0;   ///< elements of each, but for the last one

  /// Of a piece of it: its first element, and how many it has.
  GPUTM_INLINE std::uint32_t begin_of(std::uint32_t piece) const { return (piece - first) * in_piece; }
  GPUTM_INLINE std::uint32_t count_of(std::uint32_t piece) const {
    const std::uint32_t rest = count - begin_of(piece);
    return rest < in_piece ? rest : in_piece;
  }
};

/// What some elements come to.
struct joint_sum {
  static constexpr std::uint32_t most_bytes = 64;  ///< of an accumulator

  std::uint32_t count = 0;          ///< elements that are in it
  std::uint32_t read_logged = 0;    ///< the ranges of those that are in a log,
  std::uint32_t read_unlogged = 0;  ///< and of the others
  std::uint32_t unused = 0;
  std::uint64_t all[most_bytes / 8] = {};  ///< an accumulator

  template <class Accumulator>
  GPUTM_INLINE void set(const Accumulator& a) {
    memcpy(all, &a, sizeof a);
  }
  template <class Accumulator>
  GPUTM_INLINE void get(Accumulator& a) const {
    memcpy(static_cast<void*>(&a), all, sizeof a);
  }
};

/// Pieces of a row.
struct joint_part {
  std::uint32_t first = 0;   ///< one's number
  std::uint32_t pieces = 0;  ///< from that one on
  std::uint32_t logged = 0;  ///< whether their elements are in the iteration's log
  std::uint32_t unused = 0;
};

/// Memory for those of a window.
class joint_space {
  struct row_words {
    joint_row row;
    joint_sum sum;
    std::uint32_t loaded;  ///< pieces, so far
    std::uint32_t newest;  ///< of its elements' marks, those of a check
    std::uint32_t absent;  ///< from the log: it is in no entries, or in others
    std::uint32_t clean;   ///< so many of its first pieces have no element that a check has found marked from below
    std::uint64_t empty[joint_sum::most_bytes / 8];  ///< the accumulator that its elements were added to
  };
  struct piece_words {
    std::uint32_t row;    ///< whose; none: nobody's
    std::uint32_t taken;  ///< a warp loads it
    joint_sum sum;
  };
  row_words* rows_ = nullptr;
  piece_words* pieces_ = nullptr;
  std::uint64_t* posted_ = nullptr;

  static constexpr std::uint32_t room = 16384;
  static constexpr std::uint32_t most = GPUTM_ON_DEVICE ? room : 24;  // few, for tests
  static constexpr std::uint32_t most_of_row = 64;
  using order = simt::order;

  template <class T>
  static GPUTM_INLINE auto words_of(T& value) {
    static_assert(sizeof(T) % sizeof(std::uint64_t) == 0);
    return [&value](std::uint32_t k) -> std::uint64_t& { return reinterpret_cast<std::uint64_t*>(&value)[k]; };
  }

 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint32_t least = GPUTM_ON_DEVICE ? 64 : 8;     ///< elements of a row
  static constexpr std::uint32_t longest = GPUTM_ON_DEVICE ? 512 : 4;  ///< elements of most pieces

  static constexpr std::uint64_t bytes() { return std::uint64_t{room} * (sizeof(row_words) + sizeof(piece_words)); }
  joint_space() = default;
  /// `base`: memory of so many bytes. `posted`: a word that is zero when a window begins.
  joint_space(std::byte* base, std::uint64_t* posted)
      : rows_(reinterpret_cast<row_words*>(base)),
        pieces_(reinterpret_cast<piece_words*>(base + room * sizeof(row_words))),
        posted_(posted) {}

  /// Asks for a row, of which pieces are to be found out: its number, or none if there is no room.
  GPUTM_INLINE std::uint32_t post(joint_row r) const {
    const std::uint32_t few = (r.count + most_of_row - 1) / most_of_row;
    r.in_piece = few > longest ? few : longest;
    r.pieces = (r.count + r.in_piece - 1) / r.in_piece;
    // relaxed: who looks at rows and pieces does so behind the barrier
    const std::uint64_t before = simt::atomic(*posted_).fetch_add(std::uint64_t{r.pieces} << 32 | 1, order::relaxed);
    const auto number = static_cast<std::uint32_t>(before);
    r.first = static_cast<std::uint32_t>(before >> 32);
    const bool fits = r.first + r.pieces <= most;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = r.first; k < r.first + r.pieces && k < most; ++k) {
      simt::plain_store(pieces_[k].row, fits ? number : none);
      simt::plain_store(pieces_[k].taken, 0);
    }
    if (!fits) return none;
    put_words(r, words_of(rows_[number].row));
    simt::plain_store(words_of(rows_[number].sum)(0), std::uint64_t{0});  // it has no elements
    simt::plain_store(rows_[number].loaded, 0);
    simt::plain_store(rows_[number].newest, 0);
    simt::plain_store(rows_[number].absent, r.logged == 0);
    simt::plain_store(rows_[number].clean, r.pieces);
    return number;
  }

  // Behind that barrier.
  /// Pieces of all rows; some may be nobody's.
  GPUTM_INLINE std::uint32_t pieces() const {
    const auto n = static_cast<std::uint32_t>(simt::plain_load(*posted_) >> 32);
    return n < most ? n : most;
  }
  /// Whose piece `k` is, or none.
  GPUTM_INLINE std::uint32_t row_of(std::uint32_t k) const { return simt::plain_load(pieces_[k].row); }
  GPUTM_INLINE joint_row row(std::uint32_t number) const { return get_words<joint_row>(words_of(rows_[number].row)); }
  /// Whether the caller is the one to load piece `k`.
  GPUTM_INLINE bool take(std::uint32_t k) const {
    return simt::atomic(pieces_[k].taken).exchange(1, order::relaxed) == 0;  // relaxed: it tells nothing else
  }
  /// What a piece comes to. Whether all of its row's are loaded; then the caller may read those.
  GPUTM_INLINE bool finish(std::uint32_t k, std::uint32_t number, std::uint32_t all, const joint_sum& its) const {
    put_words(its, words_of(pieces_[k].sum));
    // acq_rel: the last one to come pairs with all before
    return simt::atomic(rows_[number].loaded).fetch_add(1, order::acq_rel) + 1 == all;
  }
  GPUTM_INLINE joint_sum piece(std::uint32_t k) const { return get_words<joint_sum>(words_of(pieces_[k].sum)); }
  /// `empty`: what it was added to.
  template <class Accumulator>
  GPUTM_INLINE void set_sum(std::uint32_t number, const joint_sum& all, const Accumulator& empty) const {
    put_words(all, words_of(rows_[number].sum));
    put_words(empty, [&to = rows_[number].empty](std::uint32_t k) -> std::uint64_t& { return to[k]; });
  }

  // Behind the next barrier.
  /// What a row comes to, if all its pieces have been loaded.
  GPUTM_INLINE bool find_sum(std::uint32_t number, const joint_row& r, joint_sum& all) const {
    all = get_words<joint_sum>(words_of(rows_[number].sum));
    return all.count == r.count;
  }
  /// The log does not have it, or not all of it.
  GPUTM_INLINE void forget_log(std::uint32_t number) const { simt::plain_store(rows_[number].absent, 1); }
  /// Whether the log has it, once nobody changes that any more.
  GPUTM_INLINE bool is_logged(std::uint32_t number) const { return simt::plain_load(rows_[number].absent) == 0; }
  /// Of a check: of all elements' marks that are named the highest one counts.
  GPUTM_INLINE void name_mark(std::uint32_t number, std::uint32_t mark) const {
    simt::atomic(rows_[number].newest).fetch_max(mark, order::relaxed);  // relaxed: read behind the barrier
  }
  GPUTM_INLINE std::uint32_t newest_mark(std::uint32_t number) const { return simt::plain_load(rows_[number].newest); }
  /// Of a check: an element of this piece of the row is marked from below.
  GPUTM_INLINE void name_marked(std::uint32_t number, std::uint32_t piece) const {
    simt::atomic(rows_[number].clean).fetch_min(piece, order::relaxed);  // relaxed: read behind the barrier
  }

  // Of a repair.
  /// How many of its first pieces are as they were added up, if elements are added to the same accumulator.
  template <class Accumulator>
  GPUTM_INLINE std::uint32_t known_pieces(std::uint32_t number, const joint_row& r, const Accumulator& empty) const {
    const auto loaded = static_cast<std::uint32_t>(simt::plain_load(words_of(rows_[number].sum)(0)));
    const std::uint32_t clean = simt::plain_load(rows_[number].clean);
    bool same = true;
    for_words(empty, [&same, &from = rows_[number].empty](std::uint32_t k, std::uint64_t w) {
      same &= simt::plain_load(from[k]) == w;
    });
    return same && loaded == r.count && (r.logged == 0 || is_logged(number)) ? clean : 0;
  }
};

}  // namespace gputm::parts
