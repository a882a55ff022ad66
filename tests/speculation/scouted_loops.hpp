// A property of loop engines: first loops of their workspaces, at which a scout looks before. Their iterations read
// rows and store to rows of their own, and now and then they read something else, or store to what others have read.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Makes such loops. Iteration i reads `width` elements from i * stride on, and stores to `own` behind all of these.
class scouted_loop {
  dice& d_;
  const std::uint32_t n_, stride_, width_, own_;
  const std::uint32_t strays_, odd_reads_, surprises_;  // one iteration in so many; 0: none
  const std::uint32_t to_other_;                        // of strays, as many go to the other array
  const bool upwards_;                                  // some strays go to rows of iterations above

  bool by_chance(std::uint32_t one_in) { return one_in != 0 && d_.below(one_in) == 0; }
  std::uint32_t read() const { return n_ * stride_ + width_; }
  std::uint32_t own(std::uint32_t i) const { return read() + i * own_; }
  std::uint32_t in_row(std::uint32_t i) { return i * stride_ + d_.below(width_); }

  std::vector<step> iteration(std::uint32_t i) {
    std::vector<step> all;
    for (std::uint32_t k = 0; k < width_; ++k) all.push_back({act::load, i * stride_ + k});
    if (by_chance(odd_reads_)) all.push_back({act::load, in_row(d_.below(n_))});
    if (by_chance(odd_reads_)) all.push_back({act::load_other, d_.below(others)});
    const bool strays = by_chance(strays_);
    if (strays && by_chance(to_other_)) {
      all.push_back({act::store_other, d_.below(others)});
    } else if (strays) {
      const std::uint32_t above = upwards_ && d_.below(3) == 0 ? i + d_.below(3) : i;
      const std::uint32_t j = above - (d_.below(2) == 0 ? d_.below(above + 1) : 0), there = in_row(j < n_ ? j : i);
      const auto at = d_.below(2) == 0 ? all.begin() : all.end();
      all.insert(at, {act::store, there});
      if (d_.below(2) == 0) all.push_back({act::load, there});
    }
    for (std::uint32_t k = 0; k < own_ - strays; ++k) all.push_back({act::store, own(i) + k});
    if (!by_chance(surprises_)) return all;
    switch (d_.below(5)) {
      case 0: all.push_back({act::break_if, 1}); break;
      case 1: all.push_back({act::cancel_if, 1}); break;
      case 2: all.insert(all.begin(), {act::load, own(d_.below(n_))}); break;
      case 3: all.insert(all.begin(), {act::store, own(d_.below(n_))}); break;
      default: all.push_back({act::store_other, d_.below(others)});
    }
    return all;
  }

 public:
  static constexpr std::uint32_t most_width = 5, most_own = 5, others = 8;

  scouted_loop(dice& d, std::uint32_t n)
      : d_(d),
        n_(n),
        stride_(d.below(4)),
        width_(1 + d.below(most_width)),
        own_(2 + d.below(most_own - 1)),
        strays_(d.below(4) == 0 ? 0 : 2 + d.below(8)),
        odd_reads_(d.below(2) == 0 ? 0 : 2 + d.below(n)),
        surprises_(d.below(3) == 0 ? 1 + d.below(2 * n) : 0),
        to_other_(d.below(4) == 0 ? 1 + d.below(3) : 0),
        upwards_(d.below(3) == 0) {}
  std::uint32_t elements() const { return own(n_); }
  std::vector<std::vector<step>> iterations() {
    std::vector<std::vector<step>> all;
    for (std::uint32_t i = 0; i < n_; ++i) all.push_back(iteration(i));
    return all;
  }
};

template <class E>
void first_loops_equal_the_sequential_loops(const venue& v) {
  using value = std::uint64_t;
  dice d(v.seed * 49979687 + v.round);
  const std::uint32_t scouted = 2 * v.on->warp_width();  // there is none for fewer iterations
  const std::uint32_t n = v.pick({2 * scouted + d.below(10), scouted + d.below(600), 1024 + d.below(30'000)});
  scouted_loop loop(d, n);
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<value>(loop.elements());
  const auto b = tm.template allocate<std::uint32_t>(loop.others);
  loop_config c = config_for(v, {.reads = loop.most_width + 3, .writes = loop.most_own + 2});
  c.in_place = true;
  c.scout_from = 1;
  if (d.below(8) == 0) c.window = 1 + d.below(n);
  model<value> expected{std::vector<value>(loop.elements()), std::vector<std::uint32_t>(loop.others, 7)};
  for (value& x : expected.a) x = d.next();
  const script steps(s, loop.iterations());
  const auto on_host = steps.template host<value>(s);
  auto w = make_loop_workspace<program<value>>(s, tm, n, c);
  const std::uint32_t turns = 1 + d.below(3);
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    tm.write(s, a, expected.a);
    tm.write(s, b, expected.b);
    const auto length = static_cast<int>(turn == 0 || d.below(2) == 0 ? n : d.below(n + 1));
    speculate_async(s, tm, w, length, steps.over(a, b));
    const loop_statistics done = w.collect(s, tm);
    const int ran = expected.run(length, on_host.over());
    require_equal(done.iterations, static_cast<std::uint64_t>(ran), "iterations that took effect");
    require(tm.read(s, a) == expected.a && tm.read(s, b) == expected.b, "an array differs from the sequential loops'");
    require(done.executed < std::uint64_t{1} << 40, "more runs of the body than can be");
  }
}

}  // namespace gputm::conformance
