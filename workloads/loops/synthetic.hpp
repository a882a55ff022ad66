// The synthetic loop of GPU-TLS, figure 4: reads and writes of one array through index arrays that nobody can
// analyse. Dependences of one kind are put in at a given rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "loops/places.hpp"
#include "random.hpp"

namespace gputm::workloads {

enum class dependence : std::uint8_t { none, war, waw, raw };

struct synthetic_options {
  std::int64_t iterations = 7168;  ///< the paper's N
  std::uint32_t reads = 5;         ///< of an iteration (S_r)
  std::uint32_t writes = 5;        ///< of an iteration (S_w)
  std::uint32_t work = 10;         ///< multiply-adds for each value written (M)
  dependence kind = dependence::none;
  double percent = 1;             ///< of the iterations: depend on an earlier one
  std::uint32_t distance = 1024;  ///< which is at most so many iterations before
  bool random = false;            ///< addresses are a random permutation; else they ascend
  std::uint64_t seed = 1;
};

/// Accesses, Work: the numbers of reads, of writes, and of multiply-adds where they are constants, as in the paper's
/// source; 0: they are the members.
template <class Arrays, std::uint32_t Accesses = 0, std::uint32_t Work = 0>
struct synthetic_body {
  typename Arrays::template of<double> a;
  const std::uint32_t* read_at;
  const std::uint32_t* write_at;
  std::uint32_t reads, writes, work;

  GPUTM_INLINE double compute(double v) const {
    std::uint32_t m = Work != 0 ? Work : work;
#if defined(__CUDACC__)  // a branch costs as much as several multiply-adds, and counts are 10 or 1,000
    GPUTM_NO_UNROLL
    for (; m >= 200; m -= 200) v = multiply_adds<200>(v);
    GPUTM_NO_UNROLL
    for (; m >= 10; m -= 10) v = multiply_adds<10>(v);
    GPUTM_NO_UNROLL
#elif defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 16  // g++ takes a fused multiply-add for a call, and would not unroll
#endif
    for (std::uint32_t k = 0; k < m; ++k) v = multiply_add(v, 0.999999, 1e-6);
    return v;
  }
  template <int Count>
  GPUTM_INLINE static double multiply_adds(double v) {
    GPUTM_UNROLL
    for (int k = 0; k < Count; ++k) v = multiply_add(v, 0.999999, 1e-6);
    return v;
  }
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const std::uint32_t loads = Accesses != 0 ? Accesses : reads, stores = Accesses != 0 ? Accesses : writes;
    const std::uint32_t* const r = read_at + static_cast<std::uint64_t>(i) * loads;
    const std::uint32_t* const w = write_at + static_cast<std::uint64_t>(i) * stores;
    const std::uint32_t accesses = loads > stores ? loads : stores;
    double value = 0;
    for (std::uint32_t j = 0; j < accesses; ++j) {
      if (j < loads) {
        GPUTM_TRY(const double v, it.load(a[r[j]]));
        value = v;
      }
      if (j < stores) {
        GPUTM_TRY(it.store(a[w[j]], compute(value)));
      }
    }
    return commit;
  }
};

struct synthetic_problem : loop_problem {
  synthetic_options options;
  std::vector<double> a;
  std::vector<std::uint32_t> read_at, write_at;

  /// Throws invalid_argument.
  explicit synthetic_problem(const synthetic_options& o) : options(o) {
    check();
    iterations = o.iterations;
    capacity = {.reads = o.reads, .writes = o.writes};
    dependent = o.kind != dependence::none && o.percent > 0;
    address();
    if (dependent) add_dependences();
  }
  template <class Place>
  auto place(Place& p) const {
    return synthetic_body<typename Place::arrays>{p.shared(a, "A"), p.input(read_at), p.input(write_at),
                                                  options.reads,    options.writes,   options.work};
  }

 private:
  void check() const {
    gputm::detail::check_iterations(options.iterations);
    check_percent("a dependence", options.percent);
    if (options.writes == 0) throw invalid_argument("iterations that write nothing: a loop has at least 1 write");
    if (options.reads == 0 && (options.kind == dependence::raw || options.kind == dependence::war))
      throw invalid_argument("dependences on reads, and iterations that read nothing");
    if (options.distance == 0)
      throw invalid_argument("dependences on the iteration itself: the distance is at least 1");
    const double elements = static_cast<double>(options.iterations) * (options.reads + options.writes);
    if (elements > static_cast<double>(max_elements))
      throw invalid_argument("iterations that touch " + std::to_string(static_cast<std::uint64_t>(elements)) +
                             " elements: the limit is " + std::to_string(max_elements));
    check_host_bytes("the loop", elements * 40);  // the array, copies of it for the reference, its indices
  }
  /// Every access has an element of its own: reads first, then writes.
  void address() {
    const std::size_t n = static_cast<std::size_t>(options.iterations), all = n * (options.reads + options.writes);
    a.resize(all);
    for (std::size_t k = 0; k < all; ++k) a[k] = 1 + static_cast<double>(k % 1024) / 1024;
    std::vector<std::uint32_t> at(all);
    std::iota(at.begin(), at.end(), 0u);
    generator random(options.seed, 1);
    if (options.random)
      for (std::size_t k = all; k > 1; --k) std::swap(at[k - 1], at[random.below(static_cast<std::uint32_t>(k))]);
    const auto middle = at.begin() + static_cast<std::ptrdiff_t>(n * options.reads);
    read_at.assign(at.begin(), middle);
    write_at.assign(middle, at.end());
  }
  void add_dependences() {
    const std::uint32_t reads = options.reads, writes = options.writes;
    generator random(options.seed, 2);
    const double limit = options.percent / 100 * 4294967296.0;
    for (std::uint64_t i = 1; i < static_cast<std::uint64_t>(options.iterations); ++i) {
      if (static_cast<double>(random.next()) >= limit) continue;
      const std::uint64_t before =
          i - 1 - random.below(static_cast<std::uint32_t>(std::min<std::uint64_t>(i, options.distance)));
      const std::uint32_t r = reads != 0 ? random.below(reads) : 0, w = random.below(writes);
      if (options.kind == dependence::raw) read_at[i * reads + r] = write_at[before * writes + w];
      if (options.kind == dependence::war) write_at[i * writes + w] = read_at[before * reads + r];
      if (options.kind == dependence::waw) write_at[i * writes + w] = write_at[before * writes + w];
    }
  }
};

}  // namespace gputm::workloads
