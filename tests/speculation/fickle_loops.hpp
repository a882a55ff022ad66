// Properties of loop engines: loops whose iterations store elsewhere when they run again, so that who writes an element
// changes while a window is repaired.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Stores to one element if another one is 1, else elsewhere.
template <class It, class Element>
GPUTM_FN outcome store_if_one(It& it, Element that, Element then, Element otherwise, std::uint32_t value) {
  GPUTM_TRY(const std::uint32_t x, it.load(that));
  GPUTM_TRY(it.store(x == 1 ? then : otherwise, value));
  return gputm::commit;
}

/// Groups of four. On old data the second writes what nobody else does; when it runs again, what the fourth has written
/// alone so far. The third, between them, has to read it then.
struct writer_joins_another {
  array<std::uint32_t> a, elsewhere, shared, out;  // of each group one
  static constexpr std::uint32_t group = 4;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i), g = k / group;
    switch (k % group) {
      case 0: GPUTM_TRY(it.store(a[g], 1u)); break;
      case 1: return store_if_one(it, a[g], shared[g], elsewhere[g], k);
      case 2: {
        GPUTM_TRY(const std::uint32_t x, it.load(shared[g]));
        GPUTM_TRY(it.store(out[g], x));
        break;
      }
      default: GPUTM_TRY(it.store(shared[g], k));
    }
    return gputm::commit;
  }
};

/// Groups of seven. The second stores to `c` only when it runs again, so the third to `d` only after that, which the
/// last has had alone: so there are new lists then. The fourth writes `shared`, as the sixth does, whether it has read
/// both or neither; if it runs again before the third does, it writes something else in between, and is not on the new
/// list. The fifth has to read what it has written in the end.
struct writer_comes_back {
  array<std::uint32_t> a, c, d, elsewhere, shared, out;  // of each group one, but for `elsewhere`: three
  static constexpr std::uint32_t group = 7;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i), g = k / group;
    switch (k % group) {
      case 0: GPUTM_TRY(it.store(a[g], 1u)); break;
      case 1: return store_if_one(it, a[g], c[g], elsewhere[3 * g], 1u);
      case 2: return store_if_one(it, c[g], d[g], elsewhere[3 * g + 1], 1u);
      case 3: {
        GPUTM_TRY(const std::uint32_t x, it.load(c[g]));
        GPUTM_TRY(const std::uint32_t y, it.load(d[g]));
        GPUTM_TRY(it.store(x == y ? shared[g] : elsewhere[3 * g + 2], k));
        break;
      }
      case 4: {
        GPUTM_TRY(const std::uint32_t x, it.load(shared[g]));
        GPUTM_TRY(it.store(out[g], x));
        break;
      }
      case 5: GPUTM_TRY(it.store(shared[g], k)); break;
      default: GPUTM_TRY(it.store(d[g], k));
    }
    return gputm::commit;
  }
};

/// A loop of so many groups, each of which is in one window at first.
template <class Body, class E>
void run_groups(const venue& v, memory<E>& tm, std::uint32_t groups, const Body& body, std::uint64_t salt) {
  stream s{v.on};
  dice d(v.seed * salt + v.round);
  loop_config c = config_for(v, {.reads = 2, .writes = 1});
  c.first_window = Body::group * (1 + d.below(4));  // the next one may be wary from its beginning
  c.smallest_window = Body::group;
  c.table_slots = d.below(2) == 0 ? 0 : 256;
  const loop_statistics stats = speculate(s, tm, Body::group * groups, body, c);
  require_equal(stats.iterations, Body::group * groups, "iterations that took effect");
}

template <class E>
void a_writer_that_joins_another_is_found(const venue& v) {
  memory<E> tm{v.on};
  const std::uint32_t groups = v.pick({6u, 300u, 20000u});
  const auto some = [&] { return tm.template allocate<std::uint32_t>(groups); };
  const writer_joins_another body{some(), some(), some(), some()};
  run_groups(v, tm, groups, body, 67867967);
  stream s{v.on};
  const auto elsewhere = tm.read(s, body.elsewhere), shared = tm.read(s, body.shared), out = tm.read(s, body.out);
  for (std::uint32_t g = 0; g < groups; ++g) {
    require_equal(out[g], 4 * g + 1, "what the reader found");
    require_equal(shared[g], 4 * g + 3, "the last write");
    require_equal(elsewhere[g], 0u, "what nobody writes in the end");
  }
}

template <class E>
void a_writer_that_comes_back_is_found(const venue& v) {
  memory<E> tm{v.on};
  const std::uint32_t groups = v.pick({6u, 300u, 20000u});
  const auto some = [&](std::uint32_t each = 1) { return tm.template allocate<std::uint32_t>(each * groups); };
  const writer_comes_back body{some(), some(), some(), some(3), some(), some()};
  run_groups(v, tm, groups, body, 86028121);
  stream s{v.on};
  const auto elsewhere = tm.read(s, body.elsewhere), shared = tm.read(s, body.shared), out = tm.read(s, body.out);
  for (std::uint32_t g = 0; g < groups; ++g) {
    require_equal(out[g], 7 * g + 3, "what the reader found");
    require_equal(shared[g], 7 * g + 5, "the last write");
    for (std::uint32_t k = 0; k < 3; ++k) require_equal(elsewhere[3 * g + k], 0u, "what nobody writes in the end");
  }
}

}  // namespace gputm::conformance
