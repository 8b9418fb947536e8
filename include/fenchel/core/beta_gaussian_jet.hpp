#pragma once

/// Functions of a beta-Gaussian on R^n with their first and second derivatives.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

/// The functions of a beta-Gaussian on R^n, as functions of an argument, log det Sigma and alpha, with their
/// first and second derivatives [SCD22, Section 6; docs/math.md 5.2]. Linear algebra computes q and log det
/// Sigma, so that derivatives in t, mu and Sigma follow by the chain rule.
namespace fenchel {

/// A number and its derivatives in the variables (argument, log det Sigma, alpha).
struct Jet {
  double value;
  std::array<double, 3> gradient;
  std::array<double, 6> hessian;  ///< 00, 01, 02, 11, 12, 22
};

enum class BetaGaussianFunction {
  log_density,      ///< log p at the argument q
  cross_omega,      ///< Omega*_alpha(f) + q/2 at the argument q: the loss of f at a point
  entropy,          ///< Shannon's, - int p log p
  tsallis_entropy,  ///< -Omega_alpha(p)
  log_variance,     ///< log v, where the covariance is v Sigma; infinite for alpha <= n / (n + 2)
  log_radius2,      ///< log of the q at which the support ends; infinite for alpha <= 1
  log_draw,         ///< log sqrt(q) of a draw, whose argument is a seed: an integer below 2^53
  cdf,              ///< for n = 1: P(X <= mu + sigma x) at the argument x
  quantile,         ///< for n = 1: the x with P(X <= mu + sigma x) = u at the argument u, NaN off [0, 1]
  below_peak,       ///< of any prediction: log p where f is its largest value plus the argument, log p there
                    ///< standing in the place of log det Sigma
};

/// The function of that name. Throws std::invalid_argument where there is none.
[[nodiscard]] FENCHEL_EXPORT BetaGaussianFunction beta_gaussian_function(std::string_view name);

/// The value alone. Any alpha > 1 - 2/n, infinity too.
[[nodiscard]] FENCHEL_EXPORT double beta_gaussian_value(BetaGaussianFunction function, index_t n,
                                                        double argument, double log_det, double alpha);

/// With derivatives. They are 0 where the function is infinite, off the support, and in alpha at infinite
/// alpha. Without `in_alpha` those of cdf and quantile that take an integral are NaN.
[[nodiscard]] FENCHEL_EXPORT Jet beta_gaussian_jet(BetaGaussianFunction function, index_t n, double argument,
                                                   double log_det, double alpha, bool in_alpha = true);

/// The direction of the draw with that seed, a unit vector of R^n for even n. For odd n it is one of R^{n+1}
/// without its last coordinate.
FENCHEL_EXPORT void draw_direction(std::uint64_t seed, std::span<double> out);

}  // namespace fenchel
