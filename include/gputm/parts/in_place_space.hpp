// Floor 2: what a loop whose iterations store in place has to know besides marks and logs: which elements they own, or
// have claimed, and which of them store elsewhere.
#pragma once

#include <cstdint>

#include "gputm/parts/owned_list.hpp"
#include "gputm/parts/owned_rows.hpp"
#include "gputm/parts/postponed_space.hpp"
#include "gputm/parts/read_rows.hpp"
#include "gputm/parts/saved_values.hpp"
#include "gputm/parts/stray_list.hpp"

namespace gputm::parts {

/// What loops of a workspace have found out for those after them. All zero before the first one. Strays are stores to
/// elements that the iteration does not own.
struct in_place_past {
  std::uint32_t ready;                 ///< loops of so many iterations, or fewer, may store in place
  std::uint32_t attempts;              ///< at finding out
  std::uint32_t owners;                ///< who tells what iterations own, as below
  std::uint32_t arrays, begin, width;  ///< owned_rows; with lists nothing
  std::uint32_t owned;                 ///< stores of a loop's last window to its iterations' own elements, or, as a
                                       ///< scout reckons, of the whole loop
  std::uint32_t sampled;               ///< stores of the iteration from which rows were guessed
  std::uint32_t to_others;             ///< strays to what other iterations own, of those that have been looked at
  std::uint32_t to_nobodys;            ///< and to what nobody owns
  std::uint32_t share;                 ///< stray_shares::of_block

  std::uint32_t read_arrays, read_begin, read_stride, read_width;  ///< read_rows
  std::uint32_t anywhere;   ///< strays to what nobody owns may go to any element of ranges that may be stored to; else
                            ///< to where in_place_space::expected says
  std::uint32_t updates;    ///< with claims: most iterations load what they are going to store to
  std::uint32_t stored_to;  ///< with claims: bits of arrays that are stored to
  std::uint32_t has_roles;  ///< elements may have roles; else none has, and they may be claimed
  std::uint32_t lists_of_claims;  ///< what has become of lists that a pass by claims has left, as below

  static constexpr std::uint32_t most_attempts = 3;
  // owners: owned_rows; the same; owned_list; nobody knows, but iterations can claim them
  static constexpr std::uint32_t rows = 0, wide_rows = 1, lists = 2, claims = 3;
  // lists_of_claims, 0 as long as there has been none: loops go by them; they came to nothing, so elements are claimed
  // each time; it left none, since it had to postpone iterations, and loops learn them
  static constexpr std::uint32_t current = 1, lost = 2, to_learn = 3;
};

/// What a pass in place has come to; words of loop_state, zero before the loop.
struct in_place_words {
  std::uint32_t tag;      ///< of its marks; 0: there was no such pass
  std::uint32_t trouble;  ///< all of it must be undone
  std::uint32_t stale;    ///< the same, since somebody has read what a lower stray writes; apart from `trouble`, which
                          ///< others may not have read yet when that comes out, and which says who meets at a barrier
  std::uint32_t more;     ///< of stray_shares::more: taken, or that would have been taken
  std::uint32_t mode;     ///< what the pass has gone by
  std::uint32_t marked;   ///< it has gone by read_rows, and somebody has read something else where strays may go

  // Of iterations that are postponed. Apart from the others: threads ask again and again whether there is trouble.
  alignas(128) std::uint32_t postponed;  ///< on the list of postponed_space, or for which it had no room
  std::uint32_t unlogged;                ///< some have read more than there is room for in it
  std::uint32_t run;                     ///< of those postponed: that have run to their end
  std::uint32_t round;                   ///< of these that is under way; postponed_over: none any more
  std::uint32_t rounds;                  ///< that there have been

  static constexpr std::uint32_t anywhere = 1, by_rows = 2;  ///< of mode: in_place_past::anywhere; read_rows
  static constexpr std::uint32_t by_claims = 4;              ///< in_place_past::claims
  static constexpr std::uint32_t leaves_lists = 8;           ///< by claims, which are loops' lists from then on
  static constexpr std::uint32_t postponed_over = ~0u;       ///< `round`
};

/// What the iterations that a scout has run (scout.hpp) have come to; words of loop_state, zero before the loop.
struct scout_words {
  std::uint64_t highest_rows;      ///< owned_rows::word of all warps
  std::uint64_t lowest_rows;       ///< the highest one with all bits inverted
  std::uint64_t highest_reads;     ///< read_rows::word of those that have any
  std::uint64_t lowest_reads;      ///< the highest one with all bits inverted
  std::uint32_t read_arrays;       ///< read_rows::arrays
  std::uint32_t odd_reads;         ///< iterations whose reads are not those of rows
  std::uint32_t owned;             ///< stores to their own elements
  std::uint32_t to_others;         ///< strays to what iterations below own
  std::uint32_t to_nobodys;        ///< and to what nobody owns
  std::uint32_t arrays;            ///< bits of those to which the latter go
  std::uint32_t unfit;             ///< what is a reason against it
  std::uint32_t stored_to;         ///< bits of all arrays to which they have stored
  std::uint32_t updates;           ///< iterations that have stored to what they had read
  std::uint32_t failed;            ///< iterations that have not come to a good end
  std::uint32_t depends;           ///< iterations of probes that depend on others near to them
  std::uint32_t depends_far;       ///< and on others far from them
  std::uint32_t depends_on_lower;  ///< that read what lower ones store
  std::uint32_t arrived;           ///< warps
};

/// What a host knows of that: it reads the word while kernels run, and takes it for a hint. Nothing yet, or that no
/// loop will; else in_place_past's `owners` behind so many bits of its `ready`.
struct in_place_hope {
  static constexpr std::uint32_t unknown = 0, none = 0xffffffffu, ready_bits = 30;
  static constexpr std::uint32_t most_iterations = (1u << ready_bits) - 1;  ///< no pass in place has more
  static_assert(saved_space::most_words / 2 <= most_iterations);
  static_assert(saved_space::most_words / 3 < most_iterations);  // those by claims have keys, too: it is not `none`
};

/// Trivially copyable; lives in the kernel's parameters. All that it points to is zero before the first loop.
struct in_place_space {
  in_place_past* past = nullptr;
  std::uint32_t* roles = nullptr;  ///< two bits for each element of the memory
  stray_space strays;
  saved_space saved;              ///< a loop with more iterations than this has positions is never run in place
  std::uint32_t blocks = 0;       ///< of a pass of this loop
  std::uint32_t twice = 0;        ///< of them, those that have two iterations for each thread: the first ones
  std::uint32_t* hope = nullptr;  ///< in_place_hope; memory that the host sees
  postponed_space postponed;      ///< if a pass by claims may postpone iterations
  bool learns = false;            ///< this loop may find out whether later ones can store in place
  bool tried = false;             ///< a pass in place has been enqueued before this kernel
  bool unproven = false;          ///< and a scout before that, which may have told the past
  std::uint32_t scouts = 0;       ///< blocks of the latter; those behind them are its probes

