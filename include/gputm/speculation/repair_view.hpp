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
  static constexpr std::uint32_t no_position = parts::writer_table::none;

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
  /// The same of one that was done, as its status has told: a load takes less time than a fence.
  GPUTM_INLINE progress acquire(std::uint32_t q) const { return of_status(view_.log(q).acquire_status(tag_)); }
  /// Whether position `q` is right, or done.
  GPUTM_INLINE bool has_run(std::uint32_t q) const { return has_run(of(q)); }
  static GPUTM_INLINE bool has_run(progress its) { return its == progress::right || its == progress::done; }
  /// What an iteration waits for.
  struct waiting {
    std::uint32_t reads = 0;        ///< of it, that tell whose value they are to take
    std::uint32_t at = 0;           ///< those below can
    std::uint32_t source[at_once];  ///< of the next ones, as far as they cannot yet; else no position
    bool done = false;              ///< one of the others has run in this repair
    bool failed = false;            ///< one has come to nothing
  };
  /// Position `p`, of which find_sources() has noted that.
  GPUTM_INLINE waiting waits(std::uint32_t p) const {
    waiting w;
    w.reads = view_.log(p).read_count();
    next_sources(p, w);
    return w;
  }
  /// An iteration that was ready has found that it needs the value of `q`.
  static GPUTM_INLINE void wait_for(std::uint32_t q, waiting& w) { w.source[0] = q; }
  /// Whether none of those whose values the reads of position `p` are to take is pending; then their logs can be read
  /// from now on.
  GPUTM_INLINE bool is_ready(std::uint32_t p, waiting& w) const {
    GPUTM_NO_UNROLL
    for (;;) {
      parts::position_status s[at_once];
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k)
        s[k] = w.source[k] < no_position ? view_.log(w.source[k]).status(tag_) : parts::position_status{tag_};
      bool pending = false;
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        const progress its = of_status(s[k]);
        w.done |= its == progress::done;
        w.failed |= its == progress::failed;
        if (its == progress::pending)
          pending = true;
        else
          w.source[k] = no_position;
      }
      if (pending) return false;
      w.at += at_once;
      if (w.at >= w.reads) break;
      next_sources(p, w);
    }
    if (w.done) parts::loop_log::acquire<simt::scope::device>();
    return true;
  }
  /// The last writer of an element below position `p`: memory if there is none, or unknown. Exact, unless one that runs
  /// just now writes elsewhere than before.
  GPUTM_INLINE std::uint32_t source_of(std::uint64_t key, std::uint32_t p) const {
    const parts::writer_table::writers marked = view_.table().writers_of(key);
    if (marked.first >= p) return parts::window_view::memory;
    if (marked.last < p && (view_.marks_hold() || counts(marked.last, key))) return marked.last;
    return view_.listed_below(key, p, [this, key](std::uint32_t q) { return counts(q, key); });
  }

  /// Notes with each read of position `p`, which has run before, whose value it is to take in this repair, if it is
  /// still the same read then.
  GPUTM_INLINE void find_sources(std::uint32_t p) const {
    const parts::loop_log log = view_.log(p);
    const std::uint32_t count = log.read_count();
    GPUTM_NO_UNROLL
    for (std::uint32_t i = 0; i < count; i += at_once) {
      std::uint64_t key[at_once];
      log.fetch_reads(i, key);
      std::uint32_t source[at_once];
      bool listed[at_once];
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) key[k] = parts::loop_log::key_of_read(key[k]);
      find_marked(key, count - i, p, source, listed);
      parts::window_view::write in_list[at_once];
      find_listed(key, listed, p, in_list);
      GPUTM_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (i + k >= count) continue;
        if (listed[k]) source[k] = in_list[k].position;
        log.set_read(i + k, key[k], source[k] == parts::window_view::unknown ? no_position : source[k],
                     listed[k] ? in_list[k].entry : parts::loop_log::none);
      }
    }
  }

 private:
  /// The sources of its reads from number w.at on.
  GPUTM_INLINE void next_sources(std::uint32_t p, waiting& w) const {
    std::uint64_t entry[at_once];
    view_.log(p).fetch_reads(w.at, entry);
    GPUTM_UNROLL
    for (unsigned k = 0; k < at_once; ++k)
      w.source[k] = w.at + k < w.reads ? parts::loop_log::source_of_read(entry[k]) : no_position;
  }
  /// As source_of(), for the first `n` of several elements; `listed`: lists have to tell it. The loads overlap.
  template <std::size_t N>
  GPUTM_INLINE void find_marked(const std::uint64_t (&key)[N], std::uint32_t n, std::uint32_t p,
                                std::uint32_t (&source)[N], bool (&listed)[N]) const {
    parts::writer_table::writers marked[N];
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) {
      if (k < n)
        marked[k] = view_.table().writers_of(key[k]);
      else
        marked[k] = {no_position, no_position};
    }
    GPUTM_UNROLL
    for (unsigned k = 0; k < N; ++k) {
      source[k] = marked[k].first >= p ? parts::window_view::memory : marked[k].last;
      listed[k] =
          marked[k].first < p && (marked[k].last >= p || !(view_.marks_hold() || counts(marked[k].last, key[k])));
    }
  }
  /// Those that lists tell.
  template <std::size_t N>
  GPUTM_INLINE void find_listed(const std::uint64_t (&key)[N], const bool (&listed)[N], std::uint32_t p,
                                parts::window_view::write (&found)[N]) const {
    parts::position_status s[N];
    const auto look = [this, &s](const std::uint32_t(&q)[N], const bool(&asked)[N]) {
      GPUTM_UNROLL
      for (unsigned k = 0; k < N; ++k) s[k] = asked[k] ? view_.log(q[k]).status(tag_) : parts::position_status{tag_};
    };
    const auto is_source = [this, &s, &key](unsigned k, std::uint32_t q) {
      const progress its = of_status(s[k]);
      if (its == progress::pending || its == progress::failed) return true;
      if (its == progress::right && view_.marks_hold()) return true;  // it has not run since it was listed
      if (its == progress::done) parts::loop_log::acquire<simt::scope::device>();
      return view_.writes(q, key[k]);
    };
    view_.listed_below(key, listed, p, look, is_source, found);
  }
  /// Whether position `q`, which has marked the element, is going to write it, or has: one that has yet to run may.
  GPUTM_INLINE bool counts(std::uint32_t q, std::uint64_t key) const { return !has_run(q) || view_.writes(q, key); }
};

}  // namespace gputm::speculation
