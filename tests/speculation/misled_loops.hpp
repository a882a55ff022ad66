// A property of loop engines that run loops in place: a pass goes by what it is for, or not at all. The host enqueues
// it by what it has heard last, and loops before it may have found out something else since.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Iteration i adds to `width` elements of its own: a row, or, `n` apart, none.
struct adds_to_several {
  array<std::uint64_t> a;
  std::uint32_t n, width;
  bool rows;

  GPUTM_FN std::uint32_t place(std::uint32_t i, std::uint32_t k) const { return rows ? i * width + k : k * n + i; }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    for (std::uint32_t k = 0; k < width; ++k) {
      GPUTM_TRY(const std::uint64_t x, it.load(a[place(i, k)]));
      GPUTM_TRY(it.store(a[place(i, k)], 3 * x + i));
    }
    return commit;
  }
};

/// A loop of which the host takes for granted that passes of this kind may run it, behind loops that are run as usual.
/// `may`: they may indeed.
template <class E, in_place_kind Kind>
void a_pass_of_this_kind(const venue& v, std::uint32_t n, std::uint32_t width, bool rows, bool may) {
  stream s{v.on};
  memory<E> tm{v.on};
  adds_to_several body{tm.template allocate<std::uint64_t>(n * width), n, width, rows};
  loop_config c = config_for(v, {.reads = width, .writes = width});
  c.in_place = true;
  c.scout_from = std::uint64_t{1} << 40;
  auto w = make_loop_workspace<adds_to_several>(s, tm, n, c);
  std::vector<std::uint64_t> expected(n * width, 1);
  tm.write(s, body.a, expected);
  const auto check = [&](std::uint64_t in_place, const char* what) {
    const loop_statistics done = w.collect(s, tm);
    for (std::uint32_t j = 0; j < n * width; ++j) {
      std::uint64_t& x = expected[body.place(j / width, j % width)];
      x = 3 * x + j / width;
    }
    require(tm.read(s, body.a) == expected, "an array differs from the sequential loops'");
    require_equal(done.in_place, in_place, what);
    require_equal(done.executed, n, "runs of the body of a loop that is not undone");
  };
  for (int turn = 0; turn < 4; ++turn) {
    speculate_async(s, tm, w, static_cast<int>(n), body);
    check(turn < 2 ? 0 : n, "iterations in place behind two loops alike");
  }
  w.reset(s);
  launching::loop_kernel<E, adds_to_several> kernel{w.environment(tm, n, false), body};
  launching::enqueue(s, tm.on(), w.shape_in_place(n),
                     launching::in_place_kernel<E, adds_to_several, Kind>{kernel.environment, body});
  kernel.environment.in_place.tried = true;
  launching::enqueue_resident(s, tm.on(), w.shape(), kernel);
  w.note_loop(n);
  check(may ? n : 0, "iterations of a pass that was for something else");
}

template <class E>
void a_pass_goes_by_what_it_is_for(const venue& v) {
  dice d(v.seed * 961748941 + v.round);
  const std::uint32_t n = v.pick({4 + d.below(6), 4 + d.below(100), 200 + d.below(3000)});
  const std::uint32_t narrow = 2 + d.below(8), wide = parts::owned_rows::most + 1 + d.below(20);
  a_pass_of_this_kind<E, in_place_kind::rows>(v, n, wide, true, false);
  a_pass_of_this_kind<E, in_place_kind::any_rows>(v, n, wide, true, true);
  a_pass_of_this_kind<E, in_place_kind::lists>(v, n, wide, true, false);
  a_pass_of_this_kind<E, in_place_kind::rows>(v, n, narrow, true, true);
  a_pass_of_this_kind<E, in_place_kind::any_rows>(v, n, narrow, true, true);
  a_pass_of_this_kind<E, in_place_kind::lists>(v, n, narrow, true, false);
  a_pass_of_this_kind<E, in_place_kind::rows>(v, n, narrow, false, false);
  a_pass_of_this_kind<E, in_place_kind::any_rows>(v, n, narrow, false, false);
  a_pass_of_this_kind<E, in_place_kind::lists>(v, n, narrow, false, true);
}

}  // namespace gputm::conformance
