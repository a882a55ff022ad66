// Floor 3: one iteration as a body sees it, over any engine: the same load and store as a transaction's, and
// break_loop(). It checks handles and indices, and counts operations so that no iteration runs for ever.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/outcome.hpp"
#include "gputm/parts/abort_reason.hpp"
#include "gputm/parts/control.hpp"
#include "gputm/parts/element_ranges.hpp"
#include "gputm/parts/load_each.hpp"
#include "gputm/parts/loop_log.hpp"
#include "gputm/parts/loop_state.hpp"
#include "gputm/parts/region.hpp"
#include "gputm/parts/table_space.hpp"

namespace gputm::speculation {

/// What went wrong in an iteration. Only if all it has read is right it is the body's error.
struct iteration_fault {
  parts::fault kind = parts::fault::none;
  std::uint32_t region = 0;
  std::uint64_t a = 0, b = 0;
};

/// What one attempt at an iteration came to.
enum class attempt_end : std::uint8_t { commit, cancel, failed };

/// Access: how an engine loads and stores: load(region, number, index, out), store(region, number, index, value),
/// which return false when the attempt must end; overflow(), which log was full; write_limit(), the capacity for
/// writes. If it has loads_at_once, load_some(region, number, indices, outs) loads so many elements of one array at
/// once, or fewer if they are large; or it returns false if load() must do it.
template <class Access>
class iteration {
  /// counting: the log of writes was full; it runs on, only to count what it would need.
  enum class progress : std::uint32_t { on, counting, astray, faulty };

  Access& access_;
  const region_table& regions_;
  iteration_fault& fault_;  // an object of its own: this one lives in registers
  const std::uint32_t longest_;
  std::uint32_t operations_ = 0;
  progress state_ = progress::on;
  bool last_ = false;

  static constexpr std::uint64_t count_at_most = 1u << 20;

 public:
  /// `fault` is where fault() finds what went wrong. If nothing did, or nobody knows what, it keeps what another
  /// iteration of this thread has left there: they can share it.
  GPUTM_INLINE iteration(Access& access, const region_table& regions, std::uint32_t longest, iteration_fault& fault)
      : access_(access), regions_(regions), fault_(fault), longest_(longest) {}

  /// Reads an element as the iterations before this one leave it, or as this one has. Not ok if the attempt is over.
  template <class T>
  GPUTM_INLINE loaded<T> load(element<T> e) {
    loaded<T> out{};
    const std::uint32_t number = number_of(e.handle);
    const bool usual = is_usual(number, e.index);
    if (!usual && !may_count(e.handle, e.index)) return out;
    out.ok = access_.load(regions_.regions[number], number, e.index, out.value) ||
             (usual ? overflowed(number) : go_astray());  // to count on it would have to know this one
    return out;
  }
  /// Reads the elements where(0) to where(count - 1), and calls use(k, value) for each, in that order. As many calls of
  /// load() would do the same; but several elements take the latency of one. So `where`, which may be asked several
  /// times, goes by k alone, not by what `use` has got, and `use` stores to none of them. Not ok if the attempt is
  /// over: some values have been used then, so `use` changes only what the body keeps.
  template <class Where, class Use>
  GPUTM_INLINE loaded_each load_each(std::uint32_t count, Where where, Use use) {
    using T = typename decltype(where(std::uint32_t{}))::value_type;
    const bool ok = parts::load_each<T, parts::loads_at_once<Access, T>, true>(
        count, true, where, use, [this, &where](std::uint32_t k, auto& value) { return load_some(where, k, value); },
        [this](element<T> e) { return load(e); });
    return loaded_each{ok};
  }
  /// Writes an element for the iterations after this one.
  template <class T>
  GPUTM_INLINE stored store(element<T> e, const std::type_identity_t<T>& value) {
    const std::uint32_t number = number_of(e.handle);
    if (!is_usual(number, e.index)) return stored{may_count(e.handle, e.index) && count()};
    return stored{access_.store(regions_.regions[number], number, e.index, value) || overflowed(number)};
  }
  /// This is the loop's last iteration: once it commits, no later one leaves a trace. What it stores counts, so that
  /// a body breaks by:  it.break_loop(); return gputm::commit;
  GPUTM_INLINE void break_loop() { last_ = true; }

