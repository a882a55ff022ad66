// Zipf's law: of `n` ranks the k-th (from 0) is drawn with a probability proportional to 1 / (k + 1)^s.
//
// By the inverse of the cumulative distribution, which the host writes down as whole numbers: drawing compares
// integers only, so that host and GPU draw the same rank for the same random word, whatever their arithmetic.
// What is drawn is exact but for the rounding of each bound to a multiple of 2^-64.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "gputm/device.hpp"
#include "random.hpp"

namespace gputm::workloads {

/// Draws ranks; for kernels and the host. Its tables are read only.
struct zipf_view {
  const std::uint64_t* upper;  ///< rank k is drawn for the words above upper[k - 1], up to upper[k]
  const std::uint32_t* guide;  ///< where to begin to look, by the leading bits of the word
  std::uint32_t shift;

  GPUTM_INLINE std::uint32_t draw(std::uint64_t word) const {
    std::uint32_t k = guide[word >> shift];
    while (upper[k] < word) ++k;  // the last bound is the largest word; two steps at most, on average
    return k;
  }
};

/// The tables, on the host.
class zipf_table {
  std::vector<std::uint64_t> upper_;
  std::vector<std::uint32_t> guide_;
  std::uint32_t shift_;

 public:
  /// n: at least 1; s: at least 0, where 0 is the uniform distribution.
  zipf_table(std::uint32_t n, double s) : upper_(n) {
    std::vector<long double> sum(n);
    long double total = 0;
    for (std::uint32_t k = 0; k < n; ++k) sum[k] = total += std::pow(static_cast<long double>(k) + 1, -s);
    for (std::uint32_t k = 0; k < n; ++k) {
      const long double bound = std::ldexp(sum[k] / total, 64);
      upper_[k] = bound < std::ldexp(1.0L, 64) ? static_cast<std::uint64_t>(bound) : ~std::uint64_t{0};
    }
    upper_.back() = ~std::uint64_t{0};
    const auto bits = static_cast<std::uint32_t>(std::max(2, static_cast<int>(std::bit_width(n)))) - 1;
    shift_ = 64 - bits;
    guide_.resize(std::size_t{1} << bits);
    std::uint32_t k = 0;
    for (std::size_t bucket = 0; bucket < guide_.size(); ++bucket) {
      while (upper_[k] < std::uint64_t{bucket} << shift_) ++k;
      guide_[bucket] = k;
    }
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(upper_.size()); }
  zipf_view view() const { return {upper_.data(), guide_.data(), shift_}; }
  const std::vector<std::uint64_t>& upper() const { return upper_; }
  const std::vector<std::uint32_t>& guide() const { return guide_; }
};

/// The last one is kept, since it takes longer to make than most runs that share it. For one thread of the host.
inline std::shared_ptr<const zipf_table> kept_zipf_table(std::uint32_t n, double s) {
  static std::shared_ptr<const zipf_table> last;
  static double exponent;
  if (!last || last->size() != n || exponent != s) {
    last.reset();  // two of them may be too large
    last = std::make_shared<zipf_table>(n, s);
    exponent = s;
  }
  return last;
}

/// A copy of the tables on a device.
class zipf_on_device {
  buffer upper_, guide_;
  std::uint32_t shift_;

 public:
  zipf_on_device(const stream& s, const zipf_table& t)
      : upper_(s.on(), t.upper().size() * sizeof(std::uint64_t)),
        guide_(s.on(), t.guide().size() * sizeof(std::uint32_t)),
        shift_(t.view().shift) {
    s.on()->copy_to_device(s.handle(), upper_.as<void>(), t.upper().data(), upper_.size());
    s.on()->copy_to_device(s.handle(), guide_.as<void>(), t.guide().data(), guide_.size());
    s.synchronize();
  }
  zipf_view view() const { return {upper_.as<std::uint64_t>(), guide_.as<std::uint32_t>(), shift_}; }
};

}  // namespace gputm::workloads
