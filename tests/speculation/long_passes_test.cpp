// Passes in place of more iterations than marks of one tag have positions for.
#include <gtest/gtest.h>

#include "speculation/suite.hpp"

namespace gputm::conformance {

constexpr std::uint32_t positions = parts::writer_table::positions, n = 2 * positions + 50'000;

TEST(marks_of_passes, take_tags_for_their_positions) {
  EXPECT_EQ(parts::writer_table::more_tags(1), 0u);
  EXPECT_EQ(parts::writer_table::more_tags(positions), 0u);
  EXPECT_EQ(parts::writer_table::more_tags(positions + 1), 1u);
  EXPECT_EQ(parts::writer_table::more_tags(4 * positions), 3u);
  speculation::loop_environment env{};
  env.limits.set_iterations(n);
  env.limits.tags = 20;
  using tags = speculation::in_place_tags;
  EXPECT_EQ(tags::next(env, 0), 2u);
  EXPECT_EQ(tags::last_of(env, 2), 4u);
  EXPECT_EQ(tags::next(env, 15), 17u);
  EXPECT_EQ(tags::next(env, 16), 0u) << "marks have to be cleared";
}

/// Iteration i adds to element i of an array. One in 16 of those from 1,000 on stores besides to one of the first
/// elements, to which lower ones have stored as well, in place or astray.
struct adds_and_strays {
  array<std::uint32_t> a;
  std::uint32_t turn;

  static GPUTM_INLINE bool strays(std::uint32_t i) { return i >= 1000 && i % 16 == 7; }
  /// Low positions to each of the first elements, others, up to those of the last tag, to 50 of them, and to 50 others
  /// next time.
  GPUTM_INLINE std::uint32_t stray(std::uint32_t i) const {
    return i < 20'000 ? i / 16 % 900 : 50 * turn + i / 16 % 50;
  }
  GPUTM_INLINE std::uint32_t value(std::uint32_t i) const { return i * 2654435761u + turn; }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    GPUTM_TRY(const std::uint32_t x, it.load(a[i]));
    GPUTM_TRY(it.store(a[i], x + i));
    if (strays(i)) GPUTM_TRY(it.store(a[stray(i)], value(i)));
    return commit;
  }
  void run(std::vector<std::uint32_t>& x) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      x[i] += i;
      if (strays(i)) x[stray(i)] = value(i);
    }
  }
};

/// The last stray to an element prevails, whatever tag its mark has; and marks of the pass before do not count.
template <class E>
void marks_go_on_in_the_next_tags(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  adds_and_strays body{tm.template allocate<std::uint32_t>(n), 0};
  std::vector<std::uint32_t> expected(n);
  auto w = make_loop_workspace<adds_and_strays>(s, tm, n, {.capacity = {.reads = 2, .writes = 2}});
  for (; body.turn < 2; ++body.turn) {
    speculate_async(s, tm, w, n, body);
    require_equal(w.collect(s, tm).in_place, n, "iterations in place");
    body.run(expected);
    require(tm.read(s, body.a) == expected, "an array differs from the sequential loop's");
  }
}
TEST(marks_of_passes, tell_positions_beyond_those_of_a_tag) {
  EXPECT_NO_THROW(marks_go_on_in_the_next_tags<speculation::gpu_tls>({host_device(), mode::fast, 1, 0}));
}
GPUTM_LOOP_ON_GPU(gpu_tls, marks_go_on_in_the_next_tags)

}  // namespace gputm::conformance
