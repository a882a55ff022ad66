// Floor 3: one iteration as a body sees it, over any engine: the same load and store as a transaction's, and
// break_loop(). It checks handles and indices, and counts operations so that no iteration runs for ever.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/outcome.hpp"
#include "gputm/parts/abort_reason.hpp"
#include "gputm/parts/control.hpp"
#include "gputm/parts/load_each.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/speculation/shared_reduction.hpp"

namespace gputm::speculation {

/// What went wrong in an iteration. Only if all it has read is right it is the body's error.
struct iteration_fault {
  parts::fault kind = parts::fault::none;
  std::uint32_t region = 0;
  std::uint64_t a = 0, b = 0;
};

/// How an attempt stands in which something has gone wrong. It lives in memory: in registers every access that goes
/// well would carry it along.
struct iteration_trouble {
  /// counting: the log of writes was full; the body runs on, only to count what it would need.
  /// astray: nobody knows whose fault it is. It runs again, if need be where nothing runs beside it.
  enum class progress : std::uint32_t { counting, astray, faulty };
  progress state = progress::astray;
  std::uint32_t left = 0;  ///< of one that is counting: loads and stores that may follow
  iteration_fault fault;   ///< of one that is counting or faulty
};

/// What one attempt at an iteration came to.
enum class attempt_end : std::uint8_t { commit, cancel, failed };

/// What an access (below) is that can tell nothing for certain: what goes wrong in such an attempt is no error.
struct tentative_access {
  GPUTM_INLINE static constexpr bool first() { return false; }
  GPUTM_INLINE static constexpr parts::overflow_kind overflow() { return parts::overflow_kind::none; }
  GPUTM_INLINE static constexpr std::uint64_t write_limit() { return 0; }
};

/// Access: how an engine loads and stores: load(region, number, index, out), store(region, number, index, value),
/// which return false when the attempt must end; overflow(), which log was full; write_limit(), the capacity for
/// writes. If it has loads_at_once, load_some(region, number, indices, count, outs) loads so many elements of one array
/// at once, or fewer if they are large, of which the first `count` are asked for, and the others are the last of these;
/// or it returns false if load() must do it.
template <class Access>
class iteration {
  using progress = iteration_trouble::progress;

  Access& access_;
  const region_table& regions_;
  iteration_trouble& trouble_;
  const std::uint32_t longest_;
  /// One more than the loads and stores that may follow; 0 once something has gone wrong. So an access that goes well
  /// asks for this word only.
  std::uint32_t left_;
  bool last_ = false;

  static constexpr std::uint64_t count_at_most = 1u << 20;

 public:
  /// `longest`: loads and stores, less than 2^32 - 1. `trouble`: iterations of a thread can share it; if nothing goes
  /// wrong it keeps what another one has left there.
  GPUTM_INLINE iteration(Access& access, const region_table& regions, std::uint32_t longest, iteration_trouble& trouble)
      : access_(access), regions_(regions), trouble_(trouble), longest_(longest), left_(longest + 1) {}

