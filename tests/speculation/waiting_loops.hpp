// A property of gpu_tls: iterations that run again take the values of others that do, and wait for these, longer in a
// window with long iterations among them.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// x[k] = x[k - 1] + sum of many elements, all of which are read before that.
struct long_links {
  array<std::uint32_t> x, many;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    std::uint32_t sum = 0;
    for (std::uint32_t j = 0; j < many.size(); ++j) {
      GPUTM_TRY(const std::uint32_t value, it.load(many[j]));
      sum += value;
    }
    if (k != 0) {
      GPUTM_TRY(const std::uint32_t before, it.load(x[k - 1]));
      sum += before;
    }
    GPUTM_TRY(it.store(x[k], sum));
    return gputm::commit;
  }
};

/// In the window's only repair everybody but the first one runs again, and none of them in vain.
template <class E>
void long_iterations_are_waited_for(const venue& v) {
  const std::uint32_t n = v.pick({6, 64, 64}), reads = 40;
  stream s{v.on};
  memory<E> tm{v.on};
  const long_links body{tm.template allocate<std::uint32_t>(n), tm.template allocate<std::uint32_t>(reads)};
  std::vector<std::uint32_t> many(reads), x(n);
  for (std::uint32_t j = 0; j < reads; ++j) many[j] = j * j + 1;
  tm.write(s, body.many, many);
  std::uint32_t sum = 0;
  for (const std::uint32_t value : many) sum += value;
  for (std::uint32_t k = 0; k < n; ++k) x[k] = sum * (k + 1);
  loop_config c = config_for(v, {.reads = reads + 1, .writes = 1});
  c.in_place = false;
  c.first_window = n;
  c.repair_whole = true;
  c.patience = 1;
  c.timed = false;
  const loop_statistics done = speculate(s, tm, n, body, c);
  require(tm.read(s, body.x) == x, "the sums");
  require(done.executed <= 2 * n, "one that ran again has not waited for another one's value");
}

/// Long iterations among short ones. Each stores a sum to some element; if they stray, every other one to one that
/// depends on what it has read: when it runs again it may write elsewhere. Some sums end the loop.
struct long_among_short {
  array<std::uint32_t> x, many;
  std::uint32_t seed, stray, last;
  static GPUTM_FN std::uint32_t hash(std::uint32_t a) {
    a = (a ^ a >> 16) * 0x45d9f3bu;
    return (a ^ a >> 15) * 0x2c1b3c6du;
  }
  GPUTM_FN bool is_last(std::uint32_t sum) const { return sum % 64 < last; }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    const std::uint32_t reads = k % 3 == 0 ? 1 : many.size();
    std::uint32_t sum = k;
    for (std::uint32_t j = 0; j < reads; ++j) {
      GPUTM_TRY(const std::uint32_t value, it.load(many[j]));
      sum += value;
    }
    GPUTM_TRY(const std::uint32_t before, it.load(x[hash(seed + 2 * k) % x.size()]));
    sum += before;
    const std::uint32_t to = hash(seed + 2 * k + 1) + (k % 2 != 0 && stray != 0 ? before : 0);
    GPUTM_TRY(it.store(x[to % x.size()], sum));
    if (is_last(sum)) it.break_loop();
    return gputm::commit;
  }
};

/// So long that those that run again are dealt out to all warps.
template <class E>
void very_long_iterations_equal_the_sequential_loop(const venue& v) {
  dice d(v.seed * 32452843 + v.round);
  const std::uint32_t n = v.pick({4u, 64u, 4096u}) + d.below(v.pick({8u, 64u, 4096u})),
                      reads = v.pick({48u, 50u, 260u});
  stream s{v.on};
  memory<E> tm{v.on};
  const long_among_short body{tm.template allocate<std::uint32_t>(n + d.below(n)),
                              tm.template allocate<std::uint32_t>(reads), d.below(1u << 30), d.below(2), d.below(3)};
  std::vector<std::uint32_t> many(reads), x(body.x.size());
  for (std::uint32_t& value : many) value = d.below(1000);
  tm.write(s, body.many, many);
  for (std::uint32_t k = 0; k < n; ++k) {
    std::uint32_t sum = k;
    for (std::uint32_t j = 0; j < (k % 3 == 0 ? 1 : reads); ++j) sum += many[j];
    const std::uint32_t before = x[body.hash(body.seed + 2 * k) % x.size()];
    sum += before;
    x[(body.hash(body.seed + 2 * k + 1) + (k % 2 != 0 && body.stray != 0 ? before : 0)) % x.size()] = sum;
    if (body.is_last(sum)) break;
  }
  loop_config c = config_for(v, {.reads = reads + 1, .writes = 1});
  c.in_place = false;
  c.first_window = n;
  c.repair_whole = d.below(2) == 0;
  c.patience = d.below(3);
  c.timed = false;
  speculate(s, tm, n, body, c);
  require(tm.read(s, body.x) == x, "the sums differ from the sequential loop's");
}

/// Adds one to one of few elements, each of which many iterations write.
struct adds_to_few {
  array<std::uint32_t> x;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const std::uint32_t k = static_cast<std::uint32_t>(i) % x.size();
    GPUTM_TRY(const std::uint32_t value, it.load(x[k]));
    GPUTM_TRY(it.store(x[k], value + 1));
    return gputm::commit;
  }
};

/// Where patience ends before all have run, those that wait for one that has failed fail as well.
template <class E>
void nobody_takes_what_has_failed(const venue& v) {
  dice d(v.seed * 15485863 + v.round);
  const std::uint32_t n = v.pick({8u, 64u, 4096u}) + d.below(v.pick({8u, 64u, 4096u}));
  const std::uint32_t few = 1 + d.below(v.pick({3u, 16u, 512u}));
  stream s{v.on};
  memory<E> tm{v.on};
  const adds_to_few body{tm.template allocate<std::uint32_t>(few)};
  std::vector<std::uint32_t> sums(few);
  for (std::uint32_t i = 0; i < n; ++i) ++sums[i % few];
  loop_config c = config_for(v, {.reads = 1, .writes = 1});
  c.in_place = false;
  c.first_window = n;
  c.repair_whole = true;
  c.patience = d.below(3);
  c.timed = false;
  speculate(s, tm, n, body, c);
  require(tm.read(s, body.x) == sums, "the sums differ from the sequential loop's");
}

}  // namespace gputm::conformance
