#pragma once

/// `SparseIntegerGaussian`: the prediction for a quadratic score on the integers.

#include <array>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/integer_prediction.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/score/quadratic_score.hpp"

namespace fenchel {

/// The prediction of Tsallis(alpha) for f(t) = -(t - mu)^2 / (2 sigma2) on the integers [SCD22, Section 5;
/// docs/math.md 3]: p(t) = exp_{2-alpha}(f(t) - A). The discrete Gaussian at alpha = 1; above it on finitely
/// many integers about mu; below it a discrete Student, with tails like |t|^{-2/(1-alpha)}. Its mean is mu
/// only where mu is a multiple of 1/2, and sigma2 is not its variance.
class FENCHEL_EXPORT SparseIntegerGaussian {
 public:
  using value_type = index_t;

  /// Throws std::domain_error unless alpha > 0 (infinity is allowed), |mu| <= 2^53, sigma2 is positive and
  /// finite, and from alpha = 1 on IntegerTable::kMostIntegers are enough: for alpha = 1 they are up to
  /// sigma2 = 1.9e11, for alpha = 4/3 up to 1e16, for alpha = 2 up to 3e21.
  explicit SparseIntegerGaussian(double alpha = 2, double mu = 0, double sigma2 = 1);

  [[nodiscard]] double alpha() const noexcept { return prediction_.am1 + 1; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double sigma2() const noexcept { return sigma2_; }
  [[nodiscard]] const IntegerTable& table() const noexcept { return prediction_.table; }
  [[nodiscard]] const detail::IntegerPrediction& prediction() const noexcept { return prediction_; }

  friend bool operator==(const SparseIntegerGaussian& a, const SparseIntegerGaussian& b) noexcept {
    return a.alpha() == b.alpha() && a.mu_ == b.mu_ && a.sigma2_ == b.sigma2_;
  }

 private:
  double mu_, sigma2_;
  detail::IntegerPrediction prediction_;
};

[[nodiscard]] inline Integers domain(const SparseIntegerGaussian&) noexcept { return {}; }

/// A and tau = A - 1 / (alpha - 1) of p = exp_{2-alpha}(f - A), which is positive where f > tau; tau is -inf
/// at alpha = 1, and below it a pole above all scores.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const SparseIntegerGaussian& p);
[[nodiscard]] FENCHEL_EXPORT double threshold(const SparseIntegerGaussian& p);

[[nodiscard]] inline QuadraticScore score(const SparseIntegerGaussian& p) { return {p.mu(), p.sigma2()}; }
/// (mu / sigma2, -1 / (2 sigma2)).
[[nodiscard]] FENCHEL_EXPORT std::array<double, 2> canonical_parameters(
    const SparseIntegerGaussian& p) noexcept;

static_assert(DiscreteDistribution<SparseIntegerGaussian> && NumericDistribution<SparseIntegerGaussian>);

}  // namespace fenchel
