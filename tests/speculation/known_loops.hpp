// Properties of loop engines: what the loops before have told about a workspace's memory is not taken for what the next
// one does.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// What a loop does beside storing to a[i]. The first two store to the same ranges and have no violations, so that the
/// next loop may be one window of which everything is known.
enum class habit : std::uint8_t {
  stores,        // nothing
  reads_ahead,   // reads what the iteration above it stores to
  reads_behind,  // reads what the one below has stored
  stores_twice,  // two iterations store to the same element
  stores_afar,   // stores to an array that nobody has stored to
  reads_afar,    // reads that array
  swaps_afar,    // one iteration reads there what another one below has stored
  cancels_a_store,
  ends_itself,
  goes_astray,  // an index out of range
  many
};
struct known_loop {
  array<std::uint32_t> a, b;
  habit what;
  std::uint32_t at, stamp;        // the iteration that does it, but for those that all do
  std::uint64_t* runs = nullptr;  // of the body, if they are to be counted

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    if (runs) simt::atomic(*runs).fetch_add(1, simt::order::relaxed);
    std::uint32_t x = stamp + k;
    if (k == at && what == habit::goes_astray) {
      GPUTM_TRY(const std::uint32_t v, it.load(a[a.size()]));
      x += v;
    }
    if (what == habit::reads_ahead || what == habit::reads_behind) {
      GPUTM_TRY(const std::uint32_t v, it.load(a[k + 1]));
      x += v;
    }
    if (k == at + 1 && what == habit::reads_behind) {
      GPUTM_TRY(const std::uint32_t v, it.load(a[at]));
      x += 2 * v;
    }
    if (k == at && what == habit::stores_twice) GPUTM_TRY(it.store(a[k + 1], x));
    if (k == at && (what == habit::stores_afar || what == habit::swaps_afar)) GPUTM_TRY(it.store(b[0], x));
    if (what == habit::reads_afar || (what == habit::swaps_afar && k == at + 1)) {
      GPUTM_TRY(const std::uint32_t v, it.load(b[0]));
      x += 3 * v;
    }
    GPUTM_TRY(it.store(a[k], x));
    if (k == at && what == habit::cancels_a_store) return gputm::cancel;
    if (k == at && what == habit::ends_itself) it.break_loop();
    return gputm::commit;
  }
};

/// Loops in one workspace, at least half of which have no violations.
template <class E>
void a_loop_may_fare_otherwise_than_those_before(const venue& v) {
  dice d(v.seed * 32452843 + v.round);
  for (int k = v.pick({1, 30, 30}); k > 0; --k) {
    const std::uint32_t length = v.pick({3 + d.below(8), 3 + d.below(300), 3 + d.below(30'000)});
    stream s{v.on};
    memory<E> tm{v.on};
    const auto a = tm.template allocate<std::uint32_t>(length + 1), b = tm.template allocate<std::uint32_t>(1);
    loop_config config = config_for(v, {.reads = 2, .writes = 2});
    config.tags = d.below(2) == 0 ? 3 : 255;
    config.smallest_window = 1 + d.below(4);
    if (d.below(4) == 0) config.table_slots = 1u << d.below(6);  // often without room for a mark
    auto w = make_loop_workspace<known_loop>(s, tm, length, config);
    std::vector<std::uint32_t> expected_a(length + 1, 0), expected_b(1, 0);
    for (std::uint32_t turn = 1; turn <= v.pick({5u, 12u, 12u}); ++turn) {
      const bool usual = d.below(2) == 0;
      const auto what = static_cast<habit>(d.below(usual ? 2 : static_cast<std::uint32_t>(habit::many)));
      // often of the full length, which is what the next loop is then expected to have
      const std::uint32_t n = d.below(4) == 0 ? 1 + d.below(length) : length;
      const scratch runs(s, 1);
      const known_loop body{a, b, what, d.below(n), turn * 1'000'003, runs.at()};
      known_loop sequential = body;
      sequential.runs = nullptr;
      sequential.a = array<std::uint32_t>(0, length + 1);
      sequential.b = array<std::uint32_t>(1, 1);
      speculate_async(s, tm, w, static_cast<int>(n), body);
      const bool astray = what == habit::goes_astray;
      loop_statistics done;
      try {
        done = w.collect(s, tm);
        require(!astray, "an index out of range was no error");
      } catch (const index_out_of_range&) {
        require(astray, "an index was out of range");
      }
      model_access<std::uint32_t> model{expected_a.data(), expected_b.data()};
      std::uint32_t i = 0;
      while (i < n && !model.over && !(astray && i == body.at)) {
        model.stored_a = model.stored_b = 0;
        if (sequential(model, static_cast<int>(i++)) != gputm::commit) model.undo();
      }
      if (!astray) {
        require_equal(done.iterations, std::uint64_t{i}, "iterations that took effect");
        require_equal(done.executed, runs.value(), "runs of the body that were counted");
      }
      require(tm.read(s, a) == expected_a && tm.read(s, b) == expected_b,
              "an array differs from the sequential loops'");
    }
  }
}

/// Iterations from `begin` on read an element beside the one that they store to; the first one stores to one of those
/// elements, too, which iterations of this loop do not read, but perhaps those of the loop before.
struct late_readers {
  array<std::uint32_t> a;
  std::uint32_t begin, there, stamp;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    std::uint32_t x = stamp + k;
    if (k >= begin) {
      GPUTM_TRY(const std::uint32_t v, it.load(a[2 * k + 1]));
      x += 3 * v;
    }
    if (k == 0 && begin != 0) GPUTM_TRY(it.store(a[2 * there + 1], x));
    GPUTM_TRY(it.store(a[2 * k], x));
    return gputm::commit;
  }
};

template <class E>
void reads_of_the_loop_before_do_not_count(const venue& v) {
  dice d(v.seed * 86028121 + v.round);
  const std::uint32_t n = v.pick({16 + d.below(20), 1000 + d.below(1000), 300'000 + d.below(300'000)});
  stream s{v.on};
  memory<E> tm{v.on};
  const auto array = tm.template allocate<std::uint32_t>(2 * n);
  loop_config c = config_for(v, {.reads = 1, .writes = 1 + d.below(2)});
  const bool both = c.capacity.writes == 2;  // else the first iteration stores to its own element only
  auto w = make_loop_workspace<late_readers>(s, tm, n, c);
  std::vector<std::uint32_t> a(2 * n, 1);
  tm.write(s, array, a);
  for (std::uint32_t turn = 0; turn < 6; ++turn) {
    late_readers body{array, 0, 0, turn * 1'000'003};
    if (both && turn % 2 != 0) {
      body.begin = 2 + d.below(n - 2);
      body.there = 1 + d.below(body.begin - 1);
    }
    if (body.begin != 0) a[2 * body.there + 1] = body.stamp;
    for (std::uint32_t k = 0; k < n; ++k) a[2 * k] = body.stamp + k + (k >= body.begin ? 3 * a[2 * k + 1] : 0);
    speculate_async(s, tm, w, static_cast<int>(n), body);
    const loop_statistics done = w.collect(s, tm);
    require(tm.read(s, array) == a, "an array of neighbours differs from the sequential loop's");
    if (E::loop.writers) require_equal(done[violation::raw], 0u, "violations of a loop without dependences");
  }
}

}  // namespace gputm::conformance
