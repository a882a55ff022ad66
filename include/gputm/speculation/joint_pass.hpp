// Floor 3: a first pass in which all warps of the grid load the long rows of some iterations together (joint_space):
// one warp would take long for one of them, and all others would wait for it.
#pragma once

#include "gputm/speculation/iteration_pass.hpp"

namespace gputm::speculation {

/// One thread's part of it, which has one position at most.
template <class Options, class Body>
class joint_pass : iteration_pass<Options, Body> {
  using base = iteration_pass<Options, Body>;
  using base::env_, base::position, base::view_, base::w_;
  using typename base::pass_result, typename base::positions;

 public:
  using base::base;

  struct result {
    pass_result of_pass;
    std::uint32_t barriers;
  };
  /// All positions. Apart, as execute_warily(). `barrier`: that of the loop, which has to be told how often all have
  /// met. `begins`: it is the loop's first window, which nobody has written down yet.
  static GPUTM_NOINLINE result run(const loop_environment& env, const Body& body, positions* those,
                                   parts::grid_barrier barrier, bool begins) {
    joint_pass self = begins ? joint_pass(env, body) : joint_pass(env, body, parts::current_window(*env.state));
    self.see_window();
    pass_result f;
    joint_turn turn{env.joint};
    those->trouble = false;
    if (position(0) < self.w_.size) self.run_mine(f, those, turn);
    barrier.wait();
    std::uint32_t barriers = 1;
    GPUTM_NO_UNROLL
    for (std::uint32_t pieces = env.joint.pieces(), before = 0; pieces != before; barriers += 2) {
      self.load_rows(before, pieces);
      barrier.wait();
      if (turn.asked) self.run_mine(f, those, turn);
      barrier.wait();
      before = pieces;
      pieces = env.joint.pieces();
    }
    those->logs = f.logs != 0;
    those->rows = turn.rows;
    GPUTM_NO_UNROLL
    for (std::uint32_t k = turn.collected; k < turn.rows.count; ++k) env.joint.forget_log(turn.rows.number[k]);
    return {f, barriers};
  }

 private:
  /// This thread's position, up to the next row for which it asks, or to its end.
  GPUTM_INLINE void run_mine(pass_result& f, positions* those, joint_turn& turn) {
    parts::writer_marker marker(view_.table(), true);
    iteration_trouble trouble;
    turn.begin();
    this->template execute<pass::joint>(position(0), marker, f, trouble, those, nullptr, &turn);
    this->note_marks(marker, f);
  }
  /// Each warp loads pieces, whosever they are; those from number `from` on.
  GPUTM_INLINE void load_rows(std::uint32_t from, std::uint32_t to) {
    pass_result none;
    parts::writer_marker marker(view_.table(), true);
    iteration_trouble trouble;
    const std::uint32_t width = simt::warp_width(), warps = simt::grid_threads() / width;
    joint_turn turn{env_.joint};
    GPUTM_NO_UNROLL
    for (std::uint32_t k = from + simt::grid_thread_rank() / width; k < to; k += warps) {
      const std::uint32_t number = env_.joint.row_of(k);
      if (number == parts::joint_space::none) continue;
      turn.begin_piece(k);
      simt::sync_warp();  // so that its lanes are together
      this->template execute<pass::joint>(env_.joint.row(number).position, marker, none, trouble, nullptr, nullptr,
                                          &turn);
    }
  }
};

}  // namespace gputm::speculation
