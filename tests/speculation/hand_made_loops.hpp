// Properties of loop engines: loops made by hand, each for one thing that may go wrong.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// x[k] = f(x[k], i) with k = i % chains: each iteration depends on the one `chains` below it.
struct chain {
  array<std::uint64_t> x = {};
  std::uint32_t chains = 1;
  std::uint32_t steps = 1;  // of an iteration, each of which waits for the one before
  GPUTM_FN std::uint64_t next(std::uint64_t v, std::uint64_t i) const {
    for (std::uint32_t k = 0; k < steps; ++k) v = v * 31 + i;
    return v;
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const std::uint32_t k = static_cast<std::uint32_t>(i) % chains;
    GPUTM_TRY(const std::uint64_t v, it.load(x[k]));
    GPUTM_TRY(it.store(x[k], next(v, static_cast<std::uint64_t>(i))));
    return gputm::commit;
  }
};

/// Runs n iterations of such chains, and checks their ends.
template <class E>
loop_statistics run_chains(const venue& v, int n, chain body, const loop_config& c) {
  stream s{v.on};
  memory<E> tm{v.on};
  body.x = tm.template allocate<std::uint64_t>(body.chains, 1);
  auto w = make_loop_workspace<chain>(s, tm, n, c);
  require_equal(w.limits().timed, c.timed.value_or(E::loop.repairs && v.how == mode::gpu), "whether windows are timed");
  speculate_async(s, tm, w, n, body);
  const loop_statistics stats = w.collect(s, tm);
  std::vector<std::uint64_t> expected(body.chains, 1);
  for (int i = 0; i < n; ++i) {
    std::uint64_t& x = expected[static_cast<std::uint32_t>(i) % body.chains];
    x = body.next(x, static_cast<std::uint64_t>(i));
  }
  require(tm.read(s, body.x) == expected, "the chains' ends");
  return stats;
}

template <class E>
void a_chain_ends_at_a_small_multiple(const venue& v) {
  const int n = v.pick({40, 20000, 20000});
  const loop_statistics stats = run_chains<E>(v, n, {}, config_for(v, {.reads = 1, .writes = 1}));
  const std::uint64_t all = static_cast<unsigned>(n);
  require(v.exploring() || 2 * stats.executed <= 7 * all, "more than three and a half runs of the body an iteration");
}

/// Windows that commit some tens of light iterations are slower than one thread: if they are timed, it runs more of
/// them, on a GPU most of them. It runs few where windows commit hundreds of heavy ones.
template <class E>
void one_thread_runs_what_windows_are_slower_at(const venue& v) {
  const int n = v.pick({300, 300, 20'000});
  const auto all = static_cast<std::uint64_t>(n);
  const loop_config usual = config_for(v, {.reads = 1, .writes = 1});
  loop_config timed = usual, untimed = usual;
  timed.timed = true;
  untimed.timed = false;
  const chain light{.chains = v.pick({17u, 17u, 5u})}, heavy{.chains = 300, .steps = 2000};
  std::uint64_t with = run_chains<E>(v, n, light, timed).serial;
  if (!E::loop.repairs) return;
  const std::uint64_t without = run_chains<E>(v, n, light, untimed).serial;
  std::uint64_t of_heavy = run_chains<E>(v, n, heavy, timed).serial;
  if (v.how == mode::fast) return;  // that host's clock tells nothing
  // one block may forward all values, so that windows go smoothly
  require(timed.blocks == 1 || with > without, "one thread runs no more iterations if windows are timed");
  if (v.exploring()) return;                 // there time is the steps of all threads
  for (int again = 0; again < 2; ++again) {  // others may take the GPU away meanwhile
    with = std::max(with, run_chains<E>(v, n, light, usual).serial);
    of_heavy = std::min(of_heavy, run_chains<E>(v, n, heavy, usual).serial);
  }
  if (with <= all / 2) throw violated("one thread runs only " + std::to_string(with) + " light iterations");
  if (of_heavy >= all / 100) throw violated("one thread runs " + std::to_string(of_heavy) + " heavy iterations");
}

/// Y[b[i]] += z[i], and the last writer's mark: reductions, WAW, and iterations without dependences.
struct histogram {
  array<std::uint32_t> y, z, last;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(const std::uint32_t k, it.load(z[i]));
    GPUTM_TRY(const std::uint32_t v, it.load(y[k]));
    GPUTM_TRY(it.store(y[k], v + 1));
    GPUTM_TRY(it.store(last[0], static_cast<std::uint32_t>(i)));
    return gputm::commit;
  }
};

template <class E>
void reductions_are_ordinary_loads_and_stores(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  const std::uint32_t n = v.pick({8u, 5000u, 200000u}), bins = v.pick({4u, 4000u, 100000u});
  dice d(v.seed);
  std::vector<std::uint32_t> z(n), expected(bins);
  for (auto& k : z) ++expected[k = d.below(bins)];
  const auto y = tm.template allocate<std::uint32_t>(bins), last = tm.template allocate<std::uint32_t>(1);
  const auto zz = tm.template allocate<std::uint32_t>(n);
  tm.write(s, zz, z);
  loop_config c = config_for(v, {.reads = 2, .writes = 2});
  speculate(s, tm, n, histogram{y, zz, last}, c);
  require(tm.read(s, y) == expected, "counts");
  require_equal(tm.read(s, last, 0), n - 1, "the last writer");
}

/// The first pass takes iteration 12 for the loop's last one; the repair of 1 to 8 shows that it is not, and that 11
/// and 12 must be repaired, too.
struct changes_its_mind {
  array<std::uint32_t> a, b, c;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    if (i == 0) {
      GPUTM_TRY(it.store(a[0], 1u));
    } else if (i < 9) {
      GPUTM_TRY(const std::uint32_t seen, it.load(a[0]));
      GPUTM_TRY(it.store(seen == 1 ? b[k] : c[k], 1u));
    } else if (i == 11 || i == 12) {
      GPUTM_TRY(const std::uint32_t seen, it.load(b[1]));
      if (seen == 0 && i == 12) it.break_loop();
    }
    GPUTM_TRY(it.store(c[k + 10], k));
    return gputm::commit;
  }
};

