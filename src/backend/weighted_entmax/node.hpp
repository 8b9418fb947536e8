#pragma once

#include <cmath>
#include <limits>

#include "core/tsallis_term.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/infinity.hpp"

/// One node's part in the derivatives of entmax over weighted nodes (docs/math.md 2.9), for CPU and GPU.
namespace fenchel::detail {

/// x, or the largest number of its sign.
FENCHEL_HD inline double saturated(double x) noexcept {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return x > kLargest ? kLargest : x < -kLargest ? -kLargest : x;  // NaN stays
}

/// A node of weight w and probability `mass`; p is its density. All is 0 where the mass is.
struct Node {
  double am1, w, mass, p = mass == 0 ? 0.0 : mass / w;

  [[nodiscard]] FENCHEL_HD bool off() const noexcept { return mass == 0; }
  [[nodiscard]] FENCHEL_HD double l() const noexcept {
    return p > 1e-300 ? std::log(p) : std::log(mass) - std::log(w);  // p underflows beside a large weight
  }
  /// log s, -inf off the support.
  [[nodiscard]] FENCHEL_HD double log_s() const noexcept {
    return off() ? -kInfinity : std::log(w) + (1 - am1) * l();
  }
  /// s = w p^{2-alpha}, for alpha up to 2; at infinite alpha w where the density is between 0 and 1.
  [[nodiscard]] FENCHEL_HD double s() const noexcept {
    if (off()) return 0;
    if (am1 == 0) return mass;
    if (am1 == 1) return w + 0 * p;  // NaN stays
    if (am1 == 0.5) return std::sqrt(w) * std::sqrt(mass);
    if (std::isinf(am1)) return p == 1 ? 0.0 : w + 0 * p;
    return mass * std::exp(-am1 * l());  // no power of p overflows
  }
  /// p / s: a change of the weight acts like a change of the score by pull dw.
  [[nodiscard]] FENCHEL_HD double pull() const noexcept { return off() ? 0.0 : saturated(power(am1) / w); }
  /// D = d/dalpha log_{2-alpha}(p), n = 1, or dD/dalpha, n = 2: a change of alpha acts like a change of the
  /// scores by -D.
  template <int n>
  [[nodiscard]] FENCHEL_HD double alpha_direction() const noexcept {
    if (off()) return 0;
    const double t = am1 * l();
    if (t > kLargePower)
      return std::exp(t + std::log(n == 1 ? (t - 1) / am1 : ((t - 2) * t + 2) / am1 / am1)) / am1;
    return deformed_log_alpha_derivative<n>(am1, l());
  }
  /// For alpha > 2 the part of s D, or of s dD/dalpha, in which no power has a large exponent: P times a
  /// polynomial of am1 log p. What is left is a multiple of s.
  template <int n>
  [[nodiscard]] FENCHEL_HD double alpha_product() const noexcept {
    if (off()) return 0;
    const double t = am1 * l(), unit = mass / (am1 * am1);
    return n == 1 ? unit * (t - 1) : unit / am1 * ((t - 2) * t + 2);
  }

 private:
  [[nodiscard]] FENCHEL_HD double power(double exponent) const noexcept {
    if (exponent == 0) return 1 + 0 * p;
    if (exponent == 1) return p;
    return exponent == 0.5 ? std::sqrt(p) : std::exp(exponent * l());
  }
};

/// p^alpha / alpha, the derivative of Omega* in the weight; 0 at p = 0.
FENCHEL_HD inline double weight_slope(double am1, double p) noexcept {
  if (p == 0) return 0;
  if (am1 == 0) return p;
  return am1 == 1 ? p * p / 2 : std::exp((1 + am1) * std::log(p)) / (1 + am1);
}

/// Its derivative in alpha.
FENCHEL_HD inline double weight_slope_alpha_derivative(double am1, double p) noexcept {
  return p == 0 ? 0.0 : weight_slope(am1, p) * (std::log(p) - 1 / (1 + am1));
}

/// f(r) - f(p), of a function f that grows where it is large, and may overflow.
FENCHEL_HD inline double rise(double f_r, double f_p, double r, double p) noexcept {
  const bool both = f_r == kInfinity && f_p == kInfinity;
  return saturated(!both ? f_r - f_p : r > p ? kInfinity : r < p ? -kInfinity : 0.0);
}

/// x as one of many terms, a million of which do not overflow.
FENCHEL_HD inline double bounded(double x) noexcept {
  constexpr double kLargest = std::numeric_limits<double>::max() * 0x1p-20;
  return x > kLargest ? kLargest : x < -kLargest ? -kLargest : x;  // NaN stays
}

}  // namespace fenchel::detail
