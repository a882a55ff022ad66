// Floor 3: one iteration as a body sees it, over any engine: the same load and store as a transaction's, and
// break_loop(). It checks handles and indices, and counts operations so that no iteration runs for ever.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gputm/outcome.hpp"
#include "gputm/parts/abort_reason.hpp"
#include "gputm/parts/control.hpp"
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
/// writes.
template <class Access>
class iteration {
  Access& access_;
  const region_table& regions_;
  const std::uint64_t longest_;
  std::uint64_t operations_ = 0;
  iteration_fault fault_;
  bool failed_ = false, last_ = false;

  static constexpr std::uint64_t count_at_most = 1u << 20;

 public:
  GPUTM_INLINE iteration(Access& access, const region_table& regions, std::uint64_t longest)
      : access_(access), regions_(regions), longest_(longest) {}

  /// Reads an element as the iterations before this one leave it, or as this one has. Not ok if the attempt is over.
  template <class T>
  GPUTM_INLINE loaded<T> load(element<T> e) {
    loaded<T> out{};
    const region* r = locate<T>(e);
    if (!r) return out;
    const std::uint32_t number = e.handle & 255u;
    out.ok = access_.load(*r, number, e.index, out.value) || (counting() ? cannot_count() : overflowed(e.handle));
    return out;
  }
  /// Writes an element for the iterations after this one.
  template <class T>
  GPUTM_INLINE stored store(element<T> e, const std::type_identity_t<T>& value) {
    const region* r = locate<T>(e);
    if (!r) return stored{false};
    if (counting()) return stored{++fault_.a < count_at_most};
    return stored{access_.store(*r, e.handle & 255u, e.index, value) || overflowed(e.handle)};
  }
  /// This is the loop's last iteration: once it commits, no later one leaves a trace. What it stores counts, so that
  /// a body breaks by:  it.break_loop(); return gputm::commit;
  GPUTM_INLINE void break_loop() { last_ = true; }

  // ---- for engines -----------------------------------------------------------------------------
  GPUTM_INLINE bool last() const { return last_; }
  GPUTM_INLINE const iteration_fault& fault() const { return fault_; }
  /// Whether what the body said can take effect.
  GPUTM_INLINE attempt_end settle(outcome said) {
    if (!failed_ && fault_.kind == parts::fault::none && said != outcome::commit && said != outcome::cancel)
      fail({parts::fault::retry_in_loop});
    if (failed_ || fault_.kind != parts::fault::none) return attempt_end::failed;
    return said == outcome::commit ? attempt_end::commit : attempt_end::cancel;
  }

 private:
  GPUTM_INLINE bool fail(const iteration_fault& f) {
    if (!counting()) fault_ = f;  // beyond a full log only its size is of interest
    failed_ = true;
    return false;
  }
  /// After an overflow the first iteration of a window runs on, only to count what it would need.
  GPUTM_INLINE bool counting() const { return fault_.kind == parts::fault::write_capacity; }
  /// What it must know to count on is another iteration's for now: it runs again, where nothing runs beside it.
  GPUTM_INLINE bool cannot_count() {
    fault_ = {};
    failed_ = true;
    return false;
  }
  /// A load or store did not succeed. The first iteration has no log of reads, so it is that of writes which is full.
  GPUTM_INLINE bool overflowed(std::uint32_t handle) {
    const bool overflow = access_.overflow() != parts::overflow_kind::none;
    failed_ = !overflow || !access_.first();
    if (failed_) return false;
    const std::uint64_t limit = access_.write_limit();
    fault_ = {parts::fault::write_capacity, handle & 255u, limit + 1, limit};
    return true;
  }
  template <class T>
  GPUTM_INLINE const region* locate(element<T> e) {
    if (failed_) return nullptr;
    const std::uint32_t k = e.handle & 255u;
    if (e.handle >> 8 != regions_.memory || k >= max_regions) {
      fail({parts::fault::wrong_memory, 0, e.handle >> 8, regions_.memory});
      return nullptr;
    }
    const region& r = regions_.regions[k];
    if (e.index >= r.length) {
      fail({parts::fault::out_of_range, k, e.index, r.length});
      return nullptr;
    }
    if (++operations_ > longest_) {
      fail({parts::fault::runaway, k, longest_, 0});
      return nullptr;
    }
    return &r;
  }
};

/// What the threads of a speculative loop get. Trivially copyable; lives in the kernel's parameters.
struct loop_environment {
  region_table regions;
  parts::control* control;
  parts::loop_state* state;
  parts::table_space table;
  parts::loop_log_space logs;
  parts::loop_limits limits;
};

}  // namespace gputm::speculation