template <class E>
void an_end_on_old_data_is_none(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<std::uint32_t>(1), b = tm.template allocate<std::uint32_t>(9),
             c = tm.template allocate<std::uint32_t>(50);
  loop_config config = config_for(v, {.reads = 2, .writes = 2});
  config.first_window = 40;
  const loop_statistics stats = speculate(s, tm, 40, changes_its_mind{a, b, c}, config);
  require_equal(stats.iterations, 40u, "iterations that took effect");
  const auto found = tm.read(s, c);
  for (std::uint32_t k = 0; k < 50; ++k) require_equal(found[k], k < 10 ? 0 : k - 10, "an element");
}

struct ends_at {
  array<std::uint32_t> a;
  std::uint32_t last, stamp;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    GPUTM_TRY(it.store(a[k], stamp));
    if (k == last) it.break_loop();
    return gputm::commit;
  }
};

/// Loops one after another in one workspace, each of which ends itself elsewhere: what became of a position before does
/// not count, whether or not tags have run out since.
template <class E>
void ends_of_earlier_loops_do_not_count(const venue& v) {
  constexpr std::uint32_t length = 24;
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<std::uint32_t>(length);
  loop_config config = config_for(v, {.reads = 1, .writes = 1});
  config.first_window = length;
  config.tags = v.round % 2 == 0 ? 3 : 255;
  auto w = make_loop_workspace<ends_at>(s, tm, length, config);
  std::vector<std::uint32_t> expected(length, 0);
  std::uint32_t stamp = 0;
  for (const std::uint32_t last : {4u, 20u, 2u, 9u, 23u}) {
    speculate_async(s, tm, w, length, ends_at{a, last, ++stamp});
    require_equal(w.collect(s, tm).iterations, std::uint64_t{last} + 1, "iterations that took effect");
    for (std::uint32_t k = 0; k <= last; ++k) expected[k] = stamp;
    require(tm.read(s, a) == expected, "the array differs from the sequential loops'");
  }
}

