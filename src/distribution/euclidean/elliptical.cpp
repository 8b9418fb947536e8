#include "fenchel/distribution/euclidean/elliptical.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "distribution/euclidean/indices.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "elliptical";

/// Where g ends, and the maxima of the density of the radius, r^{n-1} g(r^2).
struct Shape {
  double radius2 = kInfinity;
  std::vector<double> modes;
};

/// The last q with g(q) > 0, between one where it is positive and one where it is 0.
double last_positive(const Elliptical::LogGenerator& log_g, double inside, double outside) {
  for (;;) {
    const double middle = inside + (outside - inside) / 2;
    if (!(middle > inside && middle < outside)) return inside;
    (log_g(middle) > -kInfinity ? inside : outside) = middle;
  }
}

/// The maxima of a curve of which one point after the other is seen; rises and falls below kRough are
/// rounding.
class Peaks {
 public:
  void add(double x, double height) {
    if (height > peak_) peak_ = height, at_ = x;
    if (up_ && height < peak_ - kRough) found_.push_back(at_), up_ = false;
    if (!up_) valley_ = std::min(valley_, height);
    if (!up_ && height > valley_ + kRough) peak_ = height, at_ = x, valley_ = kInfinity, up_ = true;
  }
  [[nodiscard]] bool rising() const { return up_; }
  [[nodiscard]] std::vector<double> found() && { return std::move(found_); }

 private:
  static constexpr double kRough = 1e-6;
  double peak_ = -kInfinity, at_ = 0, valley_ = kInfinity;
  bool up_ = true;
  std::vector<double> found_;
};

/// Looks at q = 2^x, from where g begins to fall on in steps of 1/4 until nothing of the mass is left, and
/// else in steps of 8.
Shape scan(const Elliptical::LogGenerator& log_g, index_t rank) {
  constexpr double kEnd = 1000, kCoarse = 8, kFine = 0.25, kFlat = 1e-3, kNothing = 800, kRounding = 1e-10;
  const double top = log_g(0);
  if (!std::isfinite(top)) throw_domain_error(kWhere, "log_generator(0)", "must be finite", top);
  double x = -kEnd;
  while (x < kEnd - kCoarse && log_g(std::exp2(x + kCoarse)) > top - kFlat) x += kCoarse;

  const double power = static_cast<double>(rank - 1) / 2;
  double before = top, q_before = 0, highest = -kInfinity;
  Shape shape;
  Peaks peaks;
  if (rank == 1) peaks.add(0, top);
  while (x <= kEnd) {
    const double q = std::exp2(x), value = log_g(q), height = power * std::log(q) + value;
    if (!(value <= before + kRounding * (1 + std::abs(before))))
      throw_domain_error(kWhere, "log_generator(" + shortest(q) + ")",
                         "must not exceed log_generator(" + shortest(q_before) + ") = " + shortest(before),
                         value);
    peaks.add(std::sqrt(q), height);
    if (value == -kInfinity) {
      shape.radius2 = last_positive(log_g, q_before, q);
      break;
    }
    before = value, q_before = q, highest = std::max(highest, height);
    x += height < highest - kNothing ? kCoarse : kFine;
  }
  if (peaks.rising())
    throw_domain_error(kWhere, "log_generator",
                       "must fall so fast that the mass is finite; at 1e301 it must not be", before);
  shape.modes = std::move(peaks).found();
  return shape;
}

NumericDensity radius_law(const Elliptical::LogGenerator& log_g, index_t rank) {
  Shape shape = scan(log_g, rank);
  const auto power = static_cast<double>(rank - 1);
  const auto log_density = [log_g, power](double r) {
    return (power > 0 ? power * std::log(r) : 0) + log_g(r * r);
  };
  return NumericDensity(log_density, {Interval(0, std::sqrt(shape.radius2))}, std::move(shape.modes));
}

/// log(2 pi^{n/2} / Gamma(n/2)), the area of the sphere.
double log_sphere(index_t rank) {
  const double half = static_cast<double>(rank) / 2;
  return std::log(2.) + half * std::log(std::numbers::pi) - std::lgamma(half);
}

/// The generator of a law that has lost `lost` of its ranks, by quadrature with u scaled so that g falls by
/// e.
class MarginalGenerator {
 public:
  MarginalGenerator(Elliptical::LogGenerator log_g, double radius2, double scale, index_t lost)
      : log_g_(std::move(log_g)), radius2_(radius2), scale_(scale), power_(static_cast<double>(lost - 1)) {}

