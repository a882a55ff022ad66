// Random permutation: Knuth's shuffle (The Art of Computer Programming, volume 2, algorithm P, from the front). Each
// step swaps its element with a random one behind it, which another step may have swapped before.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "loops/places.hpp"
#include "random.hpp"

namespace gputm::workloads {

struct shuffle_options {
  std::int64_t iterations = 8192;  ///< elements
  std::uint64_t seed = 1;
};

template <class Arrays>
struct shuffle_body {
  typename Arrays::template of<std::int32_t> numbers;
  std::uint32_t count;
  std::uint64_t seed;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<std::uint32_t>(i);
    const std::uint32_t other = k + static_cast<std::uint32_t>((random_word(seed, 7, k) >> 32) * (count - k) >> 32);
    GPUTM_TRY(const std::int32_t a, it.load(numbers[k]));
    GPUTM_TRY(const std::int32_t b, it.load(numbers[other]));
    GPUTM_TRY(it.store(numbers[k], b));
    GPUTM_TRY(it.store(numbers[other], a));
    return commit;
  }
};

struct shuffle_problem : loop_problem {
  std::vector<std::int32_t> numbers;
  std::uint64_t seed;

  /// Throws invalid_argument.
  explicit shuffle_problem(const shuffle_options& o) : seed(o.seed) {
    gputm::detail::check_iterations(o.iterations);
    check_host_bytes("the numbers", static_cast<double>(o.iterations) * 16);
    iterations = o.iterations;
    capacity = {.reads = 2, .writes = 2};
    numbers.resize(static_cast<std::size_t>(o.iterations));
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  template <class Place>
  auto place(Place& p) const {
    return shuffle_body<typename Place::arrays>{p.shared(numbers, "numbers"),
                                                static_cast<std::uint32_t>(numbers.size()), seed};
  }
};

}  // namespace gputm::workloads