/// Groups of seven. The second and the third of a group write elements that the last writes, too, so that only a list
/// of all writers tells the fourth from whom to read. Which one the third writes depends on what it reads of the first:
/// in the first pass it may be another one than in the repair. The fifth reads it; of the fifth the sixth does.
struct writers_in_between {
  array<std::uint32_t> a, b, c, elsewhere;  // of each group 1, 2, 3, and 1
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i), group = k / 7;
    const auto often = b[2 * group], always = b[2 * group + 1];
    switch (k % 7) {
      case 0: GPUTM_TRY(it.store(a[group], 1u)); break;
      case 1: GPUTM_TRY(it.store(always, k)); break;
      case 2: {
        GPUTM_TRY(const std::uint32_t seen, it.load(a[group]));
        GPUTM_TRY(it.store(seen == 1 ? often : elsewhere[group], k));
        break;
      }
      case 3: {
        GPUTM_TRY(const std::uint32_t x, it.load(often));
        GPUTM_TRY(const std::uint32_t y, it.load(always));
        GPUTM_TRY(it.store(c[3 * group], x + y));
        break;
      }
      case 4: {
        GPUTM_TRY(const std::uint32_t x, it.load(often));
        GPUTM_TRY(it.store(c[3 * group + 1], x));
        break;
      }
      case 5: {
        GPUTM_TRY(const std::uint32_t x, it.load(c[3 * group + 1]));
        GPUTM_TRY(it.store(c[3 * group + 2], x));
        break;
      }
      default: GPUTM_TRY(it.store(often, 7000 + k)); GPUTM_TRY(it.store(always, 8000 + k));
    }
    return gputm::commit;
  }
};

template <class E>
void a_reader_between_writers_finds_the_right_one(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  const std::uint32_t groups = v.pick({4u, 300u, 20000u});
  const auto a = tm.template allocate<std::uint32_t>(groups), b = tm.template allocate<std::uint32_t>(2 * groups),
             c = tm.template allocate<std::uint32_t>(3 * groups),
             elsewhere = tm.template allocate<std::uint32_t>(groups);
  dice d(v.seed * 32452843 + v.round);
  loop_config config = config_for(v, {.reads = 2, .writes = 2});
  config.first_window = 7 * (1 + d.below(3));  // the next one may be wary from its beginning
  config.smallest_window = 7;
  config.table_slots = d.below(2) == 0 ? 0 : 256;
  const loop_statistics stats = speculate(s, tm, 7 * groups, writers_in_between{a, b, c, elsewhere}, config);
  require_equal(stats.iterations, 7 * groups, "iterations that took effect");
  const auto found_b = tm.read(s, b), found_c = tm.read(s, c), found_elsewhere = tm.read(s, elsewhere);
  for (std::uint32_t g = 0; g < groups; ++g) {
    require_equal(found_c[3 * g], 14 * g + 3, "what the reader found");
    require_equal(found_c[3 * g + 1], 7 * g + 2, "what the second reader found");
    require_equal(found_c[3 * g + 2], 7 * g + 2, "what the reader of a reader found");
    require_equal(found_b[2 * g], 7000 + 7 * g + 6, "the last write");
    require_equal(found_b[2 * g + 1], 8000 + 7 * g + 6, "the last write of the other");
    require_equal(found_elsewhere[g], 0u, "what nobody writes in the end");
  }
}

/// Groups of eight. Four write `target`, the third of them on old data only: it reads what iteration 1 has from
/// iteration 0, and writes something else when it runs again. The reader needs the second, which is neither first nor
/// last.
struct writer_changes_its_mind {
  array<std::uint32_t> a, b, target, elsewhere, out;  // of each group one
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i), group = k / 8;
    switch (k % 8) {
      case 0: GPUTM_TRY(it.store(a[group], 1u)); break;
      case 1: {
        GPUTM_TRY(const std::uint32_t x, it.load(a[group]));
        GPUTM_TRY(it.store(b[group], x));
        break;
      }
      case 4: {
        GPUTM_TRY(const std::uint32_t x, it.load(target[group]));
        GPUTM_TRY(const std::uint32_t y, it.load(b[group]));
        GPUTM_TRY(it.store(out[group], x + y));
        break;
      }
      case 5: {
        GPUTM_TRY(const std::uint32_t x, it.load(b[group]));
        GPUTM_TRY(it.store(x == 1 ? elsewhere[group] : target[group], k));
        break;
      }
      case 2:
      case 3:
      case 6: GPUTM_TRY(it.store(target[group], k)); break;
      default: break;
    }
    return gputm::commit;
  }
};

template <class E>
void a_writer_that_changes_its_mind_hides_no_other(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  const std::uint32_t groups = v.pick({6u, 300u, 20000u});
  const auto some = [&] { return tm.template allocate<std::uint32_t>(groups); };
  const writer_changes_its_mind body{some(), some(), some(), some(), some()};
  dice d(v.seed * 49979687 + v.round);
  loop_config c = config_for(v, {.reads = 2, .writes = 1});
  c.first_window = 8 * (1 + d.below(4));  // the next one may be wary from its beginning
  c.smallest_window = 8;
  c.table_slots = d.below(2) == 0 ? 0 : 256;
  const loop_statistics stats = speculate(s, tm, 8 * groups, body, c);
  require_equal(stats.iterations, 8 * groups, "iterations that took effect");
  const auto target = tm.read(s, body.target), elsewhere = tm.read(s, body.elsewhere), out = tm.read(s, body.out);
  for (std::uint32_t g = 0; g < groups; ++g) {
    require_equal(out[g], 8 * g + 3 + 1, "what the reader found");
    require_equal(target[g], 8 * g + 6, "the last write");
    require_equal(elsewhere[g], 8 * g + 5, "the write of whom has changed its mind");
  }
}

