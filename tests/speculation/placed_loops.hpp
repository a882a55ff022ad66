// A property of loop engines: loops whose iterations store to rows of their own, and now and then elsewhere, again and
// again in one workspace; until one of them does something else.
#pragma once

#include <numeric>

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Makes such loops. Iteration i reads a row of the lower half of array a, and stores to a row of the upper half; in a
/// loop with `both` to the same elements of array b, too.
class placed_loop {
  dice& d_;
  const std::uint32_t n_, row_;
  const bool both_, strays_;
  const std::uint32_t spot_;  // an iteration: strays often go to what it reads first
  std::vector<std::uint32_t> places_;

  std::uint32_t half() const { return row_ * (n_ + 1); }
  std::uint32_t own(std::uint32_t i) const { return half() + row_ * i; }
  std::uint32_t within() { return d_.below(row_); }

 public:
  using iterations = std::vector<std::vector<step>>;

  /// `strays`: unusual iterations may stray.
  placed_loop(dice& d, std::uint32_t n, std::uint32_t row, bool both, bool strays)
      : d_(d), n_(n), row_(row), both_(both), strays_(strays), spot_(d.below((n + 1) / 2)) {}
  std::uint32_t elements() const { return 2 * half(); }
  std::uint32_t others() const { return both_ ? elements() : 8; }
  std::uint32_t most_writes() const { return row_ * (both_ ? 2 : 1); }

  /// From now on elements of array a lie anywhere, so that rows are none.
  void shuffle(dice& d) {
    places_.resize(elements());
    std::iota(places_.begin(), places_.end(), 0u);
    for (std::uint32_t k = elements(); k > 1; --k) std::swap(places_[k - 1], places_[d.below(k)]);
  }
  iterations in_place(iterations all) const {
    if (places_.empty()) return all;
    for (std::vector<step>& one : all)
      for (step& s : one)
        if ((s.what == act::load || s.what == act::store) && s.index < elements()) s.index = places_[s.index];
    return all;
  }

