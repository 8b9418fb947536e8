#include "fenchel/distribution/integers/sparse_poisson.hpp"

#include <boost/math/special_functions/log1p.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

/// log t! - log(sqrt(2 pi t) (t/e)^t) for t >= 1, to 1e-15: Stirling's series from 16 on, and steps down.
double stirling_error(double t) noexcept {
  double steps = 0;
  for (; t < 16; ++t) steps += (t + 0.5) * std::log1p(1 / t) - 1;
  const double r = 1 / t, r2 = r * r;
  return steps + r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 / 1188))));
}

/// f(t) - mu = log of the Poisson probability [C. Loader, Fast and accurate computation of binomial
/// probabilities, 2000], which cancels nowhere.
double log_poisson(double mu, double t) {
  if (t == 0) return -mu;
  constexpr double kFar = 0.1;
  const double lead =
      mu < kFar * t ? t * std::log(mu / t) + (t - mu) : t * boost::math::log1pmx((mu - t) / t);
  return lead - 0.5 * std::log(2 * std::numbers::pi * t) - stirling_error(t);
}

/// log(mu / t).
double log_ratio(double mu, double t) noexcept {
  return mu > t / 2 && mu < 2 * t ? std::log1p((mu - t) / t) : std::log(mu / t);
}

detail::IntegerPrediction predict_poisson(double alpha, double mu, double temperature) {
  constexpr auto kWhere = "sparse_poisson";
  constexpr double kLargest = 0x1p52;
  if (!(alpha > 0)) throw_domain_error(kWhere, "alpha", "must be positive", alpha);
  if (!(mu > 0 && mu <= kLargest)) throw_domain_error(kWhere, "mu", "must be positive and at most 2^52", mu);
  detail::checked_positive(kWhere, "temperature", temperature);
  const auto mode = static_cast<index_t>(std::ceil(mu)) - 1;
  const double top = log_poisson(mu, static_cast<double>(mode));
  const detail::IntegerScore score{
      mode,
      {0, std::numeric_limits<index_t>::max()},
      [mu, temperature](index_t t) { return log_ratio(mu, static_cast<double>(t)) / temperature; },
      [mu, temperature, top, mode](double x) {
        const double t = static_cast<double>(mode) + x;
        return t < 0 ? -kInfinity : (log_poisson(mu, t) - top) / temperature;
      },
      [mu, temperature](double y) { return std::log(y - 1 - std::log(mu)) - std::log(temperature); },
      1,
      1};
  detail::IntegerPrediction prediction =
      temperature == 1
          ? detail::predict_integers(alpha - 1, score, kWhere, "mu", mu)
          : detail::predict_integers(alpha - 1, score, kWhere, "mu * temperature", mu * temperature);
  // As alpha falls to 0 the mass goes to where log t is about 1 / alpha, and A = f(mode) + (p(mode)^(alpha-1)
  // - 1) / (1 - alpha) grows without bound.
  if (!(prediction.normalization.offset < kInfinity))
    throw_domain_error(kWhere, "alpha", "must leave a normalizer in the range of doubles", alpha);
  return prediction;
}

/// f(mode).
double top(const SparsePoisson& p) { return p.mu() + log_poisson(p.mu(), static_cast<double>(mode(p))); }

}  // namespace

SparsePoisson::SparsePoisson(double alpha, double mu, double temperature)
    : mu_(mu), temperature_(temperature), prediction_(predict_poisson(alpha, mu, temperature)) {}

double normalizer(const SparsePoisson& p) {
  return top(p) + p.temperature() * p.prediction().normalization.offset;
}

double threshold(const SparsePoisson& p) {
  return top(p) + p.temperature() * p.prediction().normalization.threshold;
}

double canonical_parameter(const SparsePoisson& p) noexcept { return std::log(p.mu()); }

}  // namespace fenchel
