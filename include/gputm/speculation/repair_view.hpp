// Floor 3: how a repair of a window sees those positions that run in it: what each has come to, and whose deferred
// write an element's value is.
#pragma once

#include "gputm/parts/window_view.hpp"

namespace gputm::speculation {

/// `Waits`: one that has yet to run is worth another look; else it is as good as failed. Trivially copyable.
template <bool Waits>
class repair_view {
  const parts::window_view& view_;
  std::uint32_t tag_, repair_;

  static constexpr std::uint32_t at_once = 4;  // reads of a position that are looked at together
  // what a read tells whose source is unknown: window_view::unknown would not fit beside its key
  static constexpr std::uint32_t no_position = parts::writer_table::positions;

 public:
  /// Of the repair of this number, in the window of this tag.
  GPUTM_INLINE repair_view(const parts::window_view& view, std::uint32_t tag, std::uint32_t repair)
      : view_(view), tag_(tag), repair_(repair) {}

  /// What a position has come to. right: as an earlier pass left it; others run in this repair.
  enum class progress : std::uint8_t { right, pending, done, failed };
  GPUTM_INLINE progress of_status(const parts::position_status& s) const {
    if (!s.dirty && s.version < repair_) return progress::right;
    if (!Waits) return progress::failed;
    if (s.version != repair_) return progress::pending;
    return s.dirty ? progress::failed : progress::done;
  }
  /// What position `q` has come to; if it is done its log can be read from now on.
  GPUTM_INLINE progress of(std::uint32_t q) const {
    const progress its = of_status(view_.log(q).status(tag_));
    if (its == progress::done) view_.log(q).template acquire<simt::scope::device>();
    return its;
  }
  /// Whether position `q` is right, or done.
  GPUTM_INLINE bool has_run(std::uint32_t q) const {
    const progress its = of(q);
    return its == progress::right || its == progress::done;
  }
  /// What an iteration waits for.
  struct waiting {
    std::uint32_t reads = 0;                        ///< of it, that tell whose value they are to take
    std::uint32_t at = 0;                           ///< those below can
    std::uint32_t on = parts::window_view::memory;  ///< a position that has yet to run, as far as is known
    bool done = false, failed = false;              ///< one of the others is
  };
  /// The first one of several that is pending, or N; those above all positions are none. The loads overlap.
  template <std::size_t N>
  GPUTM_INLINE std::uint32_t first_pending(const std::uint32_t (&q)[N], waiting& w) const {
    parts::position_status s[N];
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k)
      s[k] = q[k] < no_position ? view_.log(q[k]).status(tag_) : parts::position_status{tag_};
    std::uint32_t first = N;
    GPUTM_UNROLL
    for (unsigned k = N; k-- > 0;) {
      const progress its = of_status(s[k]);
      first = its == progress::pending ? k : first;
      w.done |= its == progress::done;
      w.failed |= its == progress::failed;
    }
    return first;
  }
  /// Position `p`, of which find_sources() has noted that.
  GPUTM_INLINE waiting waits(std::uint32_t p) const {
    waiting w;
    w.reads = view_.log(p).read_count();
    return w;
  }
  /// Whether none of those whose values its reads are to take is pending; then their logs can be read from now on.
  GPUTM_INLINE bool is_ready(std::uint32_t p, waiting& w) const {
    if (w.on != parts::window_view::memory && of_status(view_.log(w.on).status(tag_)) == progress::pending)
      return false;
    GPUTM_NO_UNROLL
    while (w.at < w.reads) {
      std::uint64_t entry[at_once];
      view_.log(p).fetch_reads(w.at, entry);
      std::uint32_t source[at_once];
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        source[k] = w.at + k < w.reads ? parts::loop_log::source_of_read(entry[k]) : parts::window_view::memory;
      const std::uint32_t first = first_pending(source, w);
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        if (k == first) w.on = source[k];
      w.at += first;
      if (first != at_once) return false;
    }
    if (w.done) parts::loop_log::acquire<simt::scope::device>();
    return true;
  }
  /// The last writer of an element below position `p`, which `marked` tells the marks of: memory if there is none, or
  /// unknown. Exact, unless one that runs just now writes elsewhere than before.
  GPUTM_INLINE std::uint32_t source_of(std::uint64_t key, std::uint32_t p,
                                       const parts::writer_table::writers& marked) const {
    if (marked.first >= p) return parts::window_view::memory;
    // one that has yet to run may write it again
    const auto counts = [this, key](std::uint32_t q) { return !has_run(q) || view_.writes(q, key); };
    if (marked.last < p && (view_.marks_hold() || counts(marked.last))) return marked.last;
    return view_.listed_below(key, p, counts);
  }
  GPUTM_INLINE std::uint32_t source_of(std::uint64_t key, std::uint32_t p) const {
    return source_of(key, p, view_.table().writers_of(key));
  }

  /// Notes with each read of position `p`, which has run before, whose value it is to take in this repair, if it is
  /// still the same read then.
  GPUTM_INLINE void find_sources(std::uint32_t p) const {
    const parts::loop_log log = view_.log(p);
    const std::uint32_t count = log.read_count();
    GPUTM_NO_UNROLL
    for (std::uint32_t i = 0; i < count; i += at_once) {
      std::uint64_t entry[at_once];
      log.fetch_reads(i, entry);
      parts::writer_table::writers marked[at_once];
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        if (i + k < count) marked[k] = view_.table().writers_of(parts::loop_log::key_of_read(entry[k]));
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (i + k >= count) continue;
        const std::uint64_t key = parts::loop_log::key_of_read(entry[k]);
        const std::uint32_t source = source_of(key, p, marked[k]);
        log.set_read(i + k, key, source == parts::window_view::unknown ? no_position : source);
      }
    }
  }
};

}  // namespace gputm::speculation
