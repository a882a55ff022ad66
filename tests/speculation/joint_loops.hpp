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
  const std::uint32_t elements = 2 * n + d.below(4);
  // where rows are so long, repairs are dealt out to all warps
  const bool very = d.below(2) == 0;
  const std::uint32_t most = very ? v.pick({60u, 60u, 5000u}) : v.pick({20u, 60u, 5000u});
  const std::uint32_t shortest = very ? v.pick({48u, 48u, 256u}) : v.pick({8u, 8u, 64u});
  const std::uint32_t kinds = v.round % 2 == 0 ? cancels : 2 * at_last_widely;
  random_rows rows(d, n, elements, most, shortest, kinds);
  if (d.below(2) == 0) rows.keep_apart(d, elements);
  c.capacity = {.reads = std::max(2 * rows.longest + 1, 8u), .writes = 2};
  if (d.below(3) == 0) c.capacity.reads = std::max(rows.longest, 11u) - d.below(4);
  c.in_place = false;
  c.timed = false;
  if (d.below(4) == 0) c.patience = 0;
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

/// Rows are added to accumulators that are too large to be kept, perhaps behind one that is kept, by iterations that do
/// not wait for each other.
template <class E>
void large_accumulators_equal_the_sequential_loop(const venue& v) {
  dice d(v.seed * 32452843 + v.round);
  const std::uint32_t n = v.pick({8u, 64u, 2048u}), elements = 4 * n;
  const bool half_of_them = d.below(2) == 0;  // which are as long as others' rows
  const std::uint32_t length = half_of_them ? 120 : 60;
  random_rows rows(d, n, elements, length, length);
  for (std::uint32_t i = 0; i < n; ++i) {
    rows.what[i] = half_of_them ? twice | at_last_widely : widely;
    rows.to[i] = i;
    for (std::uint32_t k = rows.first[i]; k < rows.first[i + 1]; ++k)
      rows.index[k] = i != 0 && d.below(30) == 0 ? d.below(i) : n + d.below(elements - n);
  }
  loop_config c = config_for(v, {.reads = 256, .writes = 2});
  c.in_place = false;
  c.timed = false;
  c.repair_whole = true;
  c.repairs = 5;
  c.patience = d.below(2);
  c.window = c.first_window = n;
  require_sums_of_rows<E, std::uint32_t, std::uint32_t>(v, rows, elements, c, 1);
}

}  // namespace gputm::conformance
