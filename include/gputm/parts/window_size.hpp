// Floor 2: how large the windows of a speculative loop are: as large as violations let them be.
#pragma once

#include "gputm/parts/loop_report.hpp"

namespace gputm::parts {

class window_size {
  const loop_limits& limits_;

  static constexpr std::uint32_t few_again = 32;  // one iteration in so many

 public:
  GPUTM_INLINE explicit window_size(const loop_limits& limits) : limits_(limits) {}

  /// Whether few of a window's iterations have run more than once. It means nothing if positions have been given up.
  static GPUTM_INLINE bool hardly_again(const loop_report& r) {
    return !are_many(r.ran - std::uint64_t{r.w.size}, r.w.size);
  }
  static GPUTM_INLINE bool are_many(std::uint64_t again, std::uint32_t size) { return again * few_again >= size; }
  /// Whether a window is dense (repair_view) if that many of it are to run again.
  static GPUTM_INLINE bool is_dense(const loop_report& r, std::uint32_t again, std::uint32_t size) {
    return are_many(again, size) && r.found.has(loop_findings::several);
  }
  /// The size of the window after that of `r`.
  GPUTM_INLINE std::uint32_t next(const loop_report& r) const {
    if (!limits_.adapt) return limits_.window;
    const std::uint32_t commits = r.w.commits;
    const bool whole = (commits == r.w.size && r.w.cut == 0) || r.w.is_given_up();
    if (whole && r.troubled.all != 0 && r.troubled.reach_far() && limits_.most_again != 0) {
      const std::uint64_t most = std::uint64_t{limits_.most_again} * (r.w.is_dense() ? 4 : 1);
      if (most < 16 * std::uint64_t{r.troubled.all}) return in_bounds(best_size(r.w.size, r.troubled.all, most));
    }
    const bool clean = r.troubled.all == 0, ended_by_log = r.too_long == commits;  // which tells nothing of violations
    const unsigned growth = commits != r.w.size || (r.w.cut != 0 && (clean || ended_by_log)) ? 4
                            : clean                                                          ? 16
                            : r.w.cut != 0                                                   ? 1
                            : hardly_again(r)                                                ? 4
                                                                                             : 2;
    return in_bounds(std::uint64_t{commits} * growth);
  }
  /// Whether the window had better be given up, for a shorter one. Dense ones gain nothing by it.
  GPUTM_INLINE bool is_much_too_long(const loop_report& r) const {
    const std::uint32_t again = r.dirty.all;
    const bool may = limits_.adapt && limits_.repairs != 0 && r.failed == 0 && r.w.size / 4 >= limits_.smallest;
    const bool is = again / 4 >= limits_.most_again && limits_.most_again != 0 && r.dirty.reach_far();
    return may && is && !is_dense(r, again, r.w.size);
  }

 private:
  /// The size of the window after one of `size`, in which `again` iterations, that depend on others far before them,
  /// had to run again: in one twice as long four times as many have to. To run them takes more time in the end than
  /// longer windows save. Those of a dense one run in less time, and do not keep each other waiting. Apart: hardly any
  /// loop comes to it.
  static GPUTM_NOINLINE std::uint64_t best_size(std::uint32_t size, std::uint64_t again, std::uint64_t most) {
    constexpr std::uint32_t part = 8, least = part / 4, longest = 4 * part;
    std::uint32_t parts = least;  // of a size, of which the square is to be most / again
    GPUTM_NO_UNROLL
    while (parts < longest && again * parts * parts < most * part * part) ++parts;
    return std::uint64_t{size} * parts / part;
  }
  GPUTM_INLINE std::uint32_t in_bounds(std::uint64_t size) const {
    const std::uint32_t most = at_most(size, limits_.window);
    return most < limits_.smallest ? limits_.smallest : most;
  }
};

}  // namespace gputm::parts
