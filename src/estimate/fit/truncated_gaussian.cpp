#include "fenchel/estimate/fit/truncated_gaussian.hpp"

#include <cmath>
#include <numbers>

#include <boost/math/quadrature/gauss.hpp>

#include "estimate/fit/excess_fit.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_truncated_gaussian";

/// The family by half width a and w = z^2 / 2: e = (c / a) expm1(w (1 - y^2)) with y = (t - mu) / a, in which
/// the parabola, w = 0, is a limit like others.
struct Shape {
  double w, c, log_slope;  ///< log_slope = d log c / dw

  explicit Shape(double half_square) : w(half_square) {
    const auto mean_of = [](auto h) {  // over 0 < y < 1; the integrands are entire
      return boost::math::quadrature::gauss<double, 30>::integrate(
                 [&h](double x) { return h((1 + x) * (3 - x) / 4); }) /
             2;  // 1 - y^2, y = (1 - x) / 2
    };
    const double mass = mean_of([this](double d) { return std::expm1(w * d); });
    c = 1 / (2 * mass);
    static_cast<void>(TruncatedGaussian(kappa(), 0, 1));  // throws where w is out of range
    log_slope = -mean_of([this](double d) { return d * std::exp(w * d); }) / mass;
  }
  [[nodiscard]] double kappa() const { return c * std::sqrt(std::numbers::pi / w) * std::exp(w); }
  /// d log kappa / dw.
  [[nodiscard]] double kappa_slope() const { return log_slope + 1 - 1 / (2 * w); }
};

/// In mu, log a and, where x has it, log w.
detail::ExcessModel model_of(const Shape& shape, double mu, double a) {
  const auto excess = [shape, mu, a](double t, Eigen::VectorXd& derivative) {
    const double y = (t - mu) / a, depth = (1 - y) * (1 + y), height = shape.c / a;
    const double rise = std::expm1(shape.w * depth), e = height * rise, bend = height * shape.w * (rise + 1);
    const double pull = rise == -1 ? 0 : 2 * y * bend;
    derivative[0] = pull / a;
    derivative[1] = pull * y - e;
    if (derivative.size() > 2)
      derivative[2] = shape.w * shape.log_slope * e + (rise == -1 ? 0 : depth * bend);
    return e;
  };
  return {mu, a, excess};
}

/// The half width of the member with variance 1.
double unit_half_width(const Shape& shape) {
  const TruncatedGaussian p(shape.kappa(), 0, 1);
  return p.half_width() / std::sqrt(variance(p));
}

}  // namespace

Fit<TruncatedGaussian> fit_truncated_gaussian(double kappa, const Data& data) {
  const TruncatedGaussian unit(kappa, 0, 1);
  const Shape shape(unit.z() * unit.z() / 2);
  const Eigen::Vector2d start(0, std::log(unit_half_width(shape)));
  const detail::ExcessFit found = detail::fit_excess(
      kWhere, data, [&](const Eigen::VectorXd& x) { return model_of(shape, x[0], std::exp(x[1])); }, start);
  const double sigma = found.deviation * std::exp(found.x[1]) / unit.z(), sigma2 = sigma * sigma;
  const double mu = found.centre + found.deviation * found.x[0];
  const Eigen::DiagonalMatrix<double, 2> jacobian(found.deviation, 2 * sigma2);
  return {TruncatedGaussian(kappa, mu, sigma2),   {"mu", "sigma2"}, Eigen::Vector2d(mu, sigma2),
          jacobian * found.covariance * jacobian, found.loss,       found.weight};
}

Fit<TruncatedGaussian> fit_truncated_gaussian(const Data& data) {
  constexpr double kStart = 2;
  const Eigen::Vector3d start(0, std::log(unit_half_width(Shape(kStart))), std::log(kStart));
  const detail::ExcessFit found = detail::fit_excess(
      kWhere, data,
      [&](const Eigen::VectorXd& x) { return model_of(Shape(std::exp(x[2])), x[0], std::exp(x[1])); }, start);
  const Shape shape(std::exp(found.x[2]));
  const double kappa = shape.kappa();
  if (!(kappa >= 1 + kLeastKappaExcess && kappa <= kMostKappa))
    throw ConvergenceError(
        error_message(kWhere, "kappa",
                      kappa > 2 ? "must be bounded: the data is flatter than a truncated parabola"
                                : "must be above 1: the data is more peaked than a Gaussian",
                      kappa));
  const double a = found.deviation * std::exp(found.x[1]), sigma2 = a * a / (2 * shape.w);
  const double mu = found.centre + found.deviation * found.x[0];
  Eigen::Matrix3d jacobian;
  jacobian << 0, 0, kappa * shape.kappa_slope() * shape.w, found.deviation, 0, 0, 0, 2 * sigma2, -sigma2;
  return {TruncatedGaussian(kappa, mu, sigma2),
          {"kappa", "mu", "sigma2"},
          Eigen::Vector3d(kappa, mu, sigma2),
          jacobian * found.covariance * jacobian.transpose(),
          found.loss,
          found.weight};
}

}  // namespace fenchel
