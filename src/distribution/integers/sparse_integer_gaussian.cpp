#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"

#include <cmath>
#include <limits>

#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

/// The integer nearest to mu, the smaller of two.
index_t nearest(double mu) noexcept {
  const double rounded = std::round(mu);
  return static_cast<index_t>(mu - rounded == -0.5 ? rounded - 1 : rounded);
}

detail::IntegerPrediction predict_gaussian(double alpha, double mu, double sigma2) {
  constexpr auto kWhere = "sparse_integer_gaussian";
  constexpr double kLargest = 0x1p53;
  if (!(alpha > 0)) throw_domain_error(kWhere, "alpha", "must be positive", alpha);
  if (!(std::abs(mu) <= kLargest)) throw_domain_error(kWhere, "mu", "must be in [-2^53, 2^53]", mu);
  detail::checked_positive(kWhere, "sigma2", sigma2);
  const index_t mode = nearest(mu);
  const auto centre = static_cast<double>(mode);
  const double shift = mu - centre;  // exact, and |shift| <= 1/2
  const detail::IntegerScore score{
      mode,
      {std::numeric_limits<index_t>::min(), std::numeric_limits<index_t>::max()},
      [=](index_t t) { return (shift - (static_cast<double>(t - mode) - 0.5)) / sigma2; },
      [=](double x) { return x == 0 ? 0.0 : x * ((shift - x / 2) / sigma2); },  // which may be infinite
      [=](double) { return -std::log(2 * sigma2); },
      2,
      0};
  return detail::predict_integers(alpha - 1, score, kWhere, "sigma2", sigma2);
}

}  // namespace

SparseIntegerGaussian::SparseIntegerGaussian(double alpha, double mu, double sigma2)
    : mu_(mu), sigma2_(sigma2), prediction_(predict_gaussian(alpha, mu, sigma2)) {}

double normalizer(const SparseIntegerGaussian& p) {
  return score(p)(static_cast<double>(mode(p))) + p.prediction().normalization.offset;
}

double threshold(const SparseIntegerGaussian& p) {
  return score(p)(static_cast<double>(mode(p))) + p.prediction().normalization.threshold;
}

std::array<double, 2> canonical_parameters(const SparseIntegerGaussian& p) noexcept {
  return {p.mu() / p.sigma2(), -0.5 / p.sigma2()};
}

}  // namespace fenchel
