#pragma once

#include <cmath>
#include <numbers>

#include "fenchel/core/config.hpp"

namespace fenchel::detail {

/// f(t(u)) dt/du of the double exponential transform of [lower, upper] [H. Takahasi, M. Mori, Publ. RIMS 9
/// (1974)]. An end may be infinite.
class DoubleExponential {
 public:
  FENCHEL_HD DoubleExponential(double lower, double upper) noexcept : lower_(lower), upper_(upper) {}

  /// Beyond it the weight of a bounded integrand is below 1e-30, or |t| past 1e55.
  [[nodiscard]] FENCHEL_HD double reach() const noexcept {
    return std::isinf(lower_) || std::isinf(upper_) ? 5.1 : 3.8;
  }

  template <class F>
  [[nodiscard]] FENCHEL_HD double weighted(const F& f, double u) const {
    const Node at = node(u);
    const double value = at.inside ? f(at.t) : 0;
    return value == 0 ? 0 : value * at.weight;  // what is 0 far out stays 0 where the weight overflows
  }

 private:
  struct Node {
    double t, weight;  ///< dt/du
    bool inside;       ///< rounding may take a t to an end
  };
  [[nodiscard]] FENCHEL_HD Node node(double u) const {
    const double half_pi = std::numbers::pi / 2, inner = half_pi * std::sinh(u),
                 slope = half_pi * std::cosh(u);
    if (std::isinf(lower_) && std::isinf(upper_)) return {std::sinh(inner), std::cosh(inner) * slope, true};
    if (std::isinf(upper_)) return {lower_ + std::exp(inner), std::exp(inner) * slope, true};
    if (std::isinf(lower_)) return {upper_ - std::exp(inner), std::exp(inner) * slope, true};
    const double width = upper_ - lower_, near = 1 / (1 + std::exp(2 * std::abs(inner)));
    const double t = u < 0 ? lower_ + width * near : upper_ - width * near;
    return {t, 2 * width * near * (1 - near) * slope, t > lower_ && t < upper_};
  }

  double lower_, upper_;
};

/// The trapezoidal rule in u, of a fixed number of nodes: for integrands that are analytic inside the
/// interval and known to be of unit scale, where it converges geometrically.
template <int kNodes, class F>
FENCHEL_HD double double_exponential_rule(const F& f, double lower, double upper) {
  const DoubleExponential transform(lower, upper);
  const double step = 2 * transform.reach() / (kNodes - 1);
  double sum = 0;
  for (int i = 0; i < kNodes; ++i) sum += transform.weighted(f, (i - 0.5 * (kNodes - 1)) * step);
  return sum * step;
}

/// The same over [0, infinity) for f that falls like an exponential, or a power of at least six, in t =
/// exp(u - exp(-u)) [M. Mori, Publ. RIMS 21 (1985)].
template <int kNodes, class F>
FENCHEL_HD double exponential_decay_rule(const F& f) {
  constexpr double kFirst = -4.2, kLast = 8, kStep = (kLast - kFirst) / (kNodes - 1);
  double sum = 0;
  for (int i = 0; i < kNodes; ++i) {
    const double u = kFirst + i * kStep, fall = std::exp(-u), t = std::exp(u - fall);
    sum += f(t) * t * (1 + fall);
  }
  return sum * kStep;
}

}  // namespace fenchel::detail
