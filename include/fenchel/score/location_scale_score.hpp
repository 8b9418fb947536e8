#pragma once

/// `LocationScaleScore`: -g'(|t - mu| / sigma) / sigma for a convex g.

#include <cmath>
#include <functional>
#include <utility>

#include "fenchel/core/check.hpp"

namespace fenchel {

/// f(t) = -g'(|t - mu| / sigma) / sigma for a convex g on [0, inf) with g'(0) = 0 or above [SCD22, Section
/// 5.5]. g = t^3/6 is the quadratic score with sigma2 = sigma^3, g = t^2/2 the absolute score with b =
/// sigma^2 (docs/math.md E20).
class LocationScaleScore {
 public:
  /// g and its derivative. Throws std::domain_error unless mu is finite and sigma positive and finite.
  LocationScaleScore(std::function<double(double)> g, std::function<double(double)> slope, double mu = 0,
                     double sigma = 1)
      : g_(std::move(g)),
        slope_(std::move(slope)),
        mu_(detail::checked_finite("location_scale_score", "mu", mu)),
        sigma_(detail::checked_positive("location_scale_score", "sigma", sigma)) {}

  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double sigma() const noexcept { return sigma_; }
  /// The same about mu + by. Throws as the constructor does.
  [[nodiscard]] LocationScaleScore moved(double by) const { return {g_, slope_, mu_ + by, sigma_}; }
  [[nodiscard]] double g(double x) const { return g_(x); }
  [[nodiscard]] double slope(double x) const { return slope_(x); }
  [[nodiscard]] double operator()(double t) const { return -slope_(std::abs(t - mu_) / sigma_) / sigma_; }

 private:
  std::function<double(double)> g_, slope_;
  double mu_, sigma_;
};

}  // namespace fenchel
