#pragma once

#include <cmath>
#include <numbers>

#include "backend/attention/space_density.hpp"
#include "backend/attention/wanted.hpp"
#include "core/complex.hpp"
#include "core/lanes/lanes.hpp"

/// The contour of alpha > 1. On zeta > 0 the exponent Phi is convex with one minimum zeta0, and on the
/// vertical line through zeta0 the integrand is largest there: sums along curves near that line do not
/// cancel, and small values are as accurate as large ones. The curve is the hyperbola zeta = zeta0 (1 + B (i
/// sinh t - tau (cosh t - 1))), with the curvature of the steepest descent at zeta0 and a slope at which it
/// passes all singularities, -1 / v_a, on the side where the integrand is small (a parabola does not). The
/// trapezoidal rule in t converges exponentially: 24 to 34 nodes are exact to 1e-13, 10 to 16 to 1e-7.
namespace fenchel::detail {

inline constexpr double kContourSlope = 0.7602;  ///< tau
inline constexpr int kMaxSaddleSteps = 80, kMaxContourNodes = 1000, kMaxRefinements = 3;
/// From here on log zeta is a series about zeta0; before it loses sqrt(n) rounding errors.
inline constexpr double kManySeries = 1e3;
inline constexpr double kHalfPi2 = std::numbers::pi * std::numbers::pi / 2;
/// Below this all of a function's numbers are 0.
inline constexpr double kLogSmallest = -745;

/// How the trapezoidal rule is laid out: steps are at most `largest_step` in t, `gaussian_step` standard
/// deviations of the integrand and `pole_step` distances to zeta = 0; terms below `smallest` end it; it is
/// refined until sums of steps h and 2h differ by `agreement` at most, beside what they do for a Gaussian.
struct ContourRule {
  double largest_step, gaussian_step, pole_step, smallest, agreement;
};
inline constexpr ContourRule kDoubleRule{0.14, 0.7, 0.22, 1e-17, 2e-9},
    kSingleRule{0.25, 0.95, 0.4, 1e-10, 1e-4};
/// d rho / d alpha multiplies errors by n, until kManyOrders: past this n it has the rule of doubles.
inline constexpr double kAmplifiedOrders = 50;
FENCHEL_HD inline ContourRule contour_rule(double n, Accuracy accuracy, Wanted wanted) noexcept {
  const bool amplified = alpha_too(wanted) && n > kAmplifiedOrders;
  if (accuracy == Accuracy::kDouble || amplified) return kDoubleRule;
  return kSingleRule;
}

/// d log(weight) / dalpha of the node zeta = zeta0 (1 + x) but for contour_alpha_rate, the part of all nodes:
/// g = d log G / dzeta, and `order` is order_bracket from kManyOrders on, before it contour_order, where
/// gap = x - log(1 + x) and h0 = zeta0 - 1 - log(zeta0).
template <class Complex>
FENCHEL_INLINE Complex node_alpha_rate(const SpaceDensity& p, Complex zeta, Complex g,
                                       Complex order) noexcept {
  return p.log_beta_slope * (zeta * g) - p.inverse_alpha2 * order;
}
template <class Complex>
FENCHEL_INLINE Complex contour_order(double n, double zeta0, double h0, Complex x, Complex gap) noexcept {
  return (n * n) * (h0 + ((zeta0 - 1) * x + gap));
}
FENCHEL_HD inline double contour_alpha_rate(const SpaceDensity& p) noexcept {
  const double orders = p.n < kManyOrders ? p.n / 2 : 0.0;
  return p.log_peak_slope - p.inverse_alpha2 * (orders + p.stirling_slope);
}

/// x - log(1 + x) for small x, by 2 atanh(x / (2 + x)).
template <class Real>
FENCHEL_INLINE BasicComplex<Real> log_gap_series(BasicComplex<Real> x) noexcept {
  const BasicComplex<Real> y{2 + x.re, x.im};
  const Real inverse = 1 / (y.re * y.re + y.im * y.im);
  const BasicComplex<Real> t{(x.re * y.re + x.im * y.im) * inverse, (x.im * y.re - x.re * y.im) * inverse};
  const BasicComplex<Real> t2 = t * t;
  constexpr double kOdd[] = {1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11,
                             1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21};
  BasicComplex<Real> sum{Real(1. / 23), 0};
#if defined(__CUDA_ARCH__)
#pragma unroll
#elif !defined(__CUDACC__)
#pragma GCC unroll 10
#endif
  for (int i = 9; i >= 0; --i) sum = Real(kOdd[i]) + t2 * sum;
  return x * t - Real(2) * (t * t2 * sum);
}

}  // namespace fenchel::detail
