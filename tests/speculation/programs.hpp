// Random loops: each iteration has a little program of loads and stores, some of them at addresses that depend on
// what has been loaded, and may cancel or end the loop. The model runs them on the host with nothing of the library.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "conformance/values_on.hpp"
#include "conformance/venue.hpp"
#include "gputm/speculate.hpp"

namespace gputm::conformance {

struct odd_struct {  // 5 bytes, moved byte by byte
  std::uint8_t b[5];
  bool operator==(const odd_struct&) const = default;
};
struct struct_of_12 {
  std::uint32_t w[3];
  bool operator==(const struct_of_12&) const = default;
};
struct struct_of_16 {
  std::uint64_t w[2];
  bool operator==(const struct_of_16&) const = default;
};

/// A value whose bytes all depend on `seed`. In words: nvcc 13.0 for sm_90 gave other bytes than the host where an
/// array of bytes was computed one by one, in two instantiations of many, unless its optimiser was held back (-Xcicc
/// -O1).
template <class T>
GPUTM_FN T make_value(std::uint64_t seed) {
  std::uint64_t words[(sizeof(T) + 7) / 8];
  for (std::uint64_t& w : words) {
    seed = seed * 0xD1342543DE82EF95u + 1;
    w = seed ^ seed >> 31;
  }
  T value;
  memcpy(static_cast<void*>(&value), words, sizeof value);
  return value;
}
template <class T>
GPUTM_FN std::uint64_t digest(const T& value) {
  std::uint64_t words[(sizeof(T) + 7) / 8] = {}, d = 0;
  memcpy(words, &value, sizeof value);
  for (const std::uint64_t w : words) d = (d ^ w) * 0x9E3779B97F4A7C15u;
  return d ^ d >> 29;
}

enum class act : std::uint8_t {
  load,
  load_there,
  load_several,
  load_several_there,
  store,
  store_there,
  store_if,
  store_until,
  load_other,
  store_other,
  cancel_if,
  break_if
};
struct step {
  act what;
  std::uint32_t index;                    ///< of the element; to leave: one chance in so many
  std::uint32_t count = 1, distance = 1;  ///< of several elements
};

/// The body. `there`: an address that depends on what has been loaded; so does whether store_if stores. What
/// store_until does ends only because it loads what it has stored.
template <class T>
struct program {
  array<T> a;
  array<std::uint32_t> b;
  const step* steps;
  const std::uint32_t* starts;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9E3779B9u + 1;
    for (std::uint32_t k = starts[i]; k < starts[i + 1]; ++k) {
      const step s = steps[k];
      const auto there = static_cast<std::uint32_t>((x >> 5) % a.size());
      switch (s.what) {
        case act::load:
        case act::load_there: {
          GPUTM_TRY(const T v, it.load(a[s.what == act::load ? s.index : there]));
          x = x * 31 + digest(v);
          break;
        }
        case act::load_several:
        case act::load_several_there: {
          const std::uint32_t from = s.what == act::load_several ? s.index : there;
          GPUTM_TRY(it.load_each(
              s.count, [&](std::uint32_t j) { return a[(from + j * s.distance) % a.size()]; },
              [&x](std::uint32_t j, const T& v) { x = x * 31 + j + digest(v); }));
          break;
        }
        case act::store_if:
          if (x % 2 != 0) GPUTM_TRY(it.store(a[s.index], make_value<T>(x)));
          break;
        case act::store_until:
          for (;;) {
            GPUTM_TRY(const T v, it.load(a[s.index]));
            x = digest(v);
            if (x % 4 == 0) break;
            GPUTM_TRY(it.store(a[s.index], make_value<T>(x)));
          }
          break;
        case act::store:
        case act::store_there: GPUTM_TRY(it.store(a[s.what == act::store ? s.index : there], make_value<T>(x))); break;
        case act::load_other: {
          GPUTM_TRY(const std::uint32_t v, it.load(b[s.index % b.size()]));
          x = x * 31 + v;
          break;
        }
        case act::store_other: GPUTM_TRY(it.store(b[s.index % b.size()], static_cast<std::uint32_t>(x))); break;
        case act::cancel_if:
          if (x % s.index == 0) return gputm::cancel;
          break;
        case act::break_if:
          if (x % s.index == 0) it.break_loop();
          break;
      }
    }
    return gputm::commit;
  }
};