/// Eight reads of what nobody writes, and then one of what the iteration before has written.
struct long_reader {
  static constexpr std::uint32_t unwritten = 8;
  array<std::uint32_t> x;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = unwritten + static_cast<std::uint32_t>(i);
    std::uint32_t sum = 1;
    for (std::uint32_t j = 0; j < unwritten; ++j) {
      GPUTM_TRY(const std::uint32_t value, it.load(x[j]));
      sum += value;
    }
    GPUTM_TRY(const std::uint32_t before, it.load(x[k - 1]));
    GPUTM_TRY(it.store(x[k], before + sum));
    return gputm::commit;
  }
};

template <class E>
void all_reads_of_an_iteration_are_checked(const venue& v) {
  const std::uint32_t n = v.pick({9u, 300u, 300u});
  stream s{v.on};
  memory<E> tm{v.on};
  const auto x = tm.template allocate<std::uint32_t>(long_reader::unwritten + n);
  loop_config c = config_for(v, {.reads = long_reader::unwritten + 1, .writes = 1});
  if (v.exploring() && v.round % 2 == 0) {  // one position a thread, whose check is another
    c.blocks = 1;
    c.threads = n;
  }
  (void)speculate(s, tm, n, long_reader{x}, c);
  const auto found = tm.read(s, x);
  for (std::uint32_t k = 0; k < n; ++k) require_equal(found[long_reader::unwritten + k], k + 1, "a sum");
}

/// Iteration 3 stores to an array only when it runs again, and 5 has read that array in the first pass, unlogged since
/// nobody had stored to it; not in the quiet loop before, either.
struct stores_late {
  array<std::uint32_t> x, late, out;
  bool quiet;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    if (quiet) {
      GPUTM_TRY(it.store(i == 0 ? x[0] : out[k], 0u));
      return gputm::commit;
    }
    if (i == 0) GPUTM_TRY(it.store(x[0], 1u));
    if (i == 3) {
      GPUTM_TRY(const std::uint32_t seen, it.load(x[0]));
      if (seen == 1) GPUTM_TRY(it.store(late[0], 77u));
    }
    std::uint32_t seen = 0;
    if (i == 5) {
      GPUTM_TRY(const std::uint32_t value, it.load(late[0]));
      seen = value;
    }
    GPUTM_TRY(it.store(out[k], seen + k));
    return gputm::commit;
  }
};

template <class E>
void an_array_may_first_be_stored_to_in_a_repair(const venue& v) {
  constexpr int n = 12;
  stream s{v.on};
  memory<E> tm{v.on};
  const auto x = tm.template allocate<std::uint32_t>(1), late = tm.template allocate<std::uint32_t>(1),
             out = tm.template allocate<std::uint32_t>(n);
  loop_config c = config_for(v, {.reads = 2, .writes = 2});
  c.first_window = n;
  auto w = make_loop_workspace<stores_late>(s, tm, n, c);
  for (int k = 0; k < 3; ++k) {
    tm.fill(s, late, 0u);
    tm.fill(s, x, 0u);
    for (const bool quiet : {true, false}) {
      speculate_async(s, tm, w, n, stores_late{x, late, out, quiet});
      (void)w.collect(s, tm);
    }
    const auto found = tm.read(s, out);
    for (std::uint32_t i = 0; i < n; ++i) require_equal(found[i], i == 5 ? 77 + 5 : i, "what an iteration found");
  }
}

