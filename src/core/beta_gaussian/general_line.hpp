#pragma once

#include <cmath>
#include <limits>

#include "core/beta_gaussian/central_beta.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// A beta-Gaussian on the line of any finite alpha but 1, where |X - mu| / width has a square of a central
/// beta law.
struct GeneralLine {
  CentralBeta law;
  bool heavy;    ///< alpha < 1
  double a_low;  ///< for alpha < 1, what rounding took from the shape of the law
  double mu, width;
};
FENCHEL_HD inline GeneralLine general_line(const BetaGaussianConstants& c, double mu, double sigma) noexcept {
  const bool heavy = c.am1 < 0;
  const double a = heavy ? -1 / c.am1 - 0.5 : 1 + 1 / c.am1;
  const double a_low = heavy ? -std::fma(a + 0.5, c.am1, 1) / c.am1 : 0;
  return {central_beta(a), heavy, a_low, mu, sigma * std::sqrt(std::abs(c.radius2))};
}

/// |t - mu| = r width.
FENCHEL_HD inline UnitPoint unit_point(const GeneralLine& line, double r) noexcept {
  return line.heavy ? student_square_of(r) : square_of(r < 1 ? r : 1);
}

FENCHEL_HD inline double cdf(const GeneralLine& line, double t) noexcept {
  if (std::isnan(t)) return t;
  const double x = (t - line.mu) / line.width, tail = outside(line.law, unit_point(line, std::abs(x))) / 2;
  return x < 0 ? tail : 1 - tail;
}

/// r >= 0 with P(X > mu + r width) = u, 0 <= u <= 1/2.
FENCHEL_HD inline double upper_tail_distance(const GeneralLine& line, double u) noexcept {
  if (u == 0) return line.heavy ? kInfinity : 1;
  if (u == 0.5) return 0;
  constexpr double kFar = 20;
  const double rho = root_log_quantile(line.law, u), square = rho * rho, y = -std::expm1(-square);
  if (!line.heavy) return std::sqrt(y);
  if (square < kFar) return std::sqrt(std::expm1(square));
  // The square is that much less accurate than its exponential can be: one more step for sqrt(1 - y) itself.
  const double a = line.law.a, root = std::exp(-square / 2);
  const double ratio = outside_ratio(line.law, {y, root * root, -square});
  const double excess = std::log(ratio / 2 * (std::pow(root, 2 * a) / u)) - line.a_low * square;
  return std::sqrt(y) / root * std::exp(excess / (2 * a));
}

/// NaN for u outside of [0, 1].
FENCHEL_HD inline double quantile(const GeneralLine& line, double u) noexcept {
  if (!(u >= 0 && u <= 1)) return std::numeric_limits<double>::quiet_NaN();
  const double distance = line.width * upper_tail_distance(line, u < 0.5 ? u : 1 - u);
  return u < 0.5 ? line.mu - distance : line.mu + distance;
}

}  // namespace fenchel::detail