  double operator()(double q) const {
    if (!(q < radius2_)) return -kInfinity;
    const double top = log_g_(q), unit = unit_at(q, top);
    const auto integrand = [&](double x) {
      const double u = unit * x;
      return std::pow(x, power_) * std::exp(log_g_(q + u * u) - top);
    };
    constexpr double kFar = 50, kAccuracy = 1e-11;  // an end so far away is as good as none
    const double end = std::sqrt(radius2_ - q) / unit;
    const double integral = integrate(integrand, 0, end > kFar ? kInfinity : end, kAccuracy).value;
    return top + (power_ + 1) * std::log(unit) + std::log(integral);
  }

 private:
  [[nodiscard]] double unit_at(double q, double top) const {
    const auto fallen = [&](double u) { return log_g_(q + u * u) < top - 1; };
    double unit = scale_;
    while (!fallen(unit) && unit < 1e150) unit *= 2;
    while (fallen(unit / 2) && unit > 1e-150) unit /= 2;
    return std::min(unit, std::sqrt(radius2_ - q));
  }

  Elliptical::LogGenerator log_g_;
  double radius2_, scale_, power_;
};

}  // namespace

Elliptical::Elliptical(LogGenerator log_generator, Eigen::VectorXd mu, Eigen::MatrixXd Sigma)
    : log_generator_(std::move(log_generator)),
      score_(std::move(mu), std::move(Sigma)),
      radius_(radius_law(log_generator_, score_.rank())),
      log_constant_(-radius_.log_mass() - log_sphere(score_.rank()) - score_.log_det() / 2) {}

Ellipsoid support(const Elliptical& p) {
  const double end = p.radius().support().back().upper();
  return {p.mu(), p.Sigma(), end * end};
}

double log_pdf(const Elliptical& p, const Eigen::Ref<const Eigen::VectorXd>& t) {
  const double q = p.quadratic().mahalanobis2(t);
  return q == kInfinity ? -kInfinity : p.log_constant() + p.log_generator(q);
}

double pdf(const Elliptical& p, const Eigen::Ref<const Eigen::VectorXd>& t) {
  return std::exp(log_pdf(p, t));
}

Eigen::MatrixXd covariance(const Elliptical& p) {
  const double square = moment(p.radius(), 2);  // NaN where there is no mean
  const double factor = std::isnan(square) ? kInfinity : square / static_cast<double>(p.rank());
  return p.Sigma().unaryExpr([factor](double x) { return x == 0 ? 0 : factor * x; });
}

double radial_cdf(const Elliptical& p, double q) { return cdf(p.radius(), q > 0 ? std::sqrt(q) : q); }

Ellipsoid mahalanobis_contour(const Elliptical& p, double mass) {
  const double r = quantile(p.radius(), mass);
  return {p.mu(), p.Sigma(), r * r};
}

double entropy(const Elliptical& p) { return tsallis_entropy(p, 1); }

double tsallis_entropy(const Elliptical& p, double order) {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  return -expectation(p.radius(), [&](double r) {
    return deformed_log_of_exp(order - 1, p.log_constant() + p.log_generator(r * r));
  }) / order;
}

Elliptical escort(const Elliptical& p, double order) {
  if (!(order > 0 && order < kInfinity))
    throw_domain_error("escort", "order", "must be positive and finite", order);
  return {[p, order](double q) { return order * p.log_generator(q); }, p.mu(), p.Sigma()};
}

Elliptical marginal(const Elliptical& p, std::span<const index_t> indices) {
  detail::check_indices("marginal", p.dimension(), indices);
  const Eigen::MatrixXd rows = p.quadratic().factor()(indices, Eigen::all);
  Eigen::VectorXd mu = p.mu()(indices);
  Eigen::MatrixXd Sigma = rows * rows.transpose();
  const auto log_g = [p](double q) { return p.log_generator(q); };
  const index_t lost = p.rank() - MultivariateQuadraticScore(mu, Sigma).rank();
  if (lost == 0) return {log_g, std::move(mu), std::move(Sigma)};
  return {MarginalGenerator(log_g, support(p).radius2, median(p.radius()), lost), std::move(mu),
          std::move(Sigma)};
}

Eigen::VectorXd detail::sample(const Elliptical& p, BitSource source) {
  Eigen::VectorXd z(p.rank());
  for (double& element : z) element = standard_normal(source.next(source.rng));
  const double r = quantile(p.radius(), uniform01(source.next(source.rng)));
  return p.mu() + p.quadratic().factor() * (r * z.normalized());
}

Eigen::MatrixXd sample(const Elliptical& p, index_t count, std::uint64_t seed) {
  if (count < 0) throw_invalid_argument("sample", "count", "must not be negative", count);
  Eigen::MatrixXd draws(p.dimension(), count);
  for (index_t k = 0; k < count; ++k) {
    Philox rng(seed, static_cast<std::uint64_t>(k));
    draws.col(k) = sample(p, rng);
  }
  return draws;
}

}  // namespace fenchel