/// How an iteration accesses the model. Pointers, so that nvcc may take it for device code. It remembers what it
/// overwrites.
template <class T>
struct model_access {
  static constexpr unsigned most = 300;  // stores of an iteration
  T* a;
  std::uint32_t* b;
  bool over = false;
  unsigned stored_a = 0, stored_b = 0;
  std::uint32_t at_a[most] = {}, at_b[most] = {}, was_b[most] = {};
  T was_a[most] = {};

  template <class V>
  GPUTM_FN loaded<V> load(element<V> e) {
    if constexpr (std::is_same_v<V, std::uint32_t>)
      if (e.handle == 1) return {b[e.index], true};
    if constexpr (std::is_same_v<V, T>) return {a[e.index], true};
    return {V{}, false};
  }
  template <class Where, class Use>
  GPUTM_FN loaded_each load_each(std::uint32_t count, Where where, Use use) {
    for (std::uint32_t k = 0; k < count; ++k) use(k, load(where(k)).value);
    return {true};
  }
  template <class V>
  GPUTM_FN stored store(element<V> e, const std::type_identity_t<V>& v) {
    if constexpr (std::is_same_v<V, std::uint32_t>)
      if (e.handle == 1) {
        if (stored_b == most) return {false};
        at_b[stored_b] = e.index;
        was_b[stored_b++] = b[e.index];
        b[e.index] = v;
        return {true};
      }
    if constexpr (std::is_same_v<V, T>) {
      if (stored_a == most) return {false};
      at_a[stored_a] = e.index;
      was_a[stored_a++] = a[e.index];
      a[e.index] = v;
    }
    return {true};
  }
  GPUTM_FN void break_loop() { over = true; }
  void undo() {
    while (stored_a != 0) {
      --stored_a;
      a[at_a[stored_a]] = was_a[stored_a];
    }
    while (stored_b != 0) {
      --stored_b;
      b[at_b[stored_b]] = was_b[stored_b];
    }
  }
};

/// The model: one iteration after another, its writes undone if it cancels.
template <class T>
struct model {
  std::vector<T> a;
  std::vector<std::uint32_t> b;
  bool over = false;  ///< the last run came to an iteration that ends the loop

  /// Returns how many iterations took effect.
  int run(int n, program<T> p) {
    p.a = array<T>(0, static_cast<std::uint32_t>(a.size()));
    p.b = array<std::uint32_t>(1, static_cast<std::uint32_t>(b.size()));
    over = false;
    for (int i = 0; i < n; ++i) {
      model_access<T> it{a.data(), b.data()};
      if (p(it, i) == outcome::cancel) it.undo();
      over = it.over;
      if (over) return i + 1;
    }
    return n;
  }
};

/// A random loop: how long, over how many elements, how many steps an iteration.
struct loop_shape {
  int n = 0;
  std::uint32_t elements = 1, others = 1, steps = 0;
  std::uint32_t store_share = 50;        ///< of 100 steps
  bool leaves = false, indirect = true;  ///< cancels and breaks; addresses that depend on data
  std::uint32_t stays = 40;              ///< cancels and breaks happen once in so many times at least
  std::uint32_t row = 0;                 ///< not 0: iterations read and write rows of so many neighbours
  bool in_turn = false;                  ///< of a row: a load and a store in turn; else all loads first
  bool together = false;                 ///< some loads are of several elements at once
  static constexpr std::uint32_t most_steps = 8, most_together = 21;
  std::uint32_t most_writes() const { return row != 0 ? row : steps; }
  std::uint32_t most_reads() const { return together && row == 0 ? steps * most_together : most_writes(); }

