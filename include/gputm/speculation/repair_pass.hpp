// Floor 3: a pass that runs those positions of a window again that are in violation: each thread its own, or the lanes
// of a warp each other's, or all warps what is due anywhere.
#pragma once

#include "gputm/parts/position_dealer.hpp"
#include "gputm/speculation/iteration_pass.hpp"

namespace gputm::speculation {

/// One thread's part of it.
template <class Options, class Body>
class repair_pass : protected iteration_pass<Options, Body> {
  using order = simt::order;
  using base = iteration_pass<Options, Body>;

 protected:
  using base::body_, base::env_, base::log, base::view_, base::w_;
  using base::first_turn, base::position;
  using typename base::shared_run, typename base::pass_result, typename base::positions;

  /// Runs again what is left in violation. If lanes share that, all of them do, or none.
  GPUTM_INLINE void repair(positions& those, pass_result& f) {
    those.due = those.left;
    those.left = {};
    const bool due = spread_repairs() || any_is_due(those.due);
    if (!(share_repairs() ? simt::any(simt::full_mask, due) : due)) return;
    if (spread_repairs()) {
      if constexpr (Options::forwarding) f = execute_due<pass::spread>(env_, body_, &those);
    } else if (is_dense()) {
      if constexpr (Options::forwarding) f = execute_due<pass::dense>(env_, body_, &those);
    } else {
      f = execute_due<pass::repair>(env_, body_, &those);
    }
    // relaxed: read behind the phase
    if (f.failed != 0)
      simt::atomic(env_.state->dirty).fetch_add(parts::dirty_count{f.failed, 0}.word(), order::relaxed);
  }

  /// Lists what those positions have written that write to elements with several writers: of all others marks tell
  /// enough. Lists are complete behind the next barrier, until a repair writes elsewhere.
  static GPUTM_NOINLINE void list_contested(parts::loop_log_space logs, parts::writer_table table, std::uint32_t size,
                                            std::uint32_t lists) {
    const parts::window_view view(logs, table, lists);
    table.for_each_contested(size, table.contested_below(size), [&view](std::uint32_t p) {
      const parts::loop_log log = view.log(p);
      for (std::uint32_t i = 0, n = log.write_count(); i < n; ++i) view.list(log.write_key(i), p, i);
    });
  }

 public:
  using base::base;

 private:
  GPUTM_INLINE bool is_dirty(std::uint32_t p) const { return log(p).status(w_.tag).dirty; }
  /// Whether `p`, whose turn is in the set of those that are due, is: the set is exact for the first turns; for later
  /// ones its status tells.
  GPUTM_INLINE bool is_due(std::uint32_t turn, std::uint32_t p) const {
    return turn < parts::position_set::turns || is_dirty(p);
  }

