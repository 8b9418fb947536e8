#pragma once

#include <cmath>

#include "core/lanes/lane_erf.hpp"
#include "core/lanes/lane_math.hpp"
#include "core/random/normal_quantile.hpp"
#include "fenchel/core/beta_gaussian.hpp"

/// The distribution function and the quantile of the beta-Gaussians on the line that have closed forms, of
/// one number without branches (docs/math.md 5.6).
namespace fenchel::detail {

/// The Gaussian, or for alpha = 1 + 1/s with s = 0, 1, 2, 3 the distribution function I_v(1 + s, 1 + s), v =
/// (1 + (t - mu) / width) / 2.
struct ClosedLine {
  static constexpr int kGaussian = -1, kNone = -2;
  int s;
  double mu, width;  ///< sqrt(Sigma) for the Gaussian
};

/// alpha names the exact polynomials: 4/3 rounded to double is meant to be 4/3.
inline ClosedLine closed_form(const BetaGaussianConstants& c, double mu, double sigma) {
  const double width = sigma * std::sqrt(c.radius2);
  if (c.am1 == 0) return {ClosedLine::kGaussian, mu, sigma};
  if (std::isinf(c.am1)) return {0, mu, width};
  if (c.am1 == 1) return {1, mu, width};
  if (c.am1 == 0.5) return {2, mu, width};
  if (c.am1 == 4.0 / 3 - 1) return {3, mu, width};
  return {ClosedLine::kNone, mu, width};
}

/// I_v(1 + s, 1 + s) = v^{1+s} kTail<s>(v), with derivative kSlope<s> (v (1 - v))^s.
template <int s>
inline constexpr double kTail[s + 1] = {};
template <>
inline constexpr double kTail<0>[] = {1};
template <>
inline constexpr double kTail<1>[] = {3, -2};
template <>
inline constexpr double kTail<2>[] = {10, -15, 6};
template <>
inline constexpr double kTail<3>[] = {35, -84, 70, -20};
template <int s>
inline constexpr double kSlope = (s + 1) * kTail<s>[0];

template <int n>
FENCHEL_INLINE double power(double v) noexcept {
  if constexpr (n == 0) {
    return 1;
  } else {
    return v * power<n - 1>(v);
  }
}

/// P(X <= t) at x = (t - mu) / width, from the nearer end.
template <int s>
FENCHEL_INLINE double cdf_element(double x) noexcept {
  if constexpr (s == ClosedLine::kGaussian) {
    return 0.5 * erfc_element(-0x1.6a09e667f3bcdp-1 * x);
  } else {
    const double inside = x < -1 ? -1.0 : (x > 1 ? 1.0 : x);
    const double v = 0.5 - 0.5 * std::abs(inside), tail = power<s + 1>(v) * polynomial_of<kTail<s>>(v);
    return inside > 0 ? 1 - tail : tail;
  }
}

/// v with I_v(1 + s, 1 + s) = u in (0, 1/2]: Halley's steps, three of which are enough from v = g (1 + s g /
/// (s + 2)), g = (u / kTail[0])^{1/(1+s)}, which is right to 17% at u = 1/2 and exact as u goes to 0. Below
/// kLeast v is no different from 0 beside 1, and u / kTail[0] may be 0.
template <int s>
FENCHEL_INLINE double tail_quantile(double level) noexcept {
  if constexpr (s == 0) {
    return level;
  } else {
    constexpr double kLeast = 0x1p-1000, kFirst = kTail<s>[0], kRise = kSlope<s>;
    const double u = level > kLeast ? level : kLeast;
    const double guess = exp_element(log_element(u / kFirst) * (1.0 / (s + 1)));
    double v = guess * (1 + guess * (double(s) / (s + 2)));
    const auto halley = [&]() FENCHEL_INLINE_LAMBDA {
      const double excess = power<s + 1>(v) * polynomial_of<kTail<s>>(v) - u;
      const double step = excess / (kRise * power<s>(v * (1 - v)));
      v -= step / (1 - step * (0.5 * s) * (1 - 2 * v) / (v * (1 - v)));
    };
    halley();
    halley();
    halley();
    return level > 0 ? v : 0.0;
  }
}

template <const Rational& kRational>
FENCHEL_INLINE double evaluate(double x) noexcept {
  constexpr Rational kLocal = kRational;
  return polynomial<8>(x, kLocal.p) / polynomial<8>(x, kLocal.q);
}

/// (t - mu) / width.
template <int s>
FENCHEL_INLINE double quantile_element(double u) noexcept {
  const double tail = u > 0.5 ? 1 - u : u;
  if constexpr (s == ClosedLine::kGaussian) {
    using namespace normal_quantile;
    const double from_centre = u - 0.5, r = std::sqrt(-log_element(tail));
    const double centre = from_centre * evaluate<kCentre>(kCentreSquare - from_centre * from_centre);
    const double near = evaluate<normal_quantile::kTail>(r - kTailStart);
    const double far = tail > 0 ? evaluate<kFarTail>(r - kFarTailStart) : r;
    const double distance = r <= kFarTailStart ? near : far;
    return std::abs(from_centre) <= kCentreEnd ? centre : (u > 0.5 ? distance : -distance);
  } else {
    const double x = 1 - 2 * tail_quantile<s>(tail);
    return u > 0.5 ? x : -x;
  }
}

}  // namespace fenchel::detail
