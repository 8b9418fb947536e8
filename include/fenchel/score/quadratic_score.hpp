#pragma once

/// `QuadraticScore`: -(t - mu)^2 / (2 sigma2) on the line or on the integers.

#include "fenchel/core/check.hpp"

namespace fenchel {

/// f(t) = -(t - mu)^2 / (2 sigma2), on the line or on the integers.
class QuadraticScore {
 public:
  /// Throws std::domain_error unless mu is finite and sigma2 positive and finite.
  QuadraticScore(double mu, double sigma2)
      : mu_(detail::checked_finite("quadratic_score", "mu", mu)),
        sigma2_(detail::checked_positive("quadratic_score", "sigma2", sigma2)) {}

  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double sigma2() const noexcept { return sigma2_; }
  /// The same about mu + by. Throws as the constructor does.
  [[nodiscard]] QuadraticScore moved(double by) const { return {mu_ + by, sigma2_}; }
  [[nodiscard]] double operator()(double t) const noexcept { return -(t - mu_) * (t - mu_) / (2 * sigma2_); }

  friend bool operator==(const QuadraticScore&, const QuadraticScore&) = default;

 private:
  double mu_, sigma2_;
};

}  // namespace fenchel
