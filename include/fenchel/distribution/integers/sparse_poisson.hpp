#pragma once

/// `SparsePoisson`: Poisson at alpha = 1, on finitely many counts above it, over-dispersed below.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/integer_prediction.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/score/poisson_score.hpp"

namespace fenchel {

/// The prediction of Tsallis(alpha, temperature) for f(t) = t log mu - log t! on the naturals [SCD22, Section
/// 5; docs/math.md 3]: p(t) = exp_{2-alpha}((f(t) - A) / temperature). Poisson at alpha = 1, with a
/// temperature Conway-Maxwell-Poisson; above it on finitely many integers about the mode; below it with
/// tails like (t log t)^{-1/(1-alpha)}. The mean is mu at alpha = 1 alone.
class FENCHEL_EXPORT SparsePoisson {
 public:
  using value_type = index_t;

  /// Throws std::domain_error unless alpha > 0 (infinity is allowed), mu is positive and at most 2^52, the
  /// temperature positive and finite, A is finite, as it is from alpha = 1e-3 on, and from alpha = 1 on
  /// IntegerTable::kMostIntegers are enough: for alpha = 1 they are up to mu * temperature = 1.9e11.
  explicit SparsePoisson(double alpha = 2, double mu = 1, double temperature = 1);

  [[nodiscard]] double alpha() const noexcept { return prediction_.am1 + 1; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double temperature() const noexcept { return temperature_; }
  [[nodiscard]] const IntegerTable& table() const noexcept { return prediction_.table; }
  /// Of the score f / temperature.
  [[nodiscard]] const detail::IntegerPrediction& prediction() const noexcept { return prediction_; }

  friend bool operator==(const SparsePoisson& a, const SparsePoisson& b) noexcept {
    return a.alpha() == b.alpha() && a.mu_ == b.mu_ && a.temperature_ == b.temperature_;
  }

 private:
  double mu_, temperature_;
  detail::IntegerPrediction prediction_;
};

[[nodiscard]] inline Naturals domain(const SparsePoisson&) noexcept { return {}; }

/// A and tau = A - temperature / (alpha - 1) of the score f itself: p = exp_{2-alpha}((f - A) / temperature)
/// is positive where f > tau, -inf at alpha = 1; below it tau is a pole above all scores.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const SparsePoisson& p);
[[nodiscard]] FENCHEL_EXPORT double threshold(const SparsePoisson& p);

[[nodiscard]] inline PoissonScore score(const SparsePoisson& p) { return PoissonScore(p.mu()); }
/// log mu.
[[nodiscard]] FENCHEL_EXPORT double canonical_parameter(const SparsePoisson& p) noexcept;

static_assert(DiscreteDistribution<SparsePoisson> && NumericDistribution<SparsePoisson>);

}  // namespace fenchel
