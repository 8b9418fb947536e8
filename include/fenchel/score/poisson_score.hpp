#pragma once

/// `PoissonScore`: t log mu - log t! on the naturals.

#include <cmath>

#include "fenchel/core/check.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// f(t) = t log mu - log t! on the naturals; its canonical parameter is log mu.
class PoissonScore {
 public:
  /// Throws std::domain_error unless mu is positive and finite.
  explicit PoissonScore(double mu) : mu_(detail::checked_positive("poisson_score", "mu", mu)) {}

  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double operator()(index_t t) const noexcept {
    return static_cast<double>(t) * std::log(mu_) - std::lgamma(static_cast<double>(t) + 1);
  }

  friend bool operator==(const PoissonScore&, const PoissonScore&) = default;

 private:
  double mu_;
};

}  // namespace fenchel
