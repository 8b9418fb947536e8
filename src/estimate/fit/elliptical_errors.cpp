#include "estimate/fit/elliptical_errors.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr double kInf = kInfinity;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// E[q^k]; infinite where it does not exist.
double radial_moment(index_t dimension, double am1, int k) {
  const auto n = static_cast<double>(dimension);
  double moment = 1;
  for (int j = 0; j < k; ++j) {
    const double far = 2 + (n + 2 + 2 * j) * am1;
    if (!(far > 0)) return kInf;
    moment *= (n + 2 * j) * (std::isinf(am1) ? (n + 2) / (n + 2 + 2 * j) : (2 + (n + 2) * am1) / far);
  }
  return moment;
}

/// 0 where the moment of this odd degree exists.
double odd_moment(index_t dimension, double am1, int degree) {
  return 2 + static_cast<double>(dimension + degree) * am1 > 0 ? 0 : kNaN;
}

}  // namespace

EllipticalErrors scale_errors(index_t dimension, double am1) {
  const auto n = static_cast<double>(dimension);
  const double second = radial_moment(dimension, am1, 2), ratio = second / (n * (n + 2));
  if (std::isinf(second)) return {kInf, kInf, odd_moment(dimension, am1, 3), 0, 0};
  // dSigma / Sigma = dV / V + half tr(V^-1 dV), and the trace has the variance E[q^2] - N^2.
  const double half = std::isinf(am1) ? 0 : am1 / 2, trace = (second - n * n) / n;
  return {ratio, ratio - 1 + half * (2 + n * half) * trace, odd_moment(dimension, am1, 3), 0, 0};
}

EllipticalErrors scale_and_alpha_errors(index_t dimension, double am1, double log_det) {
  EllipticalErrors errors = scale_errors(dimension, am1);
  if (std::isinf(am1)) {
    errors.alpha = errors.alpha_scale = kNaN;
    return errors;
  }
  const auto n = static_cast<double>(dimension);
  const double m2 = radial_moment(dimension, am1, 2), m3 = radial_moment(dimension, am1, 3),
               m4 = radial_moment(dimension, am1, 4), mean_scale = odd_moment(dimension, am1, 5);
  if (std::isinf(m4)) return {errors.pairs, kInf, mean_scale, kInf, kNaN};
  // The influence on E[q^2] is q^2 - m2 - 2 (m2 / N) (q - N), that on tr(V^-1 dV) is q - N.
  const double slope = 2 * m2 / n,
               variance = m4 - m2 * m2 - 2 * slope * (m3 - m2 * n) + slope * slope * (m2 - n * n);
  const double with_trace = m3 - m2 * n - slope * (m2 - n * n);
  const double far = 2 + (n + 4) * am1, rate = -far * far / (4 * n * (n + 2));  // d am1 / dE[q^2]
  const double growth = log_scale_factor(dimension, am1, log_det).alpha_derivative;
  const double alpha = rate * rate * variance, shared = rate * with_trace * (1 / n + am1 / 2);
  return {errors.pairs, errors.whole + growth * (2 * shared + growth * alpha), mean_scale, alpha,
          shared + growth * alpha};
}

double am1_of_kurtosis(index_t dimension, double ratio, double log_det, double log_size) {
  constexpr double kNearUniform = 30, kLogRange = 700;
  const auto n = static_cast<double>(dimension);
  const double above = (n + 4) * ratio - (n + 2);
  if (!(above > 0)) return kInf;
  const double am1 = 2 * (1 - ratio) / above;
  const double log_kappa = std::abs(log_scale_factor(dimension, am1, log_det).value);
  return am1 < kNearUniform || log_kappa + log_size < kLogRange ? am1 : kInf;
}

LogScaleFactor log_scale_factor(index_t dimension, double am1, double log_det) {
  const auto n = static_cast<double>(dimension);
  const double excess = (n * std::log(2 * std::numbers::pi) + log_det) / 2 - log_gamma_ratio(dimension, am1);
  const double extra = (n + 2) * am1 / 2, spread = std::log1p(extra), width = 1 + n * am1 / 2;
  return {am1 * excess + width * spread, excess - am1 * log_gamma_ratio_slope(dimension, am1) +
                                             n / 2 * spread + width * (n + 2) / 2 / (1 + extra)};
}

}  // namespace fenchel::detail
