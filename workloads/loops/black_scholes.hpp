// Black-Scholes: GPU-TLS, section IV, after the program of the PARSEC suite. One iteration prices one European option
// and compares the price with the expected one; what may depend is the number of those that are wrong.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "loops/places.hpp"
#include "random.hpp"

namespace gputm::workloads {

struct black_scholes_options {
  std::int64_t iterations = 8192;  ///< options to price
  double errors = 0;               ///< percent of them whose expected price is wrong
  std::uint64_t seed = 1;
};

struct stock_option {
  double spot, strike, rate, volatility, years;  ///< prices in one currency, the others a year
  double expected;                               ///< its price
  std::uint32_t put;                             ///< else a call
};

/// The standard normal distribution, by Abramowitz and Stegun 26.2.17: within 7.5e-8.
GPUTM_INLINE double normal_distribution(double x) {
  const double positive = x < 0 ? -x : x, k = 1 / multiply_add(0.2316419, positive, 1.0);
  double sum = multiply_add(1.330274429, k, -1.821255978);
  sum = multiply_add(sum, k, 1.781477937);
  sum = multiply_add(sum, k, -0.356563782);
  sum = multiply_add(sum, k, 0.319381530);
  const double tail = 0.39894228040143270 * std::exp(-0.5 * positive * positive) * (k * sum);
  return x < 0 ? tail : 1 - tail;
}
GPUTM_INLINE double option_price(const stock_option& o) {
  const double spread = o.volatility * std::sqrt(o.years), half = 0.5 * o.volatility;
  const double d1 =
      multiply_add(multiply_add(half, o.volatility, o.rate), o.years, std::log(o.spot / o.strike)) / spread;
  const double d2 = d1 - spread, discounted = o.strike * std::exp(-(o.rate * o.years));
  if (o.put != 0) {
    const double back = o.spot * normal_distribution(-d1);
    return multiply_add(discounted, normal_distribution(-d2), -back);
  }
  const double back = discounted * normal_distribution(d2);
  return multiply_add(o.spot, normal_distribution(d1), -back);
}

template <class Arrays>
struct black_scholes_body {
  typename Arrays::template of<double> prices;
  typename Arrays::template of<std::int64_t> errors;  // one number, which all iterations share
  const stock_option* options;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const stock_option o = options[i];
    const double price = option_price(o), wrong = price - o.expected;
    GPUTM_TRY(it.store(prices[static_cast<std::uint32_t>(i)], price));
    if (wrong > 1e-4 || wrong < -1e-4) {
      GPUTM_TRY(const std::int64_t before, it.load(errors[0]));
      GPUTM_TRY(it.store(errors[0], before + 1));
    }
    return commit;
  }
};

struct black_scholes_problem : loop_problem {
  static constexpr bool exact = false;
  std::vector<stock_option> options;
  std::vector<double> prices;
  std::vector<std::int64_t> errors{0};

  /// Throws invalid_argument.
  explicit black_scholes_problem(const black_scholes_options& o) {
    gputm::detail::check_iterations(o.iterations);
    check_percent("wrong prices: a share", o.errors);
    check_host_bytes("the options", static_cast<double>(o.iterations) * 100);
    iterations = o.iterations;
    capacity = {.reads = 1, .writes = 2};
    dependent = o.errors > 0;
    unit = 128;
    options.resize(static_cast<std::size_t>(o.iterations));
    prices.assign(options.size(), 0);
    generator random(o.seed, 6);
    const auto between = [&](double low, double high) { return low + (high - low) * (random.next() / 4294967296.0); };
    for (stock_option& s : options) {
      s = {between(20, 120), between(20, 120), between(0.01, 0.1), between(0.05, 0.65), between(0.05, 2), 0, 0};
      s.put = random.next() & 1;
      s.expected = option_price(s) + (random.next() < o.errors / 100 * 4294967296.0 ? 1 : 0);
    }
  }
  template <class Place>
  auto place(Place& p) const {
    return black_scholes_body<typename Place::arrays>{p.shared(prices, "prices"), p.shared(errors, "numOfErrors"),
                                                      p.input(options)};
  }
};

}  // namespace gputm::workloads
