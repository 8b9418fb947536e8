#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fenchel/core/infinity.hpp"

/// Distribution functions in long double by textbook expansions, and the Kolmogorov-Smirnov distance.
namespace fenchel::reference {

using Real = long double;

inline Real normal_cdf(Real z) { return std::erfc(-z / std::sqrt(Real{2})) / 2; }

/// P(shape, e^log_x), the regularised incomplete gamma function [DLMF 8.7.1, 8.9.2].
inline Real gamma_cdf(Real shape, Real log_x) {
  const Real x = std::exp(log_x), tolerance = std::numeric_limits<Real>::epsilon();
  const Real log_front = shape * log_x - x - std::lgamma(shape + 1);
  if (x < shape + 1) {
    Real term = 1, sum = 1;
    for (int n = 1; term > tolerance * sum; ++n) sum += term *= x / (shape + static_cast<Real>(n));
    return std::exp(log_front) * sum;
  }
  Real b = x + 1 - shape, c = 1 / std::numeric_limits<Real>::min(), d = 1 / b, fraction = d, factor = 0;
  for (int n = 1; std::fabs(factor - 1) > tolerance; ++n) {
    const Real a = -static_cast<Real>(n) * (static_cast<Real>(n) - shape);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    fraction *= factor = c * d;
  }
  return 1 - std::exp(log_front) * shape * fraction;
}

/// I_x(a, b), the regularised incomplete beta function [DLMF 8.17.22].
inline Real beta_cdf(Real a, Real b, Real x) {
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_cdf(b, a, 1 - x);
  const Real tolerance = std::numeric_limits<Real>::epsilon();
  const Real log_front =
      std::lgamma(a + b) - std::lgamma(a + 1) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  Real c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), fraction = d, factor = 0;
  for (int n = 1; std::fabs(factor - 1) > tolerance; ++n) {
    const Real m = static_cast<Real>(n), edge = a + 2 * m;
    const Real even = m * (b - m) * x / ((edge - 1) * edge);
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= c * d;
    const Real odd = -(a + m) * (a + b + m) * x / (edge * (edge + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= factor = c * d;
  }
  return std::exp(log_front) * fraction;
}

/// sqrt(n) sup |F_n - F| over the sample's points in (low, high): above 1.95 once in a thousand samples of F.
template <class Cdf>
Real kolmogorov_smirnov(std::vector<double> sample, const Cdf& cdf, double low = -kInfinity,
                        double high = kInfinity) {
  std::sort(sample.begin(), sample.end());
  const Real n = static_cast<Real>(sample.size());
  Real distance = 0;
  for (auto first = sample.begin(), last = first; first != sample.end(); first = last) {
    last = std::upper_bound(first, sample.end(), *first);
    if (*first <= low || *first >= high) continue;
    const Real f = cdf(Real{*first});
    distance = std::max({distance, std::fabs(f - static_cast<Real>(first - sample.begin()) / n),
                         std::fabs(f - static_cast<Real>(last - sample.begin()) / n)});
  }
  return std::sqrt(n) * distance;
}

}  // namespace fenchel::reference