  /// Whether the lanes of a warp can share what is due in a repair: all of them are there, and sets are exact.
  GPUTM_INLINE bool may_share_repairs() const {
    return simt::is_full_warp() && w_.size <= parts::position_set::turns * simt::grid_threads();
  }
  /// Whether they do: if some may have more of it than others.
  GPUTM_INLINE bool share_repairs() const {
    return is_dense() || (may_share_repairs() && w_.size > simt::grid_threads());
  }
  /// Whether positions that are due are dealt out to all warps, one by one. Long iterations often are near to each
  /// other; those of one warp would go one after another, since each has its own way, and wait for each other besides.
  GPUTM_INLINE bool spread_repairs() const {
    return Options::forwarding && w_.is_spread() && simt::block_size() % simt::warp_width() == 0;
  }
  /// Whether it is known beforehand whose values those take that are due.
  GPUTM_INLINE bool is_dense() const { return Options::forwarding && w_.is_dense() && may_share_repairs(); }
  /// Whether any position is due, in repairs few are.
  GPUTM_INLINE bool any_is_due(const parts::position_set& due) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = due.next(first_turn()), p; (p = position(turn)) < w_.size; turn = due.next(turn + 1))
      if (is_due(turn, p)) return true;
    return false;
  }
  /// Those that are due. Apart, as execute_warily().
  template <pass Kind>
  static GPUTM_NOINLINE pass_result execute_due(const loop_environment& env, const Body& body, positions* those) {
    repair_pass self(env, body, parts::current_window(*env.state));
    self.see_window();
    self.know_writers();
    return self.template execute_due<Kind>(those);
  }
  template <pass Kind>
  GPUTM_INLINE pass_result execute_due(positions* those) {
    pass_result f;
    parts::writer_marker marker(view_.table(), false);  // others look for marks meanwhile
    iteration_trouble trouble;
    if constexpr (Kind == pass::dense)
      execute_dense(marker, f, trouble, those);
    else if constexpr (Kind == pass::spread)
      execute_spread(marker, f, trouble, those);
    else if (share_repairs())
      execute_shared(marker, f, trouble, those);
    else
      execute_own(marker, f, trouble, those);
    if (marker.several())
      f.found.flags |= parts::loop_findings::several | parts::loop_findings::unlisted;  // nobody has listed these two
    return f;
  }
  /// Each lane goes straight to its next position.
  GPUTM_INLINE void execute_own(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                positions* those) {
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = those->due.next(first_turn()), p; (p = position(turn)) < w_.size;) {
      const std::uint32_t its = turn, before = f.failed;
      if (is_due(turn, p)) this->template execute<pass::repair>(p, marker, f, trouble, those);
      turn = those->due.next(turn + 1);
      those->left.put(its, f.failed != before);
    }
  }
  /// Whose values the positions of this thread are to take that are due, before any of its warp runs. Apart: what
  /// repairs hold in registers would not fit beside it.
  static GPUTM_NOINLINE void find_sources(parts::window_view view, parts::position_set due, std::uint32_t from,
                                          std::uint32_t size, std::uint32_t tag, std::uint32_t repair) {
    const repair_view<true> others(view, tag, repair);
    GPUTM_NO_UNROLL
    for (std::uint32_t turn = due.next(from), p; (p = position(turn)) < size; turn = due.next(turn + 1))
      others.find_sources(p);
  }
  /// Those of the lanes' positions that have failed in a repair, `failed` being this lane's, are left for the next one.
  static GPUTM_INLINE void leave(bool failed, const parts::position_dealer::dealt& its, positions* those) {
    GPUTM_NO_UNROLL
    for (simt::mask_t m = simt::ballot(simt::full_mask, failed); m != 0; m &= m - 1) {
      const std::uint32_t which = simt::lowest(m), owner = simt::shfl(simt::full_mask, its.owner, which);
      const std::uint32_t turn = simt::shfl(simt::full_mask, its.turn, which);
      if (simt::lane() == owner) those->left.put(turn, true);
    }
  }
  /// The positions due of a warp, one for each lane at a time, whoever has them.
  GPUTM_INLINE void execute_shared(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                   positions* those) {
    parts::position_dealer dealer(those->due, first_turn(), w_.size);
    parts::position_dealer::dealt its;
    GPUTM_NO_UNROLL
    for (;;) {
      const bool has_one = dealer.deal(true, its);
      if (!simt::any(simt::full_mask, has_one)) break;
      const std::uint32_t before = f.failed;
      if (has_one) this->template execute<pass::repair>(its.position(), marker, f, trouble, those);
      leave(f.failed != before, its, those);
    }
  }
  /// Those that are due, as their statuses tell, of positions as many apart as the grid has warps.
  GPUTM_INLINE void execute_spread(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                   positions* those) {
    const std::uint32_t threads = simt::grid_threads(), warps = threads / simt::warp_width();
    const std::uint32_t step = warps * 5 / 8 | 1;
    std::uint32_t p =
        simt::lane() * warps + (simt::grid_thread_rank() / simt::warp_width() + simt::lane() * step) % warps;
    std::uint32_t awaited = view_.memory;
    joint_turn turn{env_.joint};
    const auto find_next = [&] {
      GPUTM_NO_UNROLL
      for (; p < w_.size; p += threads) {
        if (p < w_.from) continue;
        const parts::position_status s = log(p).status(w_.tag);
        if (!s.dirty) continue;
        // behind the first repair marks may be others
        turn.rows.count = 0;
        if (w_.repair == 1 && s.version == 0 && s.value != 0) turn.begin_repair(s.value - 1);
        break;
      }
    };
    find_next();
    begun_reduction begun(parts::left_out_list(env_.left_out, simt::grid_thread_rank()));
    const repair_view<true> others(view_, w_.tag, w_.repair);
    const std::uint32_t patience = w_.patience(env_.limits.patience);
    std::uint32_t in_vain = 0;
    GPUTM_NO_UNROLL
    for (;;) {
      const bool has_one = p < w_.size, waits = in_vain < patience;
      std::uint32_t its = p;
      bool runs = has_one;
      shared_run run{waits, false, 0};
      if (w_.gathers()) {
        if (!simt::any(simt::full_mask, has_one)) break;
        if (has_one && waits && awaited != view_.memory)
          runs = others.of_status(view_.log(awaited).status(w_.tag)) != repair_view<true>::progress::pending;
        const simt::mask_t running = simt::ballot(simt::full_mask, runs);
        if (running == 0) {
          ++in_vain;
          simt::backoff(20);
          continue;
        }
        simt::sync_warp();  // lanes have entered reads in each other's logs, and may enter them again
        const std::uint32_t whose = simt::shfl(simt::full_mask, p, simt::lowest(running));
        if (!runs) its = whose;
        run.begun = &begun;
        run.guest = !runs;
      } else {
        if (!has_one) break;
        run.may_return = false;
      }
      const std::uint32_t before = f.failed;
      const bool ends = this->template execute<pass::spread>(its, marker, f, trouble, those, &run, &turn);
      if (runs) turn.end_run();
      if (runs && ends) {
        p += threads;
        find_next();
        awaited = view_.memory;
      } else if (runs) {
        awaited = run.awaited;
      }
      if (w_.gathers() && simt::any(simt::full_mask, runs && (waits || f.failed == before))) in_vain = 0;
    }
    those->left = those->due;  // who runs them has no part in this thread's sets; the check looks at all of these
  }
  /// The same as execute_shared() where many of them need each other's values. One that needs the value of another one
  /// that has yet to run stays with its lane meanwhile, and the others go on: if it waited where it needs it, a
  /// compiler would have those lanes wait as well that are to go on together with it. Nobody waits for one that waits
  /// for him: the lowest one that has yet to run is with a lane, since each warp begins with its lowest, and needs
  /// nothing.
  GPUTM_INLINE void execute_dense(parts::writer_marker& marker, pass_result& f, iteration_trouble& trouble,
                                  positions* those) {
    if (!w_.has_notes()) find_sources(view_, those->due, first_turn(), w_.size, w_.tag, w_.repair);
    simt::sync_warp();  // lanes run each other's
    // A warp that gets on waits longer for more. Where nearly all wait for one chain, one thread had better run it. Who
    // has given up does not wait again until it gets on.
    constexpr std::uint32_t longer = 2, longest = 8;
    const std::uint32_t patience = env_.limits.patience < ~0u / 16 ? env_.limits.patience : ~0u / 16;
    std::uint32_t in_vain = 0, most_in_vain = patience;
    parts::position_dealer dealer(those->due, first_turn(), w_.size);
    parts::position_dealer::dealt its;
    const repair_view<true> others(view_, w_.tag, w_.repair);
    repair_view<true>::waiting on;
    bool has_one = false;
    GPUTM_NO_UNROLL
    for (;;) {
      if (dealer.deal(!has_one, its)) {
        has_one = true;
        on = others.waits(its.position());
      }
      if (!simt::any(simt::full_mask, has_one)) break;
      const std::uint32_t before = f.failed;
      const bool waits = in_vain < most_in_vain;  // else they fail that would have to
      const bool ready = has_one && others.is_ready(its.position(), on);
      const bool runs = ready || (has_one && !waits);
      if (runs) {
        shared_run run{waits, ready && !on.failed, on.reads};
        has_one = !this->template execute<pass::dense>(its.position(), marker, f, trouble, those, &run);
        others.wait_for(run.awaited, on);
      }
      leave(f.failed != before, its, those);
      if (simt::any(simt::full_mask, runs && !has_one && f.failed == before)) {
        in_vain = 0;
        if (most_in_vain <= longest * patience) most_in_vain += longer * patience;
        simt::progress();
      } else {
        ++in_vain;
        simt::backoff(20);
      }
    }
  }
};

}  // namespace gputm::speculation
