#include "fenchel/estimate/fit/sparse_integer_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/LU>

#include "estimate/fit/count_alpha.hpp"
#include "estimate/fit/integer_loss.hpp"
#include "estimate/regression/converged.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/estimate/regression/minimize.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_sparse_integer_gaussian";
constexpr double kLeastAlpha = 1.0 / 3;  // for a variance

/// The problem seen from the integer next to the mean in units of the standard deviation: u = (t - centre) /
/// unit, f = b_1 u + b_2 u^2.
struct Scaled {
  double alpha, centre, unit;
  Eigen::Vector2d moments;  ///< of u and u^2

  [[nodiscard]] double sigma2(const Eigen::VectorXd& b) const { return -unit * unit / (2 * b[1]); }
  /// mu - centre.
  [[nodiscard]] double offset(const Eigen::VectorXd& b) const { return -unit * b[0] / (2 * b[1]); }
  [[nodiscard]] QuadraticScore score(const Eigen::VectorXd& b) const { return {offset(b), sigma2(b)}; }

  [[nodiscard]] Eigen::MatrixXd hessian(const Eigen::VectorXd& b) const {
    const auto h = fenchel_young_hessian(Tsallis(alpha), score(b), Integers());
    Eigen::Matrix2d result;
    result << h[0][0], h[0][1] / unit, h[1][0] / unit, h[1][1] / (unit * unit);
    return result / (unit * unit);
  }
  [[nodiscard]] SecondOrder operator()(const Eigen::VectorXd& b) const try {
    const Tsallis omega(alpha);
    const QuadraticScore f = score(b);
    const SparseIntegerGaussian p = predict(omega, f, Integers());
    const double first = mean(p) / unit, second = variance(p) / (unit * unit) + first * first;
    // The quadratic f is b_1 u + b_2 u^2 less its top.
    const double top = -b[0] * b[0] / (4 * b[1]);
    const double conjugate =
        cross_omega(omega, f, Integers(), mode(p)).value + f(static_cast<double>(mode(p))) + top;
    return {conjugate - b.dot(moments), Eigen::Vector2d(first, second) - moments, hessian(b)};
  } catch (const std::domain_error&) {  // no distribution, or one on too many integers
    return {kInfinity, Eigen::Vector2d::Constant(kInfinity), Eigen::Matrix2d::Zero()};
  }
};

/// The covariance of u and u^2.
Eigen::Matrix2d covariance(const SparseIntegerGaussian& p, double unit) {
  const double m = mean(p), second = variance(p), third = central_moment(p, 3), fourth = central_moment(p, 4);
  const double mixed = third + 2 * m * second;
  const double squares = fourth + 4 * m * third + 4 * m * m * second - second * second;
  Eigen::Matrix2d result;
  result << second, mixed / unit, mixed / unit, squares / (unit * unit);
  return result / (unit * unit);
}

}  // namespace

Fit<SparseIntegerGaussian> fit_sparse_integer_gaussian(double alpha, const CountHistogram& counts) {
  detail::check_integer_fit(kWhere, alpha, kLeastAlpha, "1/3", counts);
  const auto range = static_cast<double>(counts.values().back() - counts.values().front());
  if (range < 2)
    throw_domain_error(kWhere, "the largest less the least value",
                       "must be at least 2 for the variance to say something about sigma2", range);
  const double centre = std::nearbyint(counts.mean()), m = counts.mean() - centre, v = counts.variance();
  const double unit = std::sqrt(v + m * m);
  const Scaled problem{alpha, centre, unit, {m / unit, 1}};
  // That of the density with this variance, which is proportional to sigma2^{2 / (alpha + 1)}; at least three
  // integers count.
  const double sigma2 = std::pow(std::max(v, 1.0) / variance(BetaGaussian(alpha, 0, 1)), (alpha + 1) / 2);
  detail::checked_positive(kWhere, "sigma2", sigma2);
  static_cast<void>(SparseIntegerGaussian(alpha, m, sigma2));  // throws where it is on too many integers
  const Eigen::Vector2d start(unit * m / sigma2, -unit * unit / (2 * sigma2));

  MinimizeOptions options;
  options.tolerance = 1e-13;
  const Minimum found = minimize_convex(problem, start, options);
  detail::check_converged(kWhere, found, 1e-9,
                          " (for large alpha moments jump between neighbouring parameters)");

  const double scale = problem.sigma2(found.x), offset = problem.offset(found.x);
  const SparseIntegerGaussian p(alpha, centre + offset, scale);
  const Eigen::Matrix2d inverse = problem.hessian(found.x).inverse();
  // d(mu, sigma2) / db
  Eigen::Matrix2d jacobian;
  jacobian << scale / unit, 2 * offset * scale / (unit * unit), 0, 2 * scale * scale / (unit * unit);
  const Eigen::Matrix2d spread = jacobian * inverse;
  const SparseIntegerGaussian centred(alpha, offset, scale);
  return {p,
          {"mu", "sigma2"},
          Eigen::Vector2d(centre + offset, scale),
          spread * covariance(centred, unit) * spread.transpose() / counts.weight(),
          detail::mean_cross_omega(p, counts),
          counts.weight()};
}

Fit<SparseIntegerGaussian> fit_sparse_integer_gaussian(const CountHistogram& counts) {
  detail::check_integer_fit(kWhere, 1, kLeastAlpha, "1/3", counts);
  const double alpha = detail::most_likely_alpha(kWhere, kLeastAlpha, counts, [&](double order) {
    return detail::log_likelihood(fit_sparse_integer_gaussian(order, counts).distribution, counts);
  });
  Fit<SparseIntegerGaussian> fit = fit_sparse_integer_gaussian(alpha, counts);
  const SparseIntegerGaussian& p = fit.distribution;
  // In u = (t - mode) / unit, of which mu and sigma2 are functions as above.
  const double centre = static_cast<double>(mode(p)), unit = std::sqrt(variance(p));
  const auto phi = [centre, unit](double t) -> Eigen::VectorXd {
    const double u = (t - centre) / unit;
    return Eigen::Vector2d(u, u * u);
  };
  const double offset = p.mu() - centre, scale = p.sigma2();
  Eigen::Matrix3d jacobian = Eigen::Matrix3d::Identity();
  jacobian.bottomRightCorner<2, 2>() << scale / unit, 2 * offset * scale / (unit * unit), 0,
      2 * scale * scale / (unit * unit);
  fit.names = {"alpha", "mu", "sigma2"};
  fit.parameters = Eigen::Vector3d(alpha, p.mu(), scale);
  fit.covariance = jacobian * detail::alpha_covariance(p.table(), alpha - 1, phi) * jacobian.transpose();
  fit.covariance /= counts.weight();
  return fit;
}

}  // namespace fenchel