  // What an element may be: one to which strays are expected, since loops before have stored there, but it is nobody's
  // own; one that is in an owned_list, which bits of rows do not tell. During a pass by claims: one that iterations
  // read; one that is an iteration's own.
  static constexpr std::uint32_t expected = 1, owned = 2;
  static constexpr std::uint32_t shared = expected;
  /// By an iteration that is postponed; then all others that have accessed it wait as well (postponed_pass.hpp).
  static constexpr std::uint32_t wanted = shared | owned;
  static constexpr std::uint32_t in_word = 16;  ///< elements

  GPUTM_INLINE std::uint32_t role(std::uint64_t element) const {
    return role_in(simt::plain_load(roles[element / in_word]), element);
  }
  GPUTM_INLINE bool is_expected(std::uint64_t element) const { return (role(element) & expected) != 0; }
  /// The same while others get roles.
  GPUTM_INLINE bool is_expected_by_now(std::uint64_t element) const {
    // relaxed: who has made it expected did so behind a barrier
    return (role_in(simt::atomic(roles[element / in_word]).load(simt::order::relaxed), element) & expected) != 0;
  }
  /// Gives an element a role, and returns those that it had: so of two who claim the same one, one sees the other's.
  GPUTM_INLINE std::uint32_t add_role(std::uint64_t element, std::uint32_t role) const {
    // relaxed: read behind a barrier, and by the next kernel; and who claims an element that somebody else may use does
    // not touch it, so nothing else need be ordered
    const std::uint32_t bits = role << 2 * (element % in_word);
    return role_in(simt::atomic(roles[element / in_word]).fetch_or(bits, simt::order::relaxed), element);
  }
  GPUTM_INLINE void remove_role(std::uint64_t element, std::uint32_t role) const {
    // relaxed: as add_role()
    simt::atomic(roles[element / in_word]).fetch_and(~(role << 2 * (element % in_word)), simt::order::relaxed);
  }
  GPUTM_INLINE void expect(std::uint64_t element) const { add_role(element, expected); }
  /// Elements lose all roles but this one; 0: all. All threads of the grid call it; a barrier must follow, or the end
  /// of the kernel.
  GPUTM_INLINE void keep_roles(std::uint64_t elements, std::uint32_t role) const {
    const std::uint32_t kept = role * 0x55555555u;
    GPUTM_NO_UNROLL
    for (std::uint64_t k = simt::grid_thread_rank(); k * in_word < elements; k += simt::grid_threads())
      simt::plain_store(roles[k], simt::plain_load(roles[k]) & kept);
  }
  /// Of a pass of this loop; `share` is that of `past`.
  GPUTM_INLINE stray_shares shares(std::uint32_t share) const {
    const std::uint32_t of_blocks = share * blocks;
    return {share, of_blocks, strays.entries - of_blocks};
  }
  GPUTM_INLINE owned_rows rows() const {
    return {simt::plain_load(past->arrays), simt::plain_load(past->begin), simt::plain_load(past->width)};
  }
  GPUTM_INLINE read_rows reads() const {
    return {simt::plain_load(past->read_arrays), simt::plain_load(past->read_begin),
            simt::plain_load(past->read_stride), simt::plain_load(past->read_width)};
  }
  /// What `past` says now.
  GPUTM_INLINE void tell_host() const {
    const std::uint32_t ready = simt::plain_load(past->ready);
    const bool never = simt::plain_load(past->attempts) == past->most_attempts;
    std::uint32_t h = never ? in_place_hope::none : in_place_hope::unknown;
    if (ready != 0) h = simt::plain_load(past->owners) << in_place_hope::ready_bits | ready;
    simt::atomic<simt::scope::system>(*hope).store(h, simt::order::relaxed);  // a hint
  }

 private:
  static GPUTM_INLINE std::uint32_t role_in(std::uint32_t word, std::uint64_t element) {
    return word >> 2 * (element % in_word) & 3u;
  }
};

}  // namespace gputm::parts
