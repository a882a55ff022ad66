// A property of loops most of whose iterations add up long rows of elements, which all warps load together in the first
// pass of a window that has a thread for each position.
#pragma once

#include "speculation/gathering_loops.hpp"

namespace gputm::conformance {

template <class E, class T, class Index>
void joint_rows_equal_the_sequential_loop_of(const venue& v) {
  dice d(v.seed * 15485863 + v.round);
  loop_config c = config_for(v, {});
  if (const std::uint32_t width = v.on->warp_width(); v.exploring() && width <= 4) {  // full warps
    c.blocks = 1 + d.below(2);
    c.threads = c.blocks == 1 && width == 2 ? 4 : width;
  }
  const std::uint32_t threads = c.blocks * c.threads, n = threads + d.below(threads);
  const std::uint32_t elements = n + d.below(4);
  // where rows are so long, repairs are dealt out to all warps
  const std::uint32_t most = d.below(3) == 0 ? v.pick(60u, 60u, 5000u) : v.pick(20u, 60u, 5000u);
  const random_rows rows(d, n, elements, most, v.pick(8u, 8u, 64u));
  c.capacity = {.reads = std::max(2 * rows.longest + 1, 8u), .writes = 2};
  if (d.below(3) == 0) c.capacity.reads = std::max(rows.longest, 11u) - d.below(4);
  c.in_place = false;
  c.timed = false;
  c.window = c.first_window = threads * (1 + d.below(3) / 2);  // warps do not join for the longer ones
  require_sums_of_rows<E, T, Index>(v, rows, elements, c, 1);
}

template <class E>
void joint_rows_equal_the_sequential_loop(const venue& v) {
  if (v.round % 4 == 3)
    joint_rows_equal_the_sequential_loop_of<E, std::uint64_t, long long>(v);
  else
    joint_rows_equal_the_sequential_loop_of<E, std::uint32_t, std::uint32_t>(v);
}

}  // namespace gputm::conformance