  // ---- for engines -----------------------------------------------------------------------------
  GPUTM_INLINE bool last() const { return last_; }
  GPUTM_INLINE iteration_fault fault() const {
    if (state_ != progress::counting && state_ != progress::faulty) return {};
    return fault_;
  }
  /// Runs the body for iteration `i` of the loop. Whether what it said can take effect.
  template <class Body>
  GPUTM_INLINE attempt_end run(const Body& body, std::uint64_t i) {
    static_assert(std::is_invocable_r_v<outcome, const Body&, iteration&, int>,
                  "a loop's body is called as body(it, i), with an int i, is const, and returns gputm::outcome");
    const outcome said = body(*this, static_cast<int>(i));
    if (state_ == progress::on && said == outcome::commit) return attempt_end::commit;
    if (state_ == progress::on && said == outcome::cancel) return attempt_end::cancel;
    if (state_ == progress::on) fail(parts::fault::retry_in_loop);
    return attempt_end::failed;
  }

 private:
  GPUTM_INLINE bool counting() const { return state_ == progress::counting; }
  /// N elements of one array at once, if there is nothing special about any.
  template <class Where, class T, std::size_t N>
  GPUTM_INLINE parts::group_end load_some(Where& where, std::uint32_t first, T (&value)[N]) {
    const std::uint32_t handle = where(first).handle, number = number_of(handle);
    const std::uint32_t length = regions_.regions[number % max_regions].length;
    bool usual = number < max_regions;
    std::uint32_t index[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const element<T> e = where(first + i);
      index[i] = e.index;
      usual &= (e.handle == handle) & (e.index < length);
    }
    usual &= (state_ == progress::on) & (std::uint64_t{operations_} + N <= longest_);  // `where` may have loaded, too
    if (!usual || !access_.load_some(regions_.regions[number], number, index, value))
      return parts::group_end::not_tried;
    operations_ += N;
    return parts::group_end::loaded;
  }
  GPUTM_INLINE void note(parts::fault kind, std::uint32_t region, std::uint64_t a, std::uint64_t b) {
    fault_ = {kind, region, a, b};
    simt::keep_in_memory(fault_);  // in registers every access that goes well would carry it along
  }
  GPUTM_INLINE bool fail(parts::fault kind, std::uint32_t region = 0, std::uint64_t a = 0, std::uint64_t b = 0) {
    if (!counting()) note(kind, region, a, b);  // beyond a full log only its size is of interest
    state_ = progress::faulty;
    return false;
  }
  /// Another write for which there is no room.
  GPUTM_INLINE bool count() {
    const std::uint64_t needed = fault_.a + 1;
    fault_.a = needed;
    return needed < count_at_most;
  }
  /// The attempt is over, and nobody knows whose fault it is: it runs again, if need be where nothing runs beside it.
  GPUTM_INLINE bool go_astray() {
    state_ = progress::astray;
    return false;
  }
  /// A load or store did not succeed. The first iteration has no log of reads, so it is that of writes which is full.
  GPUTM_INLINE bool overflowed(std::uint32_t number) {
    if (access_.overflow() == parts::overflow_kind::none || !access_.first()) return go_astray();
    const std::uint64_t limit = access_.write_limit();
    note(parts::fault::write_capacity, number, limit + 1, limit);
    state_ = progress::counting;
    return true;
  }
  /// The number of an array of this memory; max_regions or more if the handle is another one's.
  GPUTM_INLINE std::uint32_t number_of(std::uint32_t handle) const { return handle - (regions_.memory << 8); }
  /// Counts an access. Whether there is nothing special about it: one test without branches, for nearly all of them.
  GPUTM_INLINE bool is_usual(std::uint32_t number, std::uint32_t index) {
    const std::uint32_t length = regions_.regions[number % max_regions].length;  // of some array at any rate
    return (state_ == progress::on) & (number < max_regions) & (index < length) & (++operations_ <= longest_);
  }
  /// Of one for which is_usual() was false: whether nothing is wrong with it, but the iteration runs on only to count.
  GPUTM_INLINE bool may_count(std::uint32_t handle, std::uint32_t index) {
    if (state_ == progress::astray || state_ == progress::faulty) return false;
    const std::uint32_t number = number_of(handle);
    if (number >= max_regions) return fail(parts::fault::wrong_memory, 0, handle >> 8, regions_.memory);
    const std::uint32_t length = regions_.regions[number].length;
    if (index >= length) return fail(parts::fault::out_of_range, number, index, length);
    if (operations_ > longest_) return fail(parts::fault::runaway, number, longest_);
    return true;
  }
};

/// What the threads of a speculative loop get. Trivially copyable; lives in the kernel's parameters.
struct loop_environment {
  region_table regions;
  parts::control* control;
  parts::loop_state* state;
  parts::table_space table;
  parts::loop_log_space logs;
  parts::element_ranges ranges;
  parts::loop_limits limits;
};

}  // namespace gputm::speculation
