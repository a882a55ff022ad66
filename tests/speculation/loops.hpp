// Properties of loop engines: random loops, whose results are those of the sequential loop.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// Two arrays with elements of type T and the model of them, for random loops under engine E.
template <class E, class T>
class random_scene {
  stream s_;
  memory<E> tm_;
  array<T> a_;
  array<std::uint32_t> b_;
  model<T> expected_;

 public:
  random_scene(const venue& v, dice& d, const loop_shape& shape)
      : s_{v.on},
        tm_{v.on},
        a_(tm_.template allocate<T>(shape.elements)),
        b_(tm_.template allocate<std::uint32_t>(shape.others)) {
    expected_.a.resize(shape.elements);
    expected_.b.resize(shape.others);
    for (T& x : expected_.a) x = make_value<T>(d.next());
    for (std::uint32_t& x : expected_.b) x = d.below(1000);
    tm_.write(s_, a_, expected_.a);
    tm_.write(s_, b_, expected_.b);
  }
  loop_workspace<E> workspace(int n, const loop_config& config) {
    return make_loop_workspace<program<T>>(s_, tm_, n, config);
  }
  /// One loop; execute(stream, memory, n, body) runs it.
  template <class Execute>
  void loop(dice& d, const loop_shape& shape, const loop_config& config, Execute execute) {
    const script what(s_, d, shape);
    const auto on_host = what.template host<T>(s_);
    const int iterations = expected_.run(shape.n, on_host.over());
    const loop_statistics stats = execute(s_, tm_, shape.n, what.over(a_, b_));
    require_equal(stats.iterations, static_cast<std::uint64_t>(iterations), "iterations that took effect");
    require(stats.executed >= stats.iterations, "an iteration took effect and was not executed");
    require(stats.serial + stats.rounds >= (shape.n != 0), "neither a window nor a stretch");
    if (!config.adapt && config.stretch == 0 && E::loop.writers)
      require_equal(stats.serial, 0u, "iterations that one thread ran alone");
    require(tm_.read(s_, b_) == expected_.b, "the second array differs from the sequential loop's");
    require(tm_.read(s_, a_) == expected_.a, "the first array differs from the sequential loop's");
  }
};

/// One random loop with elements of type T under engine E.
template <class E, class T>
void one_random_loop(const venue& v, dice& d, const loop_shape& shape, const loop_config& config) {
  random_scene<E, T>(v, d, shape).loop(d, shape, config, [&](auto& s, auto& tm, int n, const program<T>& body) {
    return speculate(s, tm, n, body, config);
  });
}

/// The same with elements of the k-th type of several. Each takes seconds to compile, so mutants have two.
template <class E>
void one_random_loop(std::uint64_t k, const venue& v, dice& d, const loop_shape& shape, const loop_config& config) {
#if defined(GPUTM_FEW_TYPES)
  return k % 2 == 0 ? one_random_loop<E, std::uint32_t>(v, d, shape, config)
                    : one_random_loop<E, odd_struct>(v, d, shape, config);
#else
  switch (k % 6) {
    case 0: return one_random_loop<E, std::uint32_t>(v, d, shape, config);
    case 1: return one_random_loop<E, std::uint64_t>(v, d, shape, config);
    case 2: return one_random_loop<E, std::uint8_t>(v, d, shape, config);
    case 3: return one_random_loop<E, struct_of_12>(v, d, shape, config);
    case 4: return one_random_loop<E, struct_of_16>(v, d, shape, config);
    default: return one_random_loop<E, odd_struct>(v, d, shape, config);
  }
#endif
}

/// Random loops, elements of several types in turn.
template <class E>
void random_loops_equal_the_sequential_loop(const venue& v) {
  const std::uint64_t rounds = v.pick({1u, 400u, 200u});
  dice d(v.seed * 7919 + v.round);
  for (std::uint64_t k = 0; k < rounds; ++k) {
    const loop_shape shape = loop_shape::random(d, v.exploring());
    one_random_loop<E>(k + v.round, v, d, shape, random_config(d, v, shape));
  }
}

/// Rows of neighbours, which warps write back together, and most of them where nobody reads, so that windows overlap.
template <class E>
void rows_equal_the_sequential_loop(const venue& v) {
  const std::uint64_t rounds = v.pick({1u, 25u, 10u});
  dice d(v.seed * 86028121 + v.round);
  for (std::uint64_t k = 0; k < rounds; ++k) {
    const loop_shape shape =
        loop_shape::of_rows(d, static_cast<int>(v.pick({4 + d.below(9), 100 + d.below(400), 500 + d.below(1500)})));
    loop_config config = random_config(d, v, shape);
    if (d.below(2) == 0) config.window = 1 + static_cast<std::uint32_t>(shape.n) / 4;  // several
    if (v.how == mode::gpu && !config.adapt)
      config.window = 1 + d.below(64);  // each may run whole and commit one iteration, on one thread
    one_random_loop<E>(k + v.round, v, d, shape, config);
  }
}