  std::vector<step> usual(std::uint32_t i) {
    std::vector<step> all;
    const bool in_turn = d_.below(2) == 0;
    for (std::uint32_t k = 0; k < row_; ++k) {
      all.push_back({act::load, row_ * i + k});
      if (in_turn) all.push_back({act::store, own(i) + k});
    }
    for (std::uint32_t k = 0; k < row_ && !in_turn; ++k) all.push_back({act::store, own(i) + k});
    for (std::uint32_t k = 0; k < row_ && both_; ++k) all.push_back({act::store_other, own(i) + k});
    return all;
  }
  /// Iteration `i` stores to another element in place of the last one of its own: to one that iterations below it have
  /// stored to, or to one that they have read; and perhaps it reads that again.
  void stray(std::vector<step>& all, std::uint32_t i) {
    if (i <= spot_) return;
    stray(all, i, row_ - 1);
    if (row_ > 1 && d_.below(4) == 0) stray(all, i, row_ - 2);
  }
  /// The same in place of number `own_one` of its own.
  void stray(std::vector<step>& all, std::uint32_t i, std::uint32_t own_one) {
    const std::uint32_t j = d_.below(4) == 0 ? d_.below(i) : spot_, first = d_.below(4) == 0 ? own(j) : row_ * j;
    const std::uint32_t there = first + (d_.below(2) == 0 ? within() : 0);
    std::erase_if(all, [&](const step& s) { return s.what == act::store && s.index == own(i) + own_one; });
    if (d_.below(2) == 0 && there < half()) all.insert(all.begin(), {act::load, there});
    all.insert(all.begin(), {act::store, there});
  }
  /// One that loops in place can have among others.
  std::vector<step> unusual(std::uint32_t i) {
    std::vector<step> all = usual(i);
    switch (d_.below(10)) {
      case 0: all.push_back({act::load, own(i) + within()}); break;            // what it has stored
      case 1: all.insert(all.begin(), {act::load, own(i) + within()}); break;  // or is going to store
      case 2: all.push_back({act::store, own(i) + within()}); break;           // it stores to it twice
      case 3: all.push_back({act::cancel_if, 1}); break;
      case 4: all.resize(d_.below(static_cast<std::uint32_t>(all.size()) + 1)); break;
      default:
        if (strays_) stray(all, i);
    }
    return all;
  }
  /// A loop that can run in place, once that is known, unless strays are too many.
  iterations loop() {
    iterations all;
    const std::uint32_t rare = 2 + d_.below(std::min(40u, n_));
    const std::uint32_t cluster = d_.below(4) == 0 ? d_.below(n_) : n_;  // some neighbours may be all unusual
    for (std::uint32_t i = 0; i < n_; ++i) {                             // one in the middle is taken for a pattern
      const bool odd = i - cluster < n_ / 20 || d_.below(rare) == 0;
      all.push_back(i != n_ / 2 && odd ? unusual(i) : usual(i));
    }
    return all;
  }
  /// Whether strays are few enough for certain.
  bool is_placed(const iterations& all) const {
    std::uint32_t owned = 0, strays = 0;
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (std::any_of(all[i].begin(), all[i].end(), [](const step& s) { return s.what == act::cancel_if; })) {
        if (!places_.empty()) return false;  // its list would not have what it stores to
        continue;
      }
      for (std::uint32_t k = 0; k < row_; ++k)
        owned += std::any_of(all[i].begin(), all[i].end(),
                             [&](const step& s) { return s.what == act::store && s.index == own(i) + k; });
      for (const step& s : all[i]) strays += s.what == act::store && s.index - own(i) >= row_;
    }
    if (!places_.empty()) strays *= 2;  // who owns an element that another one stores to strays as well
    return owned > 16 * strays && 16 * strays <= 3 * n_;  // the second: their list has room for twice as many
  }
  /// What such loops are not expected to do.
  void surprise(iterations& all) {
    std::uint32_t i = d_.below(n_);
    if (d_.below(2) == 0) i = n_ - 1 - i / 2;  // behind most strays
    const std::uint32_t j = d_.below(n_);
    std::vector<step>& one = all[i];
    const auto somewhere = [&] { return one.begin() + d_.below(static_cast<std::uint32_t>(one.size()) + 1); };
    switch (d_.below(14)) {
      case 0: one.insert(one.begin(), {act::load, own(j) + within()}); break;  // reads another one's
      case 1: one.insert(one.begin(), {act::load, row_ * j}); break;
      case 2: one.insert(somewhere(), {act::break_if, 1}); break;
      case 3: one.push_back({act::cancel_if, 1}); break;
      case 4:
        one = {{act::store, own(j) + within()}};  // stores to another one's, perhaps above it
        break;
      case 5: one = {{act::store, row_ * j + within()}}; break;
      case 6: one = {{act::store_other, d_.below(others())}}; break;
      case 7: one = {{act::store, row_ * j + within()}, {act::cancel_if, 1}}; break;
      case 8: one = {{act::load_several, row_ * j, 1 + d_.below(20)}, {act::store_there, 0}}; break;
      case 9: {
        const auto there = somewhere();  // first: compilers throw an argument's dice in any order
        one.insert(there, {act::load_other, d_.below(others())});
        break;
      }
      default: one.insert(one.begin(), {act::load, row_ * spot_});  // reads where strays go
    }
  }
  enum class fault : std::uint8_t { none, astray, too_long };
  /// Iteration `i` reads where there is nothing, or stores to more elements than it may: to some more than all its own,
  /// often to one to which another iteration stores in `usual`.
  void add(iterations& all, std::uint32_t i, fault what, const iterations& usual) {
    if (what == fault::astray) all[i].insert(all[i].begin(), {act::load, elements()});
    if (what != fault::too_long) return;
    std::uint32_t there = d_.below(half());
    for (const std::vector<step>& one : usual)
      for (const step& s : one)
        if (s.what == act::store && s.index < half()) there = s.index;
    all[i] = this->usual(i);
    all[i].push_back({act::store, there});
  }
};

