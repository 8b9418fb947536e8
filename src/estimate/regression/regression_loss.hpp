#pragma once

#include <cmath>
#include <numbers>

#include "estimate/fit/spread.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// The loss of one row and its derivatives in mu and log sigma.
struct RegressionTerm {
  double value, mu, log_sigma;
};

/// The loss of f = -(t - mu)^2 / (2 sigma^2) at an observation, for alpha > 1/3: cross-Omega, Omega*(f) + (y
/// - mu)^2 / (2 sigma^2) [SCD22, Section 9.2; docs/math.md 5.2, 5.5, E3], where Omega* is a function of log
/// sigma alone, or -log p(y) of the prediction p, for alpha <= 1 (docs/math.md 5.11). They agree at alpha
/// = 1.
class RegressionLoss {
 public:
  explicit RegressionLoss(double alpha, bool likelihood = false)
      : am1_(alpha - 1),
        ell_(std::log(2 * std::numbers::pi) / 2 - log_gamma_ratio(1, am1_)),
        likelihood_(likelihood) {}

  [[nodiscard]] double am1() const noexcept { return am1_; }

  /// +infinity where the square overflows, and the derivatives are not finite.
  [[nodiscard]] RegressionTerm operator()(double residual, double log_sigma) const noexcept {
    return likelihood_ ? log_loss(residual, log_sigma) : cross_omega(residual, log_sigma);
  }

  /// The expected second derivatives in mu and log sigma and the variances of the first, for an observation
  /// from the member; mu and log sigma are uncorrelated. Of cross-Omega: precision and 4 v / (alpha + 1), v
  /// precision and v^2 (kurtosis - 1), where its variance is v sigma^2; the kurtosis is infinite for alpha <=
  /// 3/5. Of the likelihood both are Fisher's information of Student's t.
  struct Spreads {
    Spread mu, log_sigma;
  };
  [[nodiscard]] Spreads spreads(double log_sigma) const noexcept {
    const double precision = std::exp(-2 * log_sigma);
    if (likelihood_) {
      const double mu = precision * (2 + am1_) / (2 * (1 - am1_) * exp_z(log_sigma));
      const double scale = 4 / ((2 + am1_) * (1 - am1_));
      return {{mu, mu}, {scale, scale}};
    }
    const double v = std::exp(log_unit_variance() - 2 * am1_ / (2 + am1_) * log_sigma);
    const double kurtosis = 2 + 5 * am1_ > 0 ? 3 * (2 + 3 * am1_) / (2 + 5 * am1_) : kInfinity;
    return {{precision, v * precision}, {4 * v / (2 + am1_), v * v * (kurtosis - 1)}};
  }

  /// log of the variance of the member with sigma = 1: log 2 e^z / (2 + 3 am1) at log_sigma = 0.
  [[nodiscard]] double log_unit_variance() const noexcept {
    return -2 * am1_ / (2 + am1_) * ell_ - std::log1p(1.5 * am1_);
  }

  /// In a unit c times as large, with sigma c^{-(alpha + 1) / 2} times as large, the loss is an increasing
  /// function of what it was; this is its inverse, c^{1 - alpha} loss + (1 - c^{1 - alpha}) / (alpha am1), or
  /// loss + log c of the likelihood.
  [[nodiscard]] double in_smaller_unit(double loss, double log_c) const noexcept {
    if (am1_ == 0 || likelihood_) return loss + log_c;
    const double factor = std::exp(-am1_ * log_c), limit = 1 / ((1 + am1_) * am1_);
    if (std::isinf(factor)) return loss == limit ? limit : std::copysign(factor, loss - limit);
    return factor * loss - std::expm1(-am1_ * log_c) * limit;
  }

 private:
  /// e^z of docs/math.md 5.2.
  [[nodiscard]] double exp_z(double log_sigma) const noexcept {
    return std::exp(-2 * am1_ / (2 + am1_) * (ell_ + log_sigma));
  }

  [[nodiscard]] RegressionTerm cross_omega(double residual, double log_sigma) const noexcept {
    const double ell = ell_ + log_sigma, z = -2 * am1_ / (2 + am1_) * ell, power = std::exp(z);
    const double variance_factor = 2 * power / (2 + 3 * am1_);
    const double normalizer = am1_ == 0 ? ell : -std::expm1(z) / am1_;
    const double conjugate = (normalizer - am1_ * variance_factor / 2) / (1 + am1_);
    const double precision = std::exp(-2 * log_sigma), square = residual * residual * precision;
    return {std::isfinite(square) ? conjugate + square / 2 : kInfinity, -residual * precision,
            variance_factor - square};
  }

  /// -log P + log1p(k u) / k, where k = 1 - alpha and u = q / (2 e^z).
  [[nodiscard]] RegressionTerm log_loss(double residual, double log_sigma) const noexcept {
    const double precision = std::exp(-2 * log_sigma) / exp_z(log_sigma), k = -am1_;
    const double u = residual * residual * precision / 2, weight = 1 / (1 + k * u);
    const double value = 2 * (ell_ + log_sigma) / (2 + am1_) + (k == 0 ? u : std::log1p(k * u) / k);
    return {std::isfinite(u) ? value : kInfinity, -residual * precision * weight,
            2 / (2 + am1_) * (1 - 2 * u * weight)};
  }

  double am1_, ell_;
  bool likelihood_;
};

}  // namespace fenchel::detail
