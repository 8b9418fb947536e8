#pragma once

/// `ScaledGaussianScore`: kappa times a Gaussian density.

#include <cmath>
#include <numbers>

#include "fenchel/core/check.hpp"

namespace fenchel {

/// f(t) = kappa N(t; mu, sigma2): a Gaussian density as a score [SCD22, Section 5.4].
class ScaledGaussianScore {
 public:
  /// Throws std::domain_error unless mu is finite, and kappa and sigma2 are positive and finite.
  ScaledGaussianScore(double kappa, double mu, double sigma2)
      : kappa_(detail::checked_positive("scaled_gaussian_score", "kappa", kappa)),
        mu_(detail::checked_finite("scaled_gaussian_score", "mu", mu)),
        sigma2_(detail::checked_positive("scaled_gaussian_score", "sigma2", sigma2)) {}

  [[nodiscard]] double kappa() const noexcept { return kappa_; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double sigma2() const noexcept { return sigma2_; }
  /// The same about mu + by. Throws as the constructor does.
  [[nodiscard]] ScaledGaussianScore moved(double by) const { return {kappa_, mu_ + by, sigma2_}; }
  [[nodiscard]] double operator()(double t) const noexcept {
    return kappa_ * std::exp(-(t - mu_) * (t - mu_) / (2 * sigma2_)) /
           std::sqrt(2 * std::numbers::pi * sigma2_);
  }

  friend bool operator==(const ScaledGaussianScore&, const ScaledGaussianScore&) = default;

 private:
  double kappa_, mu_, sigma2_;
};

}  // namespace fenchel