  /// Reads an element as the iterations before this one leave it, or as this one has. Not ok if the attempt is over.
  template <class T>
  GPUTM_INLINE loaded<T> load(element<T> e) {
    loaded<T> out{};
    const std::uint32_t number = number_of(e.handle);
    if (!is_usual(number, e.index) && !may_count(e.handle, e.index)) return out;
    out.ok = access_.load(regions_.regions[number], number, static_cast<std::uint32_t>(e.index), out.value) ||
             (is_on() ? overflowed(number) : go_astray());  // to count on it would have to know this one
    return out;
  }
  /// Reads the elements where(0) to where(count - 1), and calls use(k, value) for each, in that order. As many calls of
  /// load() would do the same; but several elements take the latency of one. So `where`, which may be asked several
  /// times, goes by k alone, not by what `use` has got, and `use` stores to none of them. Not ok if the attempt is
  /// over: some values have been used then, so `use` changes only what the body keeps.
  template <class Where, class Use>
  GPUTM_INLINE loaded_each load_each(std::uint32_t count, Where where, Use use) {
    return loaded_each{load_from(0, count, where, use)};
  }
  /// Reads the same elements, and adds each to an accumulator, which is `empty` at first:
  ///
  ///   void add(std::uint32_t k, const T& value);        // value of element where(k)
  ///   void merge(const Accumulator& other);              // all that has been added to the other one
  ///
  /// Several accumulators, each `empty` at first, may get a part each, in any order, and be merged in any order. So
  /// what they come to in the end must not depend on it, as it does not for integers' sums, the largest of some, or a
  /// set, and does for sums of floating-point numbers; and to merge an empty one must change nothing: add what the sum
  /// is to begin with afterwards. An accumulator is trivially copyable, small, of a multiple of 4 bytes, and refers to
  /// nothing that other threads do not see.
  ///
  /// Under gpu_tls others load elements of a gather() for an iteration, if they are 64 or more, of 4 or of 8 bytes: all
  /// warps in a first pass, where no store comes before, an accumulator has 64 bytes at most, and loop_config::capacity
  /// room for 256 reads or more; else lanes of its warp, if eight of them or more come to the same call, and the
  /// iteration has stored to nothing near to it (in the same of some 30 ranges of all arrays). So call it with a count
  /// of 0, rather than not at all, where there is nothing to add. Threads that load for others run the body up to here.
  template <class Where, class Accumulator>
  GPUTM_INLINE loaded<Accumulator> reduce_each(std::uint32_t count, Where where, const Accumulator& empty) {
    using T = typename decltype(where(std::uint32_t{}))::value_type;
    using reduction = shared_reduction<Access, T, Where, Accumulator>;
    loaded<Accumulator> all{empty, false};
    if constexpr (reduction::exists) {
      reduction shared(access_, regions_, where, number_of(where.array.handle()), count, empty);
      std::uint32_t done = 0;
      if (!shared.add(all.value, done, left_)) {
        go_astray();
        return all;
      }
      auto use = [&all, &done](std::uint32_t k, const T& value) {
        all.value.add(k, value);
        reduction::note(k, done);
      };
      all.ok = load_from(done, count, where, use);
      if (!all.ok) shared.hold(all.value, done);
    } else {
      auto use = [&all](std::uint32_t k, const T& value) { all.value.add(k, value); };
      all.ok = load_from(0, count, where, use);
    }
    return all;
  }
  /// Writes an element for the iterations after this one.
  template <class T>
  GPUTM_INLINE stored store(element<T> e, stored_value<T> value) {
    const std::uint32_t number = number_of(e.handle);
    if (!is_usual(number, e.index)) return stored{may_count(e.handle, e.index) && count(trouble_)};
    return stored{access_.store(regions_.regions[number], number, static_cast<std::uint32_t>(e.index), value) ||
                  overflowed(number)};
  }
  /// This is the loop's last iteration: no later one leaves a trace. What it stores counts if it commits, so that a
  /// body breaks by:  it.break_loop(); return gputm::commit;  If it cancels, the loop ends as well, without its stores.
  GPUTM_INLINE void break_loop() { last_ = true; }

  // ---- for engines -----------------------------------------------------------------------------
  GPUTM_INLINE bool last() const { return last_; }
  GPUTM_INLINE iteration_fault fault() const {
    if (is_on() || trouble_.state == progress::astray) return {};
    return trouble_.fault;
  }
  /// Runs the body for iteration `i` of the loop. Whether what it said can take effect.
  template <class Body>
  GPUTM_INLINE attempt_end run(const Body& body, std::uint64_t i) {
    static_assert(std::is_invocable_r_v<outcome, const Body&, iteration&, int>,
                  "a loop's body is called as body(it, i), with an int i, is const, and returns gputm::outcome");
    const outcome said = body(*this, static_cast<int>(i));
    if (is_on() && said == outcome::commit) return attempt_end::commit;
    if (is_on() && said == outcome::cancel) return attempt_end::cancel;
    if (is_on()) fail(trouble_, parts::fault::retry_in_loop);
    left_ = 0;
    return attempt_end::failed;
  }

