// Floor 3: iterations one after another on one thread: the meaning of a loop. Each one's writes are deferred to its
// end, so that one that cancels or fails leaves no trace.
#pragma once

#include "gputm/parts/write_buffer.hpp"
#include "gputm/speculation/iteration.hpp"
#include "gputm/speculation/loop_environment.hpp"

namespace gputm::speculation {

/// Access of an iteration that nothing else runs beside.
class serial_access {
  parts::write_buffer writes_;
  const parts::element_ranges& ranges_;
  const std::uint32_t offset_;  // of these
  std::uint32_t stored_ = 0;
  parts::overflow_kind overflow_ = parts::overflow_kind::none;

 public:
  GPUTM_INLINE serial_access(const parts::loop_log_space& logs, const parts::element_ranges& ranges,
                             std::uint32_t offset)
      : writes_(parts::loop_log(logs, 0)), ranges_(ranges), offset_(offset) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    if (!writes_.read(parts::element_key(number, index), out)) out = parts::read_element<T>(r, index);
    return true;
  }
  static constexpr unsigned loads_at_once = 8;
  template <class T, std::size_t N>
  GPUTM_INLINE bool load_some(const region& r, std::uint32_t number, const std::uint32_t (&index)[N], std::uint32_t,
                              T (&out)[N]) {
    if (writes_.perhaps_any(number, index)) return false;
    parts::read_elements(r, index, out);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region&, std::uint32_t number, std::uint32_t index, const T& value) {
    const std::uint64_t key = parts::element_key(number, index);
    if (writes_.rewrite(key, value)) return true;
    if (writes_.full()) {
      overflow_ = parts::overflow_kind::writes;
      return false;
    }
    writes_.add(key, value);
    stored_ |= ranges_.of(number, index, offset_);
    return true;
  }
  GPUTM_INLINE void begin() { writes_.clear(); }
  GPUTM_INLINE void write_back(const region_table& regions) const { writes_.write_back(regions); }
  /// Ranges that iterations so far have stored to.
  GPUTM_INLINE std::uint32_t stored() const { return stored_; }
  GPUTM_INLINE parts::overflow_kind overflow() const { return overflow_; }
  GPUTM_INLINE std::uint64_t write_limit() const { return writes_.log().write_capacity(); }
  GPUTM_INLINE static constexpr bool first() { return true; }
};

struct serial_end {
  std::uint64_t done = 0;    ///< iterations
  std::uint32_t stored = 0;  ///< ranges that they have stored to
  bool over = false;         ///< the loop has been ended, by its body or by an error
};

struct to_the_end {
  GPUTM_INLINE constexpr bool operator()(std::uint64_t) const { return false; }
};

/// Runs iterations [base, base + count), as long as not stop(done) after `done` of them. `offset`: of the ranges that
/// serial_end tells of.
template <class Body, class Stop = to_the_end>
GPUTM_INLINE serial_end run_one_by_one(const loop_environment& env, const Body& body, std::uint64_t base,
                                       std::uint64_t count, std::uint32_t offset = 0, const Stop& stop = {}) {
  serial_end end;
  serial_access access(env.logs, env.ranges, offset);
  iteration_trouble trouble;
  GPUTM_NO_UNROLL
  for (; end.done < count && !end.over && !stop(end.done); ++end.done) {
    access.begin();
    iteration<serial_access> it(access, env.regions, env.limits.operations, trouble);
    const attempt_end how = it.run(body, base + end.done);
    if (how == attempt_end::failed) {
      const iteration_fault f = it.fault();
      parts::report_fault(*env.control, f.kind, f.region, f.a, f.b, loop_of<Body>::iteration(body, base + end.done));
      end.over = true;
      break;
    }
    if (how == attempt_end::commit) access.write_back(env.regions);
    end.over = it.last();
    simt::progress();
  }
  end.stored = access.stored();
  return end;
}

}  // namespace gputm::speculation
