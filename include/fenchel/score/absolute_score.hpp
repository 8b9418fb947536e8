#pragma once

/// `AbsoluteScore`: -|t - mu| / b on the line.

#include <cmath>

#include "fenchel/core/check.hpp"

namespace fenchel {

/// f(t) = -|t - mu| / b on the line.
class AbsoluteScore {
 public:
  /// Throws std::domain_error unless mu is finite and b positive and finite.
  AbsoluteScore(double mu, double b)
      : mu_(detail::checked_finite("absolute_score", "mu", mu)),
        b_(detail::checked_positive("absolute_score", "b", b)) {}

  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double b() const noexcept { return b_; }
  /// The same about mu + by. Throws as the constructor does.
  [[nodiscard]] AbsoluteScore moved(double by) const { return {mu_ + by, b_}; }
  [[nodiscard]] double operator()(double t) const noexcept { return -std::abs(t - mu_) / b_; }

  friend bool operator==(const AbsoluteScore&, const AbsoluteScore&) = default;

 private:
  double mu_, b_;
};

}  // namespace fenchel
