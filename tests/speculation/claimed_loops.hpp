// A property of loop engines: first loops of their workspaces whose iterations access elements of their own that are no
// rows, and loops behind them, with the same addresses or others. Now and then an iteration wants what another one has.
#pragma once

#include <algorithm>
#include <numeric>

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Makes such loops. An iteration stores to its homes, and loads spare elements, which several may; or it loads its
/// homes as well, before it stores to them or behind that.
class claiming_loop {
  dice& d_;
  const std::uint32_t n_, homes_, spare_;
  const bool updates_;
  std::uint32_t surprises_ = 0;       // one iteration in so many; 0: none
  std::uint32_t kind_ = 0;            // of all of them; or they are of any
  std::uint32_t cancels_ = 0;         // one iteration in so many may; 0: none
  std::vector<std::uint32_t> place_;  // homes, iteration by iteration, and then spare elements

  std::uint32_t first_home(std::uint32_t i) const { return place_[i * homes_]; }
  /// One stores to what the next one has found, which may therefore have cancelled.
  void cancel(std::vector<step>* two, std::uint32_t i) const {
    two[0].push_back({act::store, first_home(i + 1)});
    std::vector<step>& upper = two[1];
    const auto store = std::find_if(upper.begin(), upper.end(), [](const step& s) { return s.what == act::store; });
    upper.insert(store, {act::cancel_if, 2});
  }
  /// Of three in turn the first one may store to what the third one has, which that loads as well, but not before the
  /// second one has put back what it has stored.
  void entangle(std::vector<step>* three, std::uint32_t i) const {
    three[0].insert(three[0].end(), {{act::load, first_home(i + 1)}, {act::store_if, first_home(i + 2)}});
    three[2].push_back({act::load, first_home(i + 2)});
  }
  bool by_chance(std::uint32_t one_in) { return one_in != 0 && d_.below(one_in) == 0; }

  std::vector<step> iteration(std::uint32_t i) {
    const auto home = [this](std::uint32_t j) { return place_[j * homes_ + d_.below(homes_)]; };
    const auto spare = [this] { return place_[n_ * homes_ + d_.below(spare_)]; };
    std::vector<step> all;
    for (std::uint32_t k = !updates_ || by_chance(4) ? 1 + d_.below(4) : 0; k > 0; --k)
      all.push_back({act::load, spare()});
    for (std::uint32_t k = 0; k < homes_; ++k) {
      const std::uint32_t mine = place_[i * homes_ + k];
      if (updates_) all.push_back({act::load, mine});
      all.push_back({act::store, mine});
      if (by_chance(3)) all.push_back({d_.below(2) == 0 ? act::load : act::store, home(i)});
    }
    if (by_chance(3)) all.push_back({act::load_other, d_.below(others)});
    const auto somewhere = [this, &all] { return all.begin() + d_.below(static_cast<std::uint32_t>(all.size()) + 1); };
    if (by_chance(cancels_)) all.insert(somewhere(), {act::cancel_if, 1 + d_.below(3)});
    if (!by_chance(surprises_)) return all;
    const std::uint32_t below = 1 + d_.below(3);
    const std::uint32_t other = d_.below(2) == 0 && i >= below ? i - below : d_.below(n_);
    switch (kind_ < kinds ? kind_ : d_.below(kinds)) {
      case 0: all.push_back({act::break_if, 1 + d_.below(2)}); break;
      case 1: all.push_back({act::cancel_if, 1 + d_.below(2)}); break;
      case 2: all.insert(somewhere(), {act::load, home(other)}); break;
      case 3: all.insert(somewhere(), {act::store, home(other)}); break;
      case 4: all.insert(somewhere(), {act::store, spare()}); break;
      case 5: all.insert(somewhere(), {act::load, spare()}); break;
      case 6: all.insert(somewhere(), {act::store_if, home(other)}); break;
      case 7: all.insert(somewhere(), {{act::load, home(other)}, {act::store_there, 0}}); break;
      case 8: all.insert(somewhere(), {{act::load, home(other)}, {act::load_there, 0}}); break;
      case 9: all.insert(somewhere(), {act::store_until, home(i)}); break;
      default: all.push_back({act::store_other, d_.below(others)});
    }
    return all;
  }

