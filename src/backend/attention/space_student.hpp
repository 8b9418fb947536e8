#pragma once

#include <cmath>

#include "backend/attention/space_density.hpp"
#include "fenchel/core/index.hpp"

/// The mixture of alpha < 1, a Student's t as Gaussians of random precision (docs/math.md 5.4): the
/// trapezoidal rule in t = log zeta converges exponentially.
namespace fenchel::detail {

/// zeta - 1 - log(zeta) for zeta = e^t, by its series where the difference cancels.
FENCHEL_HD inline double order_exponent(double t) noexcept {
  if (std::abs(t) > 0.5) return std::expm1(t) - t;
  double sum = 1;
  for (int k = 16; k > 2; --k) sum = 1 + sum * t / k;
  return sum * t * t / 2;
}

/// d / dalpha of the logarithm of a node's weight at zeta = e^t, where d log G / dzeta = g and its derivative
/// is g1.
FENCHEL_HD inline double student_alpha_rate(const SpaceDensity& p, double t, double g, double g1) noexcept {
  const bool expand = std::abs(p.n) >= kManyOrders;
  const double order = expand ? order_bracket(std::expm1(t), g, g1) : p.n / 2 + p.n * p.n * order_exponent(t);
  return p.log_peak_slope + p.log_beta_slope * std::exp(t) * g -
         p.inverse_alpha2 * (order + p.stirling_slope);
}

/// A maximum of the integrand between t = low and 0, by golden section.
template <class Psi>
FENCHEL_HD double find_maximum(const Psi& psi, double low) noexcept {
  constexpr double kGolden = 0.6180339887498949;
  double high = 0;
  for (int i = 0; i < 60; ++i) {
    const double step = kGolden * (high - low), left = high - step, right = low + step;
    const bool rises = psi.exponent(left) < psi.exponent(right);
    (rises ? low : high) = rises ? left : right;
  }
  return (low + high) / 2;
}

/// False when the rule does not converge. The integrand may have two maxima: near zeta = 1, and for a far
/// function near zeta = m / e2. A Psi has
///   exponent(t)   the logarithm of the integrand, with n (zeta - 1 - log zeta) and t,
///   distance2()   the sum of its e2,
///   most_nodes()  how many it takes,
///   clear(), add(t, weight), scale(factor), sum()   sums over nodes; sum() is that of the weights.
template <class Psi>
FENCHEL_HD bool integrate_student(const SpaceDensity& p, Psi& psi) noexcept {
  constexpr double kRange = 45;        // the integrand is neglected from e^-45 of its maximum on
  constexpr double kAgreement = 1e-7;  // of sums with steps h and 2h: the error is the square of that
  constexpr double kOneMaximum = 1e3;  // from here on a second maximum is too small to be seen
  constexpr double kLogNothing = -800;
  constexpr int kMaxHalvings = 4;
  const double m = -p.n, lowest = -std::log1p(psi.distance2() / (m + 1));
  const double place = m < kOneMaximum ? 0 : find_maximum(psi, lowest);
  const double known =
      m < kOneMaximum ? std::fmax(psi.exponent(0), psi.exponent(lowest)) : psi.exponent(place);
  if (!(std::abs(known) < 1e300)) return false;
  double right = 4 / std::sqrt(m + 1), left = right;
  if (m < kOneMaximum) {
    while (m * order_exponent(right) - right < kRange) right *= 1.1;
    while (-m * order_exponent(-left) - left > known - kRange) left *= 1.1;
  } else if (known + p.log_factor < kLogNothing) {
    psi.clear();
    return true;
  } else {
    while (psi.exponent(place + right) > known - kRange) right *= 1.1;
    while (psi.exponent(place - left) > known - kRange) left *= 1.1;
    right += place;
    left -= place;
  }

  double step = 1 / std::sqrt(25 + 2 * (m + 1)), top = known;
  for (double t = -left; t < right; t += step) top = std::fmax(top, psi.exponent(t));
  for (int halvings = 0; halvings <= kMaxHalvings; ++halvings, step /= 2) {
    psi.clear();
    double coarse = 0;
    const auto count = static_cast<index_t>((left + right) / step);
    if (count >= psi.most_nodes()) return false;
    for (index_t i = 0; i <= count; ++i) {
      const double t = static_cast<double>(i) * step - left, weight = std::exp(psi.exponent(t) - top);
      psi.add(t, weight);
      if (i % 2 == 0) coarse += weight;
    }
    if (std::abs(2 * coarse - psi.sum()) <= kAgreement * psi.sum()) {
      psi.scale(step * std::exp(p.log_factor + top));
      return true;
    }
  }
  return false;
}

}  // namespace fenchel::detail
