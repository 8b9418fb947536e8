#pragma once

#include <cmath>
#include <numbers>

namespace fenchel::report {

/// R of [SCD22, Proposition: beta-Gaussians are elliptical] as it is printed, in n dimensions; alpha > 1.
[[nodiscard]] inline double printed_radius(double n, double alpha) {
  const double s = 1 / (alpha - 1);
  const double inner = std::tgamma(n / 2 + alpha * s) /
                       (std::tgamma(alpha * s) * std::pow(std::numbers::pi, n / 2)) * std::pow(2 * s, s);
  return std::pow(inner, 1 / (2 * s + n));
}

}  // namespace fenchel::report
