// Floor 2: iterations of a speculative loop that one thread runs in order, a stretch of them, where windows commit
// hardly more than that, or take longer.
#pragma once

#include "gputm/parts/loop_report.hpp"

namespace gputm::parts {

/// The functions of serial sections, unless they say otherwise.
class stretch_plan {
  loop_state& s_;
  const loop_limits& limits_;

  static constexpr std::uint32_t few = 8, some = 32, many = 64, plenty = 1024;  // commits of a window

 public:
  GPUTM_INLINE stretch_plan(loop_state& s, const loop_limits& limits) : s_(s), limits_(limits) {}

  /// The next one is short again, and has so many iterations.
  GPUTM_INLINE std::uint32_t restart() const {
    put_word(s_.next_stretch, some);
    return some;
  }
  /// How many iterations one thread should run first, since a window commits hardly more, runs far more than that, or
  /// takes longer.
  GPUTM_INLINE std::uint32_t next(const loop_report& r) const {
    const std::uint32_t commits = r.w.commits;
    if (!limits_.adapt || limits_.stretch == 0) return commits == 0;  // the window's first iteration must get through
    const bool untimed = r.began == 0;  // else the clock tells more than the number of runs
    const bool in_vain = untimed && commits < many && r.ran > 3 * commits;
    const bool failed = in_vain || (commits < few && commits != r.w.size);
    put_word(s_.rival_commits, 0);
    if (!failed && !loses_to_one_thread(r)) {
      if (commits >= (limits_.timed ? few : some)) restart();
      return 0;
    }
    put_word(s_.next_stretch, at_most(std::uint64_t{r.next_stretch} * 2, limits_.stretch));
    return at_most(r.next_stretch, limits_.stretch);
  }
  // Thread 0 calls these three, before the barrier: others still read the window.
  GPUTM_INLINE void begin() const {
    if (limits_.timed) simt::plain_store(s_.began, simt::nanoseconds());
  }
  /// Whether the stretch should end after `done` iterations, since windows are faster. It may begin slowly.
  GPUTM_INLINE bool is_beaten(std::uint64_t done) const {
    if (!limits_.timed || done == 0 || ((done & (done - 1)) != 0 && done % some != 0)) return false;
    const std::uint64_t commits = simt::plain_load(s_.rival_commits);
    const std::uint64_t ns = simt::nanoseconds() - simt::plain_load(s_.began);
    return ns * commits > (done + commits / 4) * simt::plain_load(s_.rival_ns);
  }
  GPUTM_INLINE void note(std::uint32_t done, bool over) const {
    put_word(s_.stretched, done);
    put_word(s_.stretch_over, over);
  }

 private:
  /// Whether one thread would have been faster than a window that has not gone smoothly. While nobody knows, it is
  /// taken to be, so that it is tried; and its time counts less with every such window, so that it is tried again.
  GPUTM_INLINE bool loses_to_one_thread(const loop_report& r) const {
    const std::uint32_t commits = r.w.commits;
    const bool smooth = commits == r.w.size && r.w.cut == 0 && r.troubled.all == 0;
    const std::uint64_t ns = r.stretch_ns;
    if (r.began == 0 || smooth || (commits >= plenty && ns == 0)) return false;  // for so many one thread is not tried
    const std::uint64_t took = simt::nanoseconds() - r.began;
    simt::plain_store(s_.stretch_ns, ns - ns / 16);
    simt::plain_store(s_.rival_ns, took);
    put_word(s_.rival_commits, commits);
    return ns == 0 || took * r.stretched >= ns * commits;
  }
};

}  // namespace gputm::parts
