#include "fenchel/distribution/line/beta_gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {
namespace {

/// Both families: p = peak e(v), e(v) = exp_{2-alpha}(-v), v = (|t - mu| / unit)^degree.
struct BetaShape {
  int degree;
  double am1, mu, log_peak, unit, half_width;
  double scale_rate;     ///< d log unit / d scale at fixed alpha
  double log_peak_rate;  ///< d log_peak / dalpha
  double unit_rate;      ///< d log unit^degree / dalpha
};

/// Derivatives of p in mu, in the scale and in alpha, each a multiple of peak e(v)^{2-alpha}: with r = 1 -
/// am1 v they are +-v' / unit, ((degree + am1) v - 1) scale_rate and r log_peak_rate + v unit_rate + r d log
/// e / dalpha.
using Weights = std::array<double, 3>;

/// r times d log e(v) / dalpha at fixed v; y = -am1 v = r - 1.
double log_shape_rate(double am1, double v, double y, double log_r) {
  if (std::abs(y) > 0.1) return (y - (1 + y) * log_r) / am1 / am1;
  return (1 + y) * log_deformed_exp_alpha_derivative(am1, -v);
}

class GradientSum {
 public:
  GradientSum(const BetaShape& shape, FunctionRef<double(double)> psi, double accuracy)
      : shape_(shape), psi_(psi), accuracy_(checked_positive("expectation", "accuracy", accuracy)) {}

  /// Adds the side of mu that `side` = +-1 names.
  void add(double side, std::span<const double> cuts) {
    const bool steep = shape_.am1 > 1;  // then p^{2-alpha} is infinite at the edge
    const double end = steep ? 1 : shape_.am1 > 0 ? std::pow(shape_.am1, -1. / shape_.degree) : kInfinity;
    std::vector<double> ends = {0, end};
    for (const double cut : cuts) {
      const double distance = side * (cut - shape_.mu);
      const double z =
          steep ? std::exp(std::log1p(-distance / shape_.half_width) / shape_.am1) : distance / shape_.unit;
      if (distance > 0 && z > 0 && z < end) ends.push_back(z);
    }
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 1; i < ends.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const auto integrand = [&](double z) { return steep ? steep_term(side, z, k) : term(side, z, k); };
        const Quadrature part = integrate_twice(integrand, ends[i - 1], ends[i], accuracy_);
        sum_[k] += part.value;
        error_[k] += part.error;
        scale_[k] += part.scale;
      }
    }
  }

  [[nodiscard]] Weights value() const {
    for (std::size_t k = 0; k < 3; ++k)
      if (!(error_[k] <= accuracy_ * scale_[k]))
        throw ConvergenceError(error_message("expectation", "the estimated relative error",
                                             "must reach the accuracy", error_[k] / scale_[k]));
    return sum_;
  }

 private:
  /// In z = |t - mu| / unit.
  [[nodiscard]] double term(double side, double z, std::size_t k) const {
    const double am1 = shape_.am1, v = shape_.degree == 1 ? z : z * z, y = -am1 * v;
    if (!(y > -1)) return 0;
    const double log_r = std::log1p(y), log_e = am1 == 0 ? -v : log_r / am1;
    const double factor = std::exp(shape_.log_peak + (1 - am1) * log_e);
    if (factor == 0) return 0;
    const double value = factor * psi_at(side * shape_.unit * z);
    if (k == 0) return value * side * (shape_.degree == 1 ? 1 : 2 * z);
    if (k == 1) return value * shape_.unit * shape_.scale_rate * ((shape_.degree + am1) * v - 1);
    return value * shape_.unit *
           ((1 + y) * shape_.log_peak_rate + v * shape_.unit_rate + log_shape_rate(am1, v, y, log_r));
  }

  /// In z = d^{1/am1}, d = 1 - |t - mu| / half_width: the edge's power of d is taken into dz.
  [[nodiscard]] double steep_term(double side, double z, std::size_t k) const {
    const double am1 = shape_.am1, log_d = am1 * std::log(z), d = std::exp(log_d), x = -std::expm1(log_d);
    const bool quadratic = shape_.degree == 2;
    const double r = quadratic ? d * (2 - d) : d, power = quadratic ? x * x : x;
    const double log_r = quadratic ? log_d + std::log1p(1 - d) : log_d;
    const double rest = quadratic ? std::exp(std::log1p(1 - d) * (1 / am1 - 1)) : 1;
    const double value = std::exp(shape_.log_peak) * rest * psi_at(side * shape_.half_width * x);
    if (k == 0) return value * side * (quadratic ? 2 * x : 1);
    const double width = shape_.half_width;  // v = power / am1 takes part of the am1 of dd = am1 d^.. dz
    if (k == 1) return value * width * shape_.scale_rate * ((shape_.degree + am1) * power - am1);
    return value * width *
           (am1 * r * shape_.log_peak_rate + power * shape_.unit_rate - (power + r * log_r) / am1);
  }

  [[nodiscard]] double psi_at(double from_mu) const {
    const double t = shape_.mu + from_mu, value = psi_(t);
    if (std::isnan(value))
      throw_domain_error("expectation", "f(" + shortest(t) + ")", "must be a number", value);
    return value;
  }

  const BetaShape& shape_;
  FunctionRef<double(double)> psi_;
  double accuracy_;
  Weights sum_{}, error_{}, scale_{};
};

Weights gradient(const BetaShape& shape, FunctionRef<double(double)> psi, double accuracy,
                 std::span<const double> cuts) {
  if (std::isinf(shape.am1)) {
    const double lower = psi(shape.mu - shape.half_width), upper = psi(shape.mu + shape.half_width);
    return {(upper - lower) / (2 * shape.half_width), 0, 0};
  }
  GradientSum sum(shape, psi, accuracy);
  for (const double side : {-1.0, 1.0}) sum.add(side, cuts);
  return sum.value();
}

}  // namespace

QuadraticGradient expectation_gradient(const BetaGaussian& p, FunctionRef<double(double)> psi,
                                       double accuracy, std::span<const double> cuts) {
  const BetaGaussianConstants& c = p.constants();
  BetaShape shape{2, c.am1, p.mu(), c.log_peak, 0, p.half_width(), 0, 0, 0};
  if (!std::isinf(c.am1)) {
    const BetaGaussianAlphaDerivatives rates = alpha_derivatives(c);
    shape.unit = std::sqrt(2 * c.peak_power * p.sigma2());
    shape.scale_rate = 1 / ((p.alpha() + 1) * p.sigma2());
    shape.log_peak_rate = rates.log_peak;
    shape.unit_rate = rates.log_peak_power;
  }
  const Weights result = gradient(shape, psi, accuracy, cuts);
  return {result[0], result[1], result[2]};
}

AbsoluteGradient expectation_gradient(const BetaLaplace& p, FunctionRef<double(double)> psi, double accuracy,
                                      std::span<const double> cuts) {
  const double alpha = p.alpha(), rate = (1 / alpha - p.log_peak()) / alpha;
  const Weights result = gradient({1, alpha - 1, p.mu(), p.log_peak(), p.spread(), p.half_width(),
                                   1 / (alpha * p.b()), rate, 1 / alpha - rate},
                                  psi, accuracy, cuts);
  return {result[0], result[1], result[2]};
}

}  // namespace fenchel::detail
