#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "distribution/euclidean/sphere_rule.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"

namespace fenchel {
namespace {

using VectorFunction = FunctionRef<double(const Eigen::VectorXd&)>;

constexpr double kMaxDirections = 1 << 17;
/// Radii are scanned to the edge of the support, or for wider ones from 0 to infinity.
constexpr double kWideSupport = 1e3;

[[noreturn]] void throw_not_reached(double error) {
  throw ConvergenceError(error_message(
      "expectation", "the estimated relative error",
      "must reach the accuracy (take the mean over samples where f is rough or the rank high)", error));
}

/// The law of the radius, in units of its median.
class Radius {
 public:
  explicit Radius(const MultivariateBetaGaussian& p)
      : constants_(p.constants()), unit_(std::sqrt(mahalanobis_contour(p, 0.5).radius2)) {
    const auto n = static_cast<double>(p.rank());
    log_area_ = std::log(2.0) + n / 2 * std::log(std::numbers::pi) - std::lgamma(n / 2) +
                p.score().log_det() / 2 + n * std::log(unit_);
    const double edge = p.alpha() > 1 ? std::sqrt(constants_.radius2) / unit_ : kWideSupport;
    upper_ = edge < kWideSupport ? edge : kInfinity;
  }

  [[nodiscard]] double unit() const { return unit_; }

  /// E[g(radius / unit)]. Throws ConvergenceError.
  [[nodiscard]] Quadrature mean(FunctionRef<double(double)> g, double accuracy) const {
    const auto power = static_cast<double>(constants_.dimension - 1);
    const auto integrand = [&](double x) {
      const double r = unit_ * x, log_p = log_density(constants_, r * r);
      const double density = x > 0 ? std::exp(log_area_ + power * std::log(x) + log_p) : 0;
      return density == 0 ? 0 : density * g(x);
    };
    const Quadrature found = integrate(integrand, 0, upper_, accuracy);
    // Without convergence but with a small error, there is more at the ends: E|f| may be infinite.
    if (!found.converged)
      throw_not_reached(found.error <= accuracy * found.scale ? kInfinity : found.error / found.scale);
    return found;
  }

 private:
  BetaGaussianConstants constants_;
  double unit_, log_area_, upper_;
};

/// Means of functions of t over the sphere of one radius, at rule m.
class Sphere {
 public:
  Sphere(const MultivariateBetaGaussian& p, double unit, index_t m)
      : p_(p), rule_(detail::sphere_rule(p.rank(), m)) {
    rule_.points = unit * (p.score().factor() * rule_.points);
  }

  [[nodiscard]] double mean(VectorFunction f, double x) {
    double sum = 0;
    for (index_t k = 0; k < rule_.weights.size(); ++k) {
      t_ = p_.mu() + x * rule_.points.col(k);
      const double value = f(t_);
      if (!std::isfinite(value) && pdf(p_, t_) == 0) continue;  // a point that rounding put past the edge
      if (std::isnan(value)) throw_domain_error("expectation", "f(t)", "must be a number", value);
      sum += rule_.weights[k] * value;
    }
    return sum;
  }

 private:
  const MultivariateBetaGaussian& p_;
  detail::SphereRule rule_;
  Eigen::VectorXd t_;
};

}  // namespace

/// The radial integrand is the mean of f plus some 2 E|f|, so that errors are relative to E|f| also where
/// the means of f cancel.
double detail::expectation(const MultivariateBetaGaussian& p, VectorFunction f, double accuracy) {
  constexpr double kRough = 1e-3;
  checked_positive("expectation", "accuracy", accuracy);
  const index_t first_order = p.rank() <= 4 ? 8 : 4;
  if (sphere_rule_size(p.rank(), first_order) > kMaxDirections) throw_not_reached(1);
  const Radius radius(p);
  Sphere first(p, radius.unit(), first_order);
  const auto size_of_f = [&f](const Eigen::VectorXd& t) { return std::abs(f(t)); };
  const double size = radius.mean([&](double x) { return first.mean(size_of_f, x); }, kRough).value;
  if (size == 0) return 0;

  double previous = std::numeric_limits<double>::quiet_NaN(), error = 1;
  for (index_t m = first_order; sphere_rule_size(p.rank(), m) <= kMaxDirections; m *= 2) {
    Sphere sphere(p, radius.unit(), m);
    const auto shifted = [&](double x) { return sphere.mean(f, x) + 2 * size; };
    const double value = radius.mean(shifted, accuracy / 4).value - 2 * size;
    if (p.rank() == 1) return value;
    error = std::abs(value - previous) / size;
    if (error <= accuracy) return value;
    previous = value;
  }
  throw_not_reached(std::isnan(error) ? 1 : error);
}

}  // namespace fenchel
