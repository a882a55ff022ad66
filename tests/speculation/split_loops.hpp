// A property of loop engines: a loop that reads one part of an array and stores to the other. Loops that follow it on
// its workspace know where the parts meet, and have nothing to check.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

struct split_loop {
  array<std::uint32_t> a;
  std::uint32_t from, reads, to;  // elements that are read, again and again; the first one that is stored to
  std::uint32_t stray, there;     // an iteration that stores to one of those that are read
  std::uint32_t stamp;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    GPUTM_TRY(const std::uint32_t v, it.load(a[from + k % reads]));
    GPUTM_TRY(it.store(a[k == stray ? there : to + k], 3 * v + stamp + k));
    return gputm::commit;
  }
};

template <class E>
void a_range_ends_where_stores_begin(const venue& v) {
  constexpr std::uint32_t usual_turns = 5, turns = 8;
  dice d(v.seed * 49979687 + v.round);
  const std::uint32_t n = v.pick({2 + d.below(12), 2 + d.below(1500), 2 + d.below(200'000)});
  const std::uint32_t others = v.pick({32 + d.below(60), 32 + d.below(1500), 32 + d.below(200'000)});
  const bool below = d.below(2) == 0;  // what is stored to lies below what is read
  stream s{v.on};
  memory<E> tm{v.on};
  split_loop body{};
  body.a = tm.template allocate<std::uint32_t>(n + others);
  body.reads = 1 + d.below(std::min(n, others));
  body.to = below ? 0 : others;
  body.from = below ? n : others - body.reads;
  loop_config c = config_for(v, {.reads = 1, .writes = 1});
  c.peek = false;  // or there would be nothing to check wherever ranges end
  const bool hashed = d.below(4) == 0;
  if (hashed) c.table_slots = v.pick({64u, 1u << 14, 1u << 21});
  auto w = make_loop_workspace<split_loop>(s, tm, n, c);
  std::vector<std::uint32_t> a(n + others, 1);
  tm.write(s, body.a, a);
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    body.stray = turn >= usual_turns && d.below(2) == 0 ? d.below(n) : n;
    body.there = body.from + d.below(body.reads);
    body.stamp = turn * 1'000'003;
    for (std::uint32_t k = 0; k < n; ++k)
      a[k == body.stray ? body.there : body.to + k] = 3 * a[body.from + k % body.reads] + body.stamp + k;
    speculate_async(s, tm, w, static_cast<int>(n), body);
    const loop_statistics done = w.collect(s, tm);
    require(tm.read(s, body.a) == a, "an array of two parts differs from the sequential loop's");
    if (E::loop.writers && turn < usual_turns)
      require_equal(done[violation::raw], 0u, "violations of a loop without dependences");
    if (!E::loop.writers || turn + 1 != usual_turns) continue;
    require_equal(done.rounds, 1u, "windows of a loop that is known");
    if (!hashed) require_equal(done.checked, 0u, "checks of a loop that reads what it does not store to");
  }
}

}  // namespace gputm::conformance