 private:
  GPUTM_INLINE bool is_on() const { return left_ != 0; }
  /// Elements one by one, or some at once, but for the first ones.
  template <class Where, class Use>
  GPUTM_INLINE bool load_from(std::uint32_t first, std::uint32_t count, Where& where, Use& use) {
    using T = typename decltype(where(std::uint32_t{}))::value_type;
    return parts::load_each<T, parts::loads_at_once<Access, T>, true, parts::has_full_groups_only<Access>>(
        count, true, where, use,
        [this, &where](std::uint32_t k, std::uint32_t n, auto& value) { return this->load_some(where, k, n, value); },
        [this](element<T> e) { return this->load(e); }, first);
  }
  /// `n` elements of one array at once, if there is nothing special about any. The last one fills a group: it takes
  /// less time to load it several times than to go around that.
  template <class Where, class T, std::size_t N>
  GPUTM_INLINE parts::group_end load_some(Where& where, std::uint32_t first, std::uint32_t n, T (&value)[N]) {
    const std::uint32_t handle = where(first).handle, number = number_of(handle);
    const std::uint32_t length = regions_.regions[number % max_regions].length;
    bool usual = number < max_regions;
    std::uint32_t index[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const element<T> e = where(first + (i < n ? i : n - 1));
      index[i] = static_cast<std::uint32_t>(e.index);
      usual &= (e.handle == handle) & (e.index < length);
    }
    usual &= left_ > n;  // `where` may have loaded, too
    if (!usual || !access_.load_some(regions_.regions[number], number, index, n, value))
      return parts::group_end::not_tried;
    left_ -= n;
    return parts::group_end::loaded;
  }
  /// Apart, as all that hardly any access comes to: beside the rest it would be code to jump over.
  static GPUTM_NOINLINE bool fail(iteration_trouble& trouble, parts::fault kind, std::uint32_t region = 0,
                                  std::uint64_t a = 0, std::uint64_t b = 0) {
    trouble.state = progress::faulty;
    trouble.fault = {kind, region, a, b};
    return false;
  }
  /// Another write for which there is no room.
  static GPUTM_NOINLINE bool count(iteration_trouble& trouble) { return ++trouble.fault.a < count_at_most; }
  GPUTM_INLINE bool go_astray() {
    left_ = 0;
    trouble_.state = progress::astray;
    return false;
  }
  /// A load or store did not succeed. To the first iteration a full log of reads is none, so it is that of writes.
  GPUTM_INLINE bool overflowed(std::uint32_t number) {
    if (access_.overflow() == parts::overflow_kind::none || !access_.first()) return go_astray();
    begin_to_count(trouble_, number, access_.write_limit(), left_ - 1);
    left_ = 0;
    return true;
  }
  static GPUTM_NOINLINE void begin_to_count(iteration_trouble& trouble, std::uint32_t number, std::uint64_t limit,
                                            std::uint32_t left) {
    trouble.state = progress::counting;
    trouble.left = left;
    trouble.fault = {parts::fault::write_capacity, number, limit + 1, limit};
  }
  /// The number of an array of this memory; max_regions or more if the handle is another one's.
  GPUTM_INLINE std::uint32_t number_of(std::uint32_t handle) const { return handle - (regions_.memory << 8); }
  /// Counts an access. Whether there is nothing special about it: one test without branches, for nearly all of them.
  GPUTM_INLINE bool is_usual(std::uint32_t number, std::uint64_t index) {
    const std::uint32_t length = regions_.regions[number % max_regions].length;  // of some array at any rate
    const bool usual = (number < max_regions) & (index < length) & (left_ > 1);
    left_ -= usual;
    return usual;
  }
  /// Of one for which is_usual() was false: whether nothing is wrong with it, but the iteration runs on only to count.
  GPUTM_INLINE bool may_count(std::uint32_t handle, std::uint64_t index) {
    const bool was_on = is_on();
    left_ = 0;
    return may_count(regions_, trouble_, handle, index, longest_, was_on);
  }
  static GPUTM_NOINLINE bool may_count(const region_table& regions, iteration_trouble& trouble, std::uint32_t handle,
                                       std::uint64_t index, std::uint32_t longest, bool was_on) {
    const std::uint32_t number = handle - (regions.memory << 8);
    const std::uint32_t length = number < max_regions ? regions.regions[number].length : 0;
    if (!was_on) {  // beyond a full log only its size is of interest
      if (trouble.state != progress::counting) return false;
      if (index < length && trouble.left-- != 0) return true;
      trouble.state = progress::faulty;
      return false;
    }
    if (number >= max_regions) return fail(trouble, parts::fault::wrong_memory, 0, handle >> 8, regions.memory);
    if (index >= length) return fail(trouble, parts::fault::out_of_range, number, index, length);
    return fail(trouble, parts::fault::runaway, number, longest);
  }
};

}  // namespace gputm::speculation