 public:
  static constexpr std::uint32_t most_homes = 3, others = 8, kinds = 11;

  claiming_loop(dice& d, std::uint32_t n)
      : d_(d),
        n_(n),
        homes_(1 + d.below(most_homes)),
        spare_(1 + d.below(2 * n)),
        updates_(d.below(2) == 0),
        place_(elements()) {
    std::iota(place_.begin(), place_.end(), 0u);
  }
  std::uint32_t elements() const { return n_ * homes_ + spare_; }
  std::uint32_t most_writes() const { return homes_ + 2; }
  /// Gives iterations other homes.
  void shuffle() {
    for (std::uint32_t k = elements(); k > 1; --k) std::swap(place_[k - 1], place_[d_.below(k)]);
  }
  std::vector<std::vector<step>> iterations() {
    surprises_ = d_.below(2) == 0 ? 1 + d_.below(2 * n_) : 0;
    kind_ = d_.below(2 * kinds);
    cancels_ = d_.below(3) == 0 ? 1 + d_.below(4) : 0;
    std::vector<std::vector<step>> all;
    for (std::uint32_t i = 0; i < n_; ++i) all.push_back(iteration(i));
    const std::uint32_t i = d_.below(n_ - 2);
    switch (d_.below(6)) {
      case 0: cancel(&all[i], i); break;
      case 1: entangle(&all[i], i); break;
      default: break;
    }
    return all;
  }
};

template <class E>
void loops_that_claim_equal_the_sequential_loops(const venue& v) {
  using value = struct_of_12;
  dice d(v.seed * 141650939 + v.round);
  const std::uint32_t scouted =
      2 * v.on->warp_width();  // there is none for fewer iterations, nor probes for hardly more
  const std::uint32_t n =
      v.pick({(2 + d.below(2)) * scouted + d.below(10), scouted + d.below(600), 1024 + d.below(30'000)});
  claiming_loop loop(d, n);
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<value>(loop.elements());
  const auto b = tm.template allocate<std::uint32_t>(loop.others);
  loop_config c = config_for(
      v, {.reads = d.below(4) == 0 ? 1 : 3 * loop.most_homes + 4, .writes = loop.most_writes() + d.below(3)});
  c.in_place = true;
  c.scout_from = 1;
  if (d.below(3) == 0) c.window = 1 + d.below(n);
  if (d.below(6) == 0) c.tags = 8;  // after a few loops marks are cleared
  model<value> expected{std::vector<value>(loop.elements()), std::vector<std::uint32_t>(loop.others, 7)};
  for (value& x : expected.a) x = make_value<value>(d.next());
  tm.write(s, a, expected.a);
  tm.write(s, b, expected.b);
  auto w = make_loop_workspace<program<value>>(s, tm, n, c);
  const std::uint32_t stretches = 1 + d.below(3);
  for (std::uint32_t stretch = 0; stretch < stretches; ++stretch) {
    if (stretch == 0 || d.below(2) == 0) loop.shuffle();
    const script steps(s, loop.iterations());
    const auto on_host = steps.template host<value>(s);
    for (std::uint32_t turn = 1 + d.below(3); turn > 0; --turn) {
      const auto length = static_cast<int>(d.below(4) != 0 ? n : d.below(n + 1));
      speculate_async(s, tm, w, length, steps.over(a, b));
      const int ran = expected.run(length, on_host.over());
      const loop_statistics done = w.collect(s, tm);
      require_equal(done.iterations, static_cast<std::uint64_t>(ran), "iterations that took effect");
      require(tm.read(s, a) == expected.a && tm.read(s, b) == expected.b,
              "an array differs from the sequential loops'");
      require(done.executed < std::uint64_t{1} << 40, "more runs of the body than can be");
    }
  }
}

}  // namespace gputm::conformance