  static loop_shape random(dice& d, bool small) {
    static constexpr int lengths[] = {0, 1, 2, 3, 31, 32, 33, 64, 97, 150};
    static constexpr std::uint32_t sizes[] = {1, 2, 3, 8, 40, 300, 5000};
    loop_shape s;
    s.n = small ? static_cast<int>(1 + d.below(12)) : lengths[d.below(10)];
    s.elements = sizes[d.below(small ? 4 : 7)];
    s.others = sizes[d.below(small ? 3 : 6)];
    s.steps = 1 + d.below(small && d.below(4) != 0 ? 3 : most_steps);  // few, or more than are looked at together
    s.store_share = d.below(4) * 25 + 10;
    s.leaves = d.below(3) == 0;
    s.indirect = d.below(2) == 0;
    return s;
  }
  /// Rows of `row` elements, which are read from the lower half of the array and written to its upper half: a row of
  /// each for every iteration. Now and then a row is shorter or in another order, an iteration writes another one's, or
  /// it reads what one below it writes.
  static loop_shape of_rows(dice& d, int n) {
    loop_shape s;
    s.n = n;
    s.row = d.below(3) == 0 ? 1 : 2 + d.below(d.below(2) == 0 ? 5 : 19);  // warps write back together up to 16
    s.elements = 2 * s.row * static_cast<std::uint32_t>(n + 1);
    s.in_turn = d.below(2) == 0;
    s.leaves = d.below(4) == 0;
    s.stays = 10 + d.below(4) * 100;
    return s;
  }
  std::vector<step> steps_of_a_row(dice& d, std::uint32_t i) const {
    const auto now_and_then = [&] { return d.below(stays) == 0; };
    const std::uint32_t half = elements / 2, read = now_and_then() ? half + row * d.below(i + 1) : row * i;
    const std::uint32_t written = half + row * (now_and_then() ? d.below(i + 1) : i);
    const std::uint32_t length = now_and_then() ? d.below(row + 1) : row;
    std::vector<step> all;
    if (together) all.push_back({act::load_several, read, row});
    for (std::uint32_t k = 0; k < row && !together; ++k) {
      all.push_back({act::load, read + k});
      if (in_turn && k < length) all.push_back({act::store, written + k});
    }
    for (std::uint32_t k = 0; k < length && !in_turn; ++k) all.push_back({act::store, written + k});
    if (length > 3 && now_and_then()) std::swap(all.back(), all[all.size() - 2]);
    if (leaves && now_and_then()) all.push_back({d.below(3) ? act::cancel_if : act::break_if, 1 + d.below(3)});
    return all;
  }
  std::vector<step> steps_of_one(dice& d, std::uint32_t i) const {
    if (row != 0) return steps_of_a_row(d, i);
    std::vector<step> all;
    const std::uint32_t many = d.below(steps + 1);
    for (std::uint32_t k = 0; k < many; ++k) {
      const bool storing = d.below(100) < store_share, other = d.below(5) == 0, there = indirect && d.below(4) == 0;
      act what = storing ? act::store : act::load;
      if (there) what = !storing ? act::load_there : d.below(2) ? act::store_there : act::store_if;
      if (other) what = storing ? act::store_other : act::load_other;
      all.push_back({what, d.below(elements)});
      if (together && (what == act::load || what == act::load_there))
        all.back() = {what == act::load ? act::load_several : act::load_several_there, all.back().index,
                      1 + d.below(most_together), 1 + d.below(3)};
      if (leaves && d.below(6) == 0) all.push_back({d.below(3) ? act::cancel_if : act::break_if, 2 + d.below(stays)});
    }
    return all;
  }
};

/// The steps of all iterations, in memory that kernels can read.
class script {
  buffer steps_, starts_;

  static std::vector<std::vector<step>> steps_of(dice& d, const loop_shape& shape) {
    std::vector<std::vector<step>> all;
    for (int i = 0; i < shape.n; ++i) all.push_back(shape.steps_of_one(d, static_cast<std::uint32_t>(i)));
    return all;
  }

