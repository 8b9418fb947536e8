#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/reference.hpp"

/// How far the batched maps may be from the exact ones, as measured over the laws' grid and rounded up by
/// less than two.
namespace fenchel::testing {

template <class Real>
struct Bounds;

template <>
struct Bounds<double> {
  static constexpr double kRelative = 1e-14;   ///< of a probability
  static constexpr double kAbsolute = 4e-16;   ///< of a probability, alpha <= 2
  static constexpr double kBeyondTwo = 4e-15;  ///< of a probability, alpha > 2
  static constexpr double kUnit = 0x1p-53;     ///< of rounding
  static constexpr double kMonotone = 1e-15;   ///< by how much, relatively, a larger score may have less
};

template <>
struct Bounds<float> {
  static constexpr double kRelative = 1.5e-6;
  static constexpr double kAbsolute = 2e-7;
  static constexpr double kBeyondTwo = 1e-8;
  static constexpr double kUnit = 0x1p-24;
  static constexpr double kMonotone = 2e-7;
};

/// What n scores within rounding of the threshold add to the bound: each takes or leaves some of the mass.
/// Float rows are solved in double where it matters.
template <class Real>
double crowd_bound(std::size_t n) {
  return sizeof(Real) == sizeof(double) ? 1e-16 * static_cast<double>(n) : 5e-6;
}

/// The bound on |p - exact| for a score less the largest one, d, and a threshold less the largest score.
/// Beyond alpha = 2 a small p is steep in its score, and so in d's own rounding: the bound lets d move by two
/// ulps.
template <class Real>
double probability_bound(double alpha, Extended exact, Extended d, Extended edge) {
  using B = Bounds<Real>;
  const double relative = B::kRelative * static_cast<double>(exact);
  if (alpha <= 2) return relative + B::kAbsolute;
  const Extended am1 = static_cast<Extended>(alpha) - 1;
  constexpr Extended kTiny = 4 * std::numeric_limits<double>::denorm_min();
  const Extended moved = std::isinf(edge) ? 0.0L : am1 * std::max(kTiny, 0x1p-51L * std::fabs(edge));
  const Extended above = exact > 0 ? std::pow(exact, am1) : am1 * (d - edge);
  const Extended most = power(above + moved, 1 / am1), least = power(above - moved, 1 / am1);
  return relative + B::kBeyondTwo + static_cast<double>(std::max(most - exact, exact - least));
}

/// In ulps of the largest score, A or tau: how well an edge of the support can be told in that precision.
inline constexpr double kEdgeUlps = 16;

/// Of products with the Jacobian, in ulps of the numbers that are multiplied and added.
inline constexpr double kProductUlps = 40;

/// In ulps of Omega*, Omega and the largest |z|, out of which a loss is made, for each addition of a random
/// walk.
inline constexpr double kLossUlps = 4;
template <class Real>
double loss_bound(std::size_t n, Extended size) {
  return kLossUlps * Bounds<Real>::kUnit * std::sqrt(static_cast<double>(n) + 3) * static_cast<double>(size);
}

}  // namespace fenchel::testing