/// The same with one type only, and dense dependences: what mutants are held against.
template <class E>
void dense_loops_equal_the_sequential_loop(const venue& v) {
  dice d(v.seed * 104729 + v.round);
  for (int k = v.pick({1, 1, 100}); k > 0; --k) {
    loop_shape shape = loop_shape::random(d, v.exploring());
    shape.elements = 1 + d.below(4);
    one_random_loop<E, std::uint32_t>(v, d, shape, random_config(d, v, shape));
  }
}

/// Loads of several elements at once, some of which the iteration has written, or a lower one writes. One time in three
/// of rows: in most of their windows nobody reads what others write, so that these overlap.
template <class E>
void loads_together_equal_the_sequential_loop(const venue& v) {
  dice d(v.seed * 49979687 + v.round);
  for (std::uint64_t k = 0, rounds = v.pick({1u, 75u, 60u}); k < rounds; ++k) {
    const bool rows = d.below(3) == 0;
    loop_shape shape = rows ? loop_shape::of_rows(d, static_cast<int>(v.pick({4 + d.below(9), 100u, 500u})))
                            : loop_shape::random(d, v.exploring());
    shape.together = true;
    shape.in_turn = false;
    if (!rows) shape.store_share = d.below(3) * 20 + 10;
    loop_config config = random_config(d, v, shape);
    if (rows && d.below(2) == 0) config.window = 1 + static_cast<std::uint32_t>(shape.n) / 4;  // several
    if (rows && v.how == mode::gpu && !config.adapt) config.window = 1 + d.below(64);          // as for rows above
    if ((k + v.round) % 4 == 3)
      one_random_loop<E, struct_of_12>(v, d, shape, config);
    else
      one_random_loop<E, std::uint32_t>(v, d, shape, config);
  }
}

/// Few dependences in one large window, and addresses that depend on data: what repairs are for.
template <class E>
void sparse_loops_equal_the_sequential_loop(const venue& v) {
  const int rounds = v.pick({1, 100, 20});
  dice d(v.seed * 15485863 + v.round);
  for (int k = 0; k < rounds; ++k) {
    loop_shape shape;
    shape.n = static_cast<int>(v.pick({8 + d.below(9), 200 + d.below(800), 5000 + d.below(30000)}));
    shape.elements = static_cast<std::uint32_t>(shape.n) * (2 + d.below(4));
    shape.others = 1 + d.below(200);
    shape.steps = 1 + d.below(4);
    shape.leaves = d.below(2) == 0;
    shape.stays = v.pick({8u, 2000u, 100000u});
    loop_config config = random_config(d, v, shape);
    if (v.how == mode::gpu) {
      config.blocks = 1 + d.below(200);
      config.threads = 32 * (1 + d.below(8));
      // else all of a window, on one block perhaps, runs for each iteration that its logs have no room for
      if (!config.adapt) config.capacity.reads = shape.most_reads();
    }
    config.window = 0;
    config.first_window = static_cast<std::uint32_t>(shape.n);
    config.table_slots = 0;
    config.repairs = 1 + d.below(8);
    one_random_loop<E, std::uint64_t>(v, d, shape, config);
  }
}

/// Loops of other lengths and other bodies in one workspace: what one leaves behind is not taken for the next one's.
template <class E>
void loops_in_turn_equal_the_sequential_loops(const venue& v) {
  dice d(v.seed * 6700417 + v.round);
  for (int k = v.pick({1, 15, 20}); k > 0; --k) {
    const loop_shape first = loop_shape::random(d, v.exploring());
    loop_config config = random_config(d, v, first);
    config.capacity = {.reads = loop_shape::most_steps, .writes = loop_shape::most_steps};
    random_scene<E, std::uint32_t> scene(v, d, first);
    auto w = scene.workspace(first.n, config);
    for (int turn = v.pick({4, 15, 15}); turn > 0; --turn) {
      loop_shape shape = loop_shape::random(d, v.exploring());
      shape.elements = first.elements;
      shape.others = first.others;
      shape.store_share = d.below(2) == 0 ? 25 : shape.store_share;
      scene.loop(d, shape, config, [&](auto& s, auto& tm, int n, const program<std::uint32_t>& body) {
        speculate_async(s, tm, w, n, body);
        return w.collect(s, tm);
      });
    }
  }
}

}  // namespace gputm::conformance
