#pragma once

/// `EvenScore`: any score on the line that falls with the distance from mu.

#include <cmath>
#include <concepts>
#include <functional>
#include <utility>

#include "fenchel/core/check.hpp"
#include "fenchel/score/location_scale_score.hpp"
#include "fenchel/score/scaled_gaussian_score.hpp"

namespace fenchel {

/// f(t) = h(|t - mu|) for any h that falls, or stays, on [0, inf): even and unimodal [SCD22, Section 7].
class EvenScore {
 public:
  /// Throws std::domain_error unless mu is finite.
  EvenScore(std::function<double(double)> h, double mu) : EvenScore(std::move(h), nullptr, mu) {}
  /// With the antiderivative int_0^x h.
  EvenScore(std::function<double(double)> h, std::function<double(double)> antiderivative, double mu)
      : h_(std::move(h)),
        antiderivative_(std::move(antiderivative)),
        mu_(detail::checked_finite("even_score", "mu", mu)) {}
  EvenScore(const LocationScaleScore& f)
      : EvenScore([f](double x) { return -f.slope(x / f.sigma()) / f.sigma(); },
                  [f](double x) { return f.g(0) - f.g(x / f.sigma()); }, f.mu()) {}
  EvenScore(const ScaledGaussianScore& f)
      : EvenScore([f](double x) { return ScaledGaussianScore(f.kappa(), 0, f.sigma2())(x); },
                  [f](double x) { return f.kappa() / 2 * std::erf(x / std::sqrt(2 * f.sigma2())); }, f.mu()) {
  }

  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double profile(double x) const { return h_(x); }
  [[nodiscard]] bool has_antiderivative() const noexcept { return static_cast<bool>(antiderivative_); }
  [[nodiscard]] double antiderivative(double x) const { return antiderivative_(x); }
  [[nodiscard]] double operator()(double t) const { return h_(std::abs(t - mu_)); }

 private:
  std::function<double(double)> h_, antiderivative_;
  double mu_;
};

/// A score that is even and unimodal about a point.
template <class Score>
concept UnimodalEvenScore = std::same_as<Score, EvenScore> || std::same_as<Score, LocationScaleScore> ||
    std::same_as<Score, ScaledGaussianScore>;

}  // namespace fenchel