 public:
  script(const stream& s, dice& d, const loop_shape& shape) : script(s, steps_of(d, shape)) {}
  script(const stream& s, const std::vector<std::vector<step>>& iterations) {
    std::vector<step> steps;
    std::vector<std::uint32_t> starts{0};
    for (const std::vector<step>& all : iterations) {
      steps.insert(steps.end(), all.begin(), all.end());
      starts.push_back(static_cast<std::uint32_t>(steps.size()));
    }
    steps.push_back({});
    steps_ = values_on(s, steps);
    starts_ = values_on(s, starts);
  }
  template <class T>
  program<T> over(array<T> a, array<std::uint32_t> b) const {
    return {a, b, steps_.as<step>(), starts_.as<std::uint32_t>()};
  }
  /// The same with the steps on the host, for the model.
  template <class T>
  struct on_host {
    std::vector<step> steps;
    std::vector<std::uint32_t> starts;
    program<T> over() const { return {{}, {}, steps.data(), starts.data()}; }
  };
  template <class T>
  on_host<T> host(const stream& s) const {
    on_host<T> h;
    h.steps.resize(steps_.size() / sizeof(step));
    h.starts.resize(starts_.size() / sizeof(std::uint32_t));
    s.on()->copy_from_device(s.handle(), h.steps.data(), steps_.as<void>(), steps_.size());
    s.on()->copy_from_device(s.handle(), h.starts.data(), starts_.as<void>(), starts_.size());
    s.synchronize();
    return h;
  }
};

/// On the grid of the venue. Loops in place do not show what windows do, so some venues have none.
inline loop_config config_for(const venue& v, const capacity& room) {
  loop_config c;
  c.capacity = room;
  c.in_place = (v.exploring() ? v.round / 6 : v.round) % 2 == 0;
  if ((v.exploring() ? v.round / 12 : v.round / 2) % 2 == 0) c.scout_from = 1;
  c.blocks = v.shape().blocks;
  c.threads = v.shape().threads;
  return c;
}
/// Windows, tables and limits by chance.
inline loop_config random_config(dice& d, const venue& v, const loop_shape& shape) {
  static constexpr std::uint32_t tables[] = {0, 0, 1, 2, 4, 16, 64};
  static constexpr std::uint32_t tags[] = {1023, 3, 5, 9};
  static constexpr std::uint32_t stretches[] = {1024, 0, 1, 3};
  const launch_config grid = v.shape();
  loop_config c;
  c.capacity = {.reads = d.below(3) == 0 ? 1 : shape.most_reads(), .writes = shape.most_writes()};
  if (shape.together && d.below(2) == 0) c.capacity.reads = 1 + d.below(8);  // which groups of loads fill
  c.blocks = v.exploring() ? grid.blocks : 1 + d.below(4);
  const std::uint32_t some = d.below(2) * 31, more = d.below(3) * 16;
  c.threads = v.exploring() ? grid.threads : 1 + some + more;
  c.window = d.below(2) == 0 ? 0 : 1 + d.below(static_cast<std::uint32_t>(shape.n) + 1);
  c.first_window = d.below(2) == 0 ? 0 : 1 + d.below(static_cast<std::uint32_t>(shape.n) + 1);
  c.smallest_window = 1 + d.below(v.exploring() ? 4 : 32);
  c.adapt = d.below(3) != 0;
  c.overlap = d.below(4) != 0;
  c.peek = (v.exploring() ? v.round / 6 : v.round) % 4 != 3;  // no draw: loops that seeds stand for stay the same
  if (v.exploring() && v.round % 3 == 2) c.repair_whole = true;
  if (v.round % 4 == 3) c.most_again = 1 + v.round / 4 % 3;
  if (v.round % 5 == 4) c.patience = v.round / 5 % 3;
  c.repairs = d.below(4) == 0 ? 0 : d.below(6);
  c.stretch = stretches[d.below(4)];
  c.table_slots = tables[d.below(7)];
  c.tags = tags[d.below(4)];
  if (v.round % 4 == 1) c.scout_from = 1;
  if (const std::uint32_t timed = d.below(4); timed < 2) c.timed = timed == 0;
  return c;
}

}  // namespace gputm::conformance
