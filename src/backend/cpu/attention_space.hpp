#pragma once

#include "backend/cpu/attention_row.hpp"
#include "core/lanes.hpp"
#include "fenchel/core/index.hpp"

/// E_p[psi_j] on R^D as a mixture of Gaussian expectations [SCD22, Section 8; MATH.md 7.5]. In coordinates in
/// which Sigma is 1 and Sigma_j = diag(lambda), with d = mu_j - mu, n = alpha / am1, v_a = beta lambda_a and
/// beta = alpha / p(mu)^am1, and with log G = -sum_a log(1 + zeta v_a) / 2 - beta zeta d_a^2 / (2 (1 + zeta
/// v_a)):
///   rho = factor int exp(n (zeta - 1 - log zeta)) G(zeta) dzeta,
/// over a contour around the negative axis for alpha > 1, over zeta > 0 for alpha < 1, and G(1) p(mu) for
/// alpha = 1. All derivatives are means of simple functions of zeta under the same weights.
namespace fenchel::detail {

/// What the functions of a row share.
struct SpaceDensity {
  double n, beta;
  double log_factor;      ///< of rho above
  double log_peak_slope;  ///< d log p(mu) / d alpha
  double log_beta_slope;  ///< d log beta / d alpha
  double inverse_alpha2;  ///< 1 / alpha^2: dn / d alpha = -n^2 / alpha^2
  double stirling_slope;  ///< n^2 times the derivative of log Gamma(|n|) less Stirling's formula
  double log_peak_curve, log_beta_curve, stirling_curve;  ///< second derivatives in alpha of log p(mu), log
                                                          ///< beta and of log Gamma(|n|) less Stirling's
};
[[nodiscard]] SpaceDensity space_density(const BetaGaussianConstants& c) noexcept;

struct Complex {
  double re, im;
};
FENCHEL_INLINE Complex operator+(Complex a, Complex b) noexcept { return {a.re + b.re, a.im + b.im}; }
FENCHEL_INLINE Complex operator-(Complex a, Complex b) noexcept { return {a.re - b.re, a.im - b.im}; }
FENCHEL_INLINE Complex operator*(Complex a, Complex b) noexcept {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
FENCHEL_INLINE Complex operator*(double a, Complex b) noexcept { return {a * b.re, a * b.im}; }
FENCHEL_INLINE Complex operator*(Complex b, double a) noexcept { return {a * b.re, a * b.im}; }
FENCHEL_INLINE Complex operator+(double a, Complex b) noexcept { return {a + b.re, b.im}; }
FENCHEL_INLINE Complex operator-(double a, Complex b) noexcept { return {a - b.re, -b.im}; }

/// Functions are integrated eight at a time: arrays of D x 8, coordinate by coordinate.
inline constexpr index_t kSpaceGroup = 8;

/// The nodes of a group: rho is the real part of the sum of the weights, and the mean of a function of zeta
/// times rho that of their products.
struct SpaceNodes {
  static constexpr index_t kMost = 4096;
  struct Node {
    Complex zeta, weight;
  };
  Node* data;  ///< kMost for each function
  index_t size[kSpaceGroup];
  [[nodiscard]] Node& at(index_t lane, index_t i) const noexcept { return data[i * kSpaceGroup + lane]; }
};

struct SpaceGroup {
  index_t dimension;
  const double *v, *e2;         ///< beta lambda, beta d^2 / 2
  double* sums;                 ///< block_count(...) + D rows of eight numbers, see below
  double* work;                 ///< 5 D rows
  SpaceNodes* nodes = nullptr;  ///< filled, too, where there are any
};

/// `sums` is rho; with a gradient also, for each a, the means of 1 / (1 + zeta v_a) and zeta / (1 + zeta
/// v_a), and for a >= b of zeta / ((1 + zeta v_a) (1 + zeta v_b)), all times rho; d rho / d alpha is last.
[[nodiscard]] constexpr index_t space_sums(index_t dimension, Wanted wanted) noexcept {
  return block_count(dimension, wanted) + (wanted == Wanted::kValues ? 0 : dimension);
}

/// alpha > 1. False where the sums do not converge.
[[nodiscard]] bool integrate_contour(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted,
                                     Accuracy accuracy) noexcept;
/// alpha = 1: the value of the integrand at zeta = 1.
void integrate_gaussian(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept;
/// alpha < 1.
[[nodiscard]] bool integrate_mixture(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept;

/// From this n on, d rho / d alpha is taken from n-fold expansions about zeta = 1.
inline constexpr double kManyOrders = 2e3;

/// What n (1/2 + n h) + n^2 stirling slope tends to under the integral after two integrations by parts, with
/// no large n left, less the last term; x = zeta - 1, h = x - log1p(x), g = d log G / d zeta, and g1 = dg /
/// dzeta. Series in x, to 1e-12 for |x| < 0.2.
template <class Number>
[[nodiscard]] FENCHEL_INLINE Number order_bracket(Number x, Number g, Number g1) noexcept {
  constexpr int kTerms = 18;
  // eta = h / x^2 = 1/2 - x/3 + ..., q = (1/2 - eta) / x = 1/3 - x/4 + ...
  Number eta = x * 0, q = eta, eta1 = eta, q1 = eta;
#pragma GCC unroll 20
  for (int k = kTerms; k >= 0; --k) {
    eta1 = eta - x * eta1;
    q1 = q - x * q1;
    eta = 1. / (k + 2) - x * eta;
    q = 1. / (k + 3) - x * q;
  }
  const Number zeta = 1. + x;
  return q - zeta * q1 + zeta * q * g + (2. * zeta * eta - zeta * zeta * eta1) * g +
         zeta * zeta * eta * (g1 + g * g);
}

}  // namespace fenchel::detail
