// A property of loop engines: elements that several iterations of a window write, and lower ones read. Nothing of that
// is a violation where writes are deferred, and the last writer prevails.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Iteration k writes the elements from k * step on, of which later ones write some again, after it has read elements
/// behind them, which only later ones write.
struct writes_again {
  array<std::uint32_t> x;
  std::uint32_t step, reads, writes, end;
  static GPUTM_FN std::uint32_t value(std::uint32_t sum, std::uint32_t k, std::uint32_t j) { return sum + k * 64 + j; }
  GPUTM_FN std::uint32_t elements(std::uint32_t n) const { return n * step + writes + reads; }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    std::uint32_t sum = 0;
    for (std::uint32_t j = 0; j < reads; ++j) {
      GPUTM_TRY(const std::uint32_t seen, it.load(x[k * step + writes + j]));
      sum = sum * 31 + seen;
    }
    for (std::uint32_t j = 0; j < writes; ++j) GPUTM_TRY(it.store(x[k * step + j], value(sum, k, j)));
    if (k == end) it.break_loop();
    return gputm::commit;
  }
};

template <class E>
void of_several_writers_the_last_prevails(const venue& v) {
  dice d(v.seed * 67867967 + v.round);
  const bool many_turns = v.exploring() && v.round % 8 == 7;  // more than a position_set tells of
  const std::uint32_t n = many_turns ? 300 : v.pick({10u, 2000u, 50'000u});
  stream s{v.on};
  memory<E> tm{v.on};
  writes_again body{};
  body.writes = 1 + d.below(many_turns ? 3 : 20);
  body.step = 1 + d.below(body.writes);
  body.reads = d.below(2);
  body.reads *= 1 + d.below(9);
  body.end = d.below(2) == 0 ? n : d.below(n);  // perhaps not all commit
  body.x = tm.template allocate<std::uint32_t>(body.elements(n));
  std::vector<std::uint32_t> x(body.elements(n));
  for (auto& each : x) each = d.below(1000);
  tm.write(s, body.x, x);
  loop_config c = config_for(v, {.reads = body.reads, .writes = body.writes});
  if (many_turns) c.first_window = n;
  c.table_slots = d.below(3) == 0 ? v.pick({256u, 1u << 16, 1u << 20}) : 0;
  auto w = make_loop_workspace<writes_again>(s, tm, n, c);
  for (int turn = 0; turn < 2; ++turn) {
    for (std::uint32_t k = 0; k < n && k <= body.end; ++k) {
      std::uint32_t sum = 0;
      for (std::uint32_t j = 0; j < body.reads; ++j) sum = sum * 31 + x[k * body.step + body.writes + j];
      for (std::uint32_t j = 0; j < body.writes; ++j) x[k * body.step + j] = writes_again::value(sum, k, j);
    }
    speculate_async(s, tm, w, n, body);
    (void)w.collect(s, tm);
    require(tm.read(s, body.x) == x, "an element that several iterations write");
  }
}

}  // namespace gputm::conformance