/// So many iterations write one element that no list of them can be searched; a reader now and then, and a chain that
/// makes windows wary.
struct crowd {
  array<std::uint32_t> target, chain, out;
  std::uint32_t every;
  GPUTM_FN bool reads(std::uint32_t k) const { return k % every == every / 2; }
  GPUTM_FN static bool links(std::uint32_t k) { return k % 50 == 1; }
  GPUTM_FN static bool writes(std::uint32_t k) { return k % 4 != 3; }  // on all threads of any small grid
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    std::uint32_t value = k;
    if (reads(k)) {
      GPUTM_TRY(const std::uint32_t seen, it.load(target[0]));
      value = seen;
    } else if (links(k)) {
      GPUTM_TRY(const std::uint32_t seen, it.load(chain[k / 50]));
      GPUTM_TRY(it.store(chain[k / 50 + 1], seen + 1));
    } else if (writes(k)) {
      GPUTM_TRY(it.store(target[0], k + 1));
    }
    GPUTM_TRY(it.store(out[k], value));
    return gputm::commit;
  }
};

template <class E>
void a_reader_behind_many_writers_finds_the_last(const venue& v) {
  const std::uint32_t n = v.pick({1200u, 3000u, 20'000u});
  stream s{v.on};
  memory<E> tm{v.on};
  const auto target = tm.template allocate<std::uint32_t>(1), chain = tm.template allocate<std::uint32_t>(n / 50 + 2),
             out = tm.template allocate<std::uint32_t>(n);
  const crowd body{target, chain, out, v.round % 2 == 0 ? 37u : 401u};
  loop_config c = config_for(v, {.reads = 1, .writes = 2});
  c.first_window = 40 + v.pick({150u, 500u, 2000u}) * static_cast<std::uint32_t>(v.round % 7);
  c.table_slots = v.round / 2 % 2 == 0 ? 0 : 4096;
  if (v.round % 3 == 0) {
    c.adapt = false;
    c.window = n;
    c.stretch = 0;
  }
  (void)speculate(s, tm, static_cast<int>(n), body, c);
  const auto found = tm.read(s, out);
  std::uint32_t last = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    require_equal(found[k], body.reads(k) ? last : k, "what an iteration found");
    if (!body.reads(k) && !crowd::links(k) && crowd::writes(k)) last = k + 1;
  }
  require_equal(tm.read(s, target, 0), last, "the last write");
}

/// The first iteration stores more than fits, and then looks at what another one stores.
struct too_long {
  array<std::uint32_t> a;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    if (i != 0) {
      GPUTM_TRY(it.store(a[static_cast<std::uint32_t>(i)], 7u));
      return gputm::commit;
    }
    GPUTM_TRY(it.store(a[10], 1u));
    GPUTM_TRY(it.store(a[11], 1u));
    GPUTM_TRY(const std::uint32_t seen, it.load(a[1]));
    if (seen == 7) GPUTM_TRY(it.store(a[12], 1u));
    return gputm::commit;
  }
};

template <class E>
void what_an_iteration_needs_is_counted_as_in_sequence(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  const auto a = tm.template allocate<std::uint32_t>(16);
  loop_config c = config_for(v, {.reads = 2, .writes = 1});
  require_throws<capacity_exceeded>([&] { (void)speculate(s, tm, 4, too_long{a}, c); },
                                    {"iteration 0", "needs about 2 entries"});
  for (const std::uint32_t x : tm.read(s, a)) require_equal(x, 0u, "an element of a loop that failed at its beginning");
}

/// A walk along a list that the iteration before has built: on old data it goes astray, or never ends.
struct walker {
  array<std::int32_t> next;
  std::uint32_t nodes;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    // node i is linked behind node i-1, which it finds by walking from node 0
    std::int32_t at = 0;
    for (std::int32_t steps = 0; steps < i; ++steps) {
      GPUTM_TRY(const std::int32_t to, it.load(next[static_cast<std::uint32_t>(at)]));
      at = to;
    }
    if (at != i) return gputm::retry;  // on old data only
    GPUTM_TRY(it.store(next[static_cast<std::uint32_t>(i)], i + 1));
    return gputm::commit;
  }
};

template <class E>
void iterations_on_old_data_upset_nobody(const venue& v) {
  stream s{v.on};
  memory<E> tm{v.on};
  const std::uint32_t n = v.pick({6u, 50u, 50u});
  // unlinked nodes point to themselves, to nowhere, or back to the first
  for (const std::int32_t unlinked : {-1, 0}) {
    const auto next = tm.template allocate<std::int32_t>(n, unlinked);
    loop_config c = config_for(v, {.reads = n, .writes = 1});
    speculate(s, tm, n, walker{next, n}, c);
    const auto links = tm.read(s, next);
    for (std::uint32_t k = 0; k < n; ++k) require_equal(links[k], static_cast<std::int32_t>(k + 1), "a link");
  }
}

}  // namespace gputm::conformance