/// Where such a loop's elements lie; rows are wide (owned_rows), or not.
enum class layout : std::uint8_t { rows, wide_rows, anywhere };

template <class E>
void placed_loops_equal_the_sequential_loops(const venue& v, layout where) {
  using value = std::uint64_t;
  dice d(v.seed * 15485863 + v.round);
  std::uint32_t n = v.pick({2 + d.below(14), 1 + d.below(600), 1 + d.below(60'000)}), row = 1 + d.below(5);
  const bool wide = where == layout::wide_rows;
  if (wide) {
    n = 1 + n / (v.exploring() ? 2 : 12);
    row = parts::owned_rows::most + 1 + d.below(v.exploring() ? 40 : 220);
  }
  // if these are to be in place, they may not stray to what nobody owns
  const bool several_windows = v.exploring() ? v.round % 7 == 6 : v.seed % 2 == 0;
  const bool both = d.below(3) == 0 && !wide;  // those have one array
  placed_loop loops(d, n, row, both, !several_windows || d.below(2) == 0);
  dice places(v.seed * 982451653 + v.round);
  if (where == layout::anywhere) loops.shuffle(places);
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<value>(loops.elements());
  const auto b = tm.template allocate<std::uint32_t>(loops.others());
  loop_config c = config_for(v, {.reads = 2 * row + 21, .writes = loops.most_writes()});
  c.in_place = true;
  if (several_windows) c.window = 1 + d.below(n);
  static constexpr std::uint32_t tags[] = {1023, 1023, 1023, 3, 5, 8};
  c.tags = tags[d.below(std::size(tags))];
  auto w = make_loop_workspace<program<value>>(s, tm, n, c);
  model<value> expected{std::vector<value>(loops.elements()), std::vector<std::uint32_t>(loops.others(), 7)};
  for (value& x : expected.a) x = d.next();
  tm.write(s, a, expected.a);
  tm.write(s, b, expected.b);
  const placed_loop::iterations usual = loops.loop();
  placed_loop::iterations now = usual;
  const std::uint32_t quiet_turns = d.below(4) == 0 ? 0 : 5, turns = quiet_turns + v.pick({6u, 8u, 8u});
  // what is known of short loops does not hold for long ones
  const std::uint32_t shorter = d.below(4) == 0 ? 1 + d.below(n) : n;
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    const bool surprises = turn >= quiet_turns && d.below(2) == 0;
    const std::uint32_t length = turn < quiet_turns ? shorter : d.below(4) == 0 ? 1 + d.below(n) : n;
    if (surprises && d.below(2) == 0) now = usual;
    for (std::uint32_t k = surprises ? 1 + d.below(2) : 0; k > 0; --k) loops.surprise(now);
    using fault = placed_loop::fault;
    const fault what = !surprises || d.below(3) != 0 ? fault::none : d.below(2) == 0 ? fault::astray : fault::too_long;
    const std::uint32_t at = what == fault::none ? length : d.below(length);
    placed_loop::iterations run = now;
    loops.add(run, at, what, usual);
    run = loops.in_place(run);
    const script steps(s, run);
    speculate_async(s, tm, w, static_cast<int>(length), steps.over(a, b));
    loop_statistics done;
    fault found = fault::none;
    try {
      done = w.collect(s, tm);
    } catch (const index_out_of_range&) {
      found = fault::astray;
    } catch (const capacity_exceeded&) {
      found = fault::too_long;
    }
    const auto on_host = steps.template host<value>(s);
    const int ran = expected.run(static_cast<int>(at), on_host.over());
    require(found == (expected.over ? fault::none : what), "an error differs from the sequential loops'");
    if (found == fault::none)
      require_equal(done.iterations, static_cast<std::uint64_t>(ran), "iterations that took effect");
    require(tm.read(s, a) == expected.a && tm.read(s, b) == expected.b, "an array differs from the sequential loops'");
    const bool one_window = c.window == 0 || c.window >= n;  // else what the last one shows may not hold for others
    const bool known = turn + 1 == quiet_turns && c.tags == 1023 && length == n;
    if (E::loop.in_place && one_window && known && loops.is_placed(usual)) {
      require_equal(done.in_place, n, "iterations in place of a loop that is like those before");
      require_equal(done.executed, n, "runs of the body in place");
    }
  }
}

template <class E>
void loops_in_place_equal_the_sequential_loops(const venue& v) {
  placed_loops_equal_the_sequential_loops<E>(v, layout::rows);
}
template <class E>
void loops_in_place_of_wide_rows_equal_the_sequential_loops(const venue& v) {
  placed_loops_equal_the_sequential_loops<E>(v, layout::wide_rows);
}
/// Elements lie anywhere: what iterations own lists have to tell.
template <class E>
void loops_in_place_by_list_equal_the_sequential_loops(const venue& v) {
  placed_loops_equal_the_sequential_loops<E>(v, layout::anywhere);
}

/// Iteration i adds to two elements of its own, one of them to its first one only, and one may end the loop.
struct adds_to_its_two {
  array<std::uint64_t> a;
  std::uint32_t partial, end;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int index) const {
    const auto i = static_cast<std::uint32_t>(index);
    for (std::uint32_t j = 2 * i; j < 2 * i + (i == partial ? 1 : 2); ++j) {
      GPUTM_TRY(const std::uint64_t v, it.load(a[j]));
      GPUTM_TRY(it.store(a[j], 3 * v + j));
    }
    if (i == end) it.break_loop();
    return commit;
  }
};
/// Passes in place of loops of several windows are undone, in each of which it depends on the loop to which elements of
/// its own an iteration has stored; tags come again and again.
template <class E>
void what_a_pass_saves_is_its_own(const venue& v) {
  dice d(v.seed * 32452843 + v.round);
  // on a GPU enough for blocks with two iterations a thread
  const std::uint32_t n = v.pick({6 + d.below(8), 6 + d.below(600), 210'000 + d.below(60'000)});
  stream s{v.on};
  memory<E> tm{v.on};
  adds_to_its_two body{tm.template allocate<std::uint64_t>(2 * n), n, n};
  loop_config c = config_for(v, {.reads = 2, .writes = 2});
  c.in_place = true;
  c.window = 2 + d.below(n);
  c.tags = d.below(4) == 0 ? 1023 : 5 + d.below(6);
  auto w = make_loop_workspace<adds_to_its_two>(s, tm, n, c);
  // that is known behind three loops that are alike, if the last window is no small one and tags do not run out
  const std::uint32_t left = n % c.window, quiet_turns = c.tags == 1023 ? 4 : 0;
  const bool known = c.window >= n || left == 0 || left >= c.window / 4;
  std::vector<std::uint64_t> expected(2 * n);
  for (std::uint64_t& x : expected) x = d.next();
  tm.write(s, body.a, expected);
  const std::uint32_t turns = v.pick({18u, 40u, 40u}), partial = d.below(n);
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    body.partial = turn >= quiet_turns && d.below(2) == 0 ? partial : n;
    body.end = turn > turns / 3 && d.below(6) == 0 ? d.below(n) : n;
    speculate_async(s, tm, w, static_cast<int>(n), body);
    const loop_statistics done = w.collect(s, tm);
    const std::uint64_t iterations = done.iterations;
    if (turn + 1 == quiet_turns && known) require_equal(done.in_place, n, "iterations in place behind those like them");
    require_equal(iterations, std::min<std::uint64_t>(n, body.end + std::uint64_t{1}), "iterations that took effect");
    for (std::uint32_t j = 0; j < 2 * iterations; ++j)
      if (j != 2 * body.partial + 1) expected[j] = 3 * expected[j] + j;
    require(tm.read(s, body.a) == expected, "an array differs from the sequential loops'");
  }
}

}  // namespace gputm::conformance
