#pragma once

#include <cmath>
#include <limits>

#include "core/tsallis_term.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/infinity.hpp"

/// One node's part in the derivatives of entmax over weighted nodes (docs/math.md 2.9), for CPU and GPU.
namespace fenchel::detail {

/// A node of weight w and probability `mass`; p is its density. All is 0 where the mass is.
struct Node {
  double am1, w, mass, p = mass == 0 ? 0.0 : mass / w;

  [[nodiscard]] FENCHEL_HD bool off() const noexcept { return mass == 0; }
  [[nodiscard]] FENCHEL_HD double l() const noexcept { return std::log(p); }
  /// log s, -inf off the support.
  [[nodiscard]] FENCHEL_HD double log_s() const noexcept {
    return off() ? -kInfinity : std::log(w) + (1 - am1) * l();
  }
  /// s = w p^{2-alpha}, which saturates; at infinite alpha w where the density is between 0 and 1.
  [[nodiscard]] FENCHEL_HD double s() const noexcept {
    if (off()) return 0;
    if (am1 == 0) return mass;
    if (am1 == 1) return w + 0 * p;  // NaN stays
    if (am1 == 0.5) return w * std::sqrt(p);
    if (std::isinf(am1)) return p == 1 ? 0.0 : w + 0 * p;
    if (am1 < 1) return mass * std::exp(-am1 * l());  // no power of p overflows
    const double s = std::exp(log_s());
    return s > std::numeric_limits<double>::max() ? std::numeric_limits<double>::max() : s;
  }
  /// p / s: a change of the weight acts like a change of the score by pull dw.
  [[nodiscard]] FENCHEL_HD double pull() const noexcept { return off() ? 0.0 : power(am1) / w; }
  /// D = d/dalpha log_{2-alpha}(p): a change of alpha acts like a change of the scores by -D.
  [[nodiscard]] FENCHEL_HD double alpha_direction() const noexcept {
    return off() || std::isinf(am1) ? 0.0 : deformed_log_alpha_derivative<1>(am1, l());
  }
  /// dD/dalpha.
  [[nodiscard]] FENCHEL_HD double alpha_curvature() const noexcept {
    return off() ? 0.0 : deformed_log_alpha_derivative<2>(am1, l());
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

}  // namespace fenchel::detail
