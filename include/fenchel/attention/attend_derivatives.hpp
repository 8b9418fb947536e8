#pragma once

/// `attend_vjp`, `attend_jvp` and `attend_jacobian`: the derivatives of attention on the line.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "fenchel/attention/attend.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/line/beta_gradient.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/parametric_score.hpp"

/// Derivatives of attention on the line, for the families with an expectation_gradient: BetaGaussian,
/// BetaLaplace, TruncatedGaussian, LocationScale, CappedParabola, CappedTriangular, SmoothParabola,
/// SmoothTriangular; and for the predictions of any score. All depend on their arguments alone, and throw as
/// attend does.
namespace fenchel {
namespace detail {

template <class P>
concept DifferentiableExpectation = LineDistribution<P> && requires(const P& p, double (*f)(double)) {
  expectation_gradient(p, f);
};

template <DifferentiableExpectation P>
using GradientOf =
    decltype(expectation_gradient(std::declval<const P&>(), std::declval<double (*)(double)>()));

/// The members of a gradient, of which there are two or three.
template <class Gradient>
[[nodiscard]] Eigen::VectorXd members(const Gradient& gradient) {
  if constexpr (requires { Gradient{0.0, 0.0, 0.0}; }) {
    const auto& [first, second, third] = gradient;
    return Eigen::Vector3d(first, second, third);
  } else {
    const auto& [first, second] = gradient;
    return Eigen::Vector2d(first, second);
  }
}

/// dr in the members of the gradient, N x 2 or 3: all derivatives are made of it.
template <DifferentiableExpectation P, LineBasis Psi>
[[nodiscard]] Eigen::MatrixXd attend_gradient(const P& p, const Psi& psi) {
  Eigen::MatrixXd result(psi.size(), members(GradientOf<P>{}).size());
  for (index_t j = 0; j < result.rows(); ++j) {
    const LineFunction f = line_function(psi, j);
    result.row(j) = members(expectation_gradient(p, f.value, kAttendAccuracy, f.cuts)).transpose();
  }
  return result;
}
/// The kernel's row.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd attend_gradient(const BetaGaussian& p, const GaussianBasis& psi);
/// In closed form, from the moments and their derivatives.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd attend_gradient(const BetaGaussian& p,
                                                             const PolynomialBasis& psi);
/// From the characteristic function; that in alpha by quadrature for alpha > .99.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd attend_gradient(const BetaGaussian& p, const FourierBasis& psi);
template <DifferentiableExpectation P, class... Parts>
[[nodiscard]] Eigen::MatrixXd attend_gradient(const P& p, const ConcatenatedBasis<Parts...>& psi) {
  return stacked(psi, [&p](const auto& part) { return attend_gradient(p, part); });
}

/// A basis as integrals with a power of p see it.
struct ScoreFunctions {
  std::vector<std::function<double(double)>> psi;
  std::vector<double> knots;
};
template <LineDistribution P, LineBasis Psi>
[[nodiscard]] ScoreFunctions score_functions(const P& p, const Psi& psi) {
  ScoreFunctions all{{}, knots(p)};
  for (index_t j = 0; j < psi.size(); ++j) {
    LineFunction f = line_function(psi, j);
    all.psi.push_back(std::move(f.value));
    all.knots.insert(all.knots.end(), f.cuts.begin(), f.cuts.end());
  }
  std::sort(all.knots.begin(), all.knots.end());
  return all;
}

/// The transpose of cov_{p,2-alpha}(h, psi), over the temperature.
template <LineDistribution P, LineBasis Psi>
[[nodiscard]] Eigen::MatrixXd score_derivative(const Tsallis& omega, Callables h, const P& p,
                                               const Psi& psi) {
  const ScoreFunctions all = score_functions(p, psi);
  const auto log_density = [&p](double t) { return log_pdf(p, t); };
  const double order = 2 - omega.alpha(), temperature = omega.temperature();
  return beta_covariance(log_density, pieces(support(p)), all.knots, order, h, all.psi).transpose() /
         temperature;
}

/// From dr / (dmu, dsigma2) to dr / dtheta.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd canonical_jacobian(const Eigen::MatrixXd& gradient, double mu,
                                                                double sigma2);
/// From dr / (dmu, db) to dr / dtheta.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd canonical_jacobian(const Eigen::MatrixXd& gradient, double b);

/// Throws std::invalid_argument unless there is a number for each function.
template <LineBasis Psi>
void check_cotangent(const Psi& psi, const Eigen::VectorXd& cotangent) {
  if (cotangent.size() != psi.size())
    throw_invalid_argument("attend_vjp", "cotangent.size()",
                           "must equal the basis' size, " + shortest(psi.size()), cotangent.size());
}

}  // namespace detail

/// The gradient of cotangent . r in the parameters of p. Throws std::invalid_argument unless there is a
/// number for each function.
template <detail::DifferentiableExpectation P, LineBasis Psi>
[[nodiscard]] detail::GradientOf<P> attend_vjp(const P& p, const Psi& psi, const Eigen::VectorXd& cotangent) {
  detail::check_cotangent(psi, cotangent);
  const Eigen::VectorXd gradient = detail::attend_gradient(p, psi).transpose() * cotangent;
  if constexpr (requires { detail::GradientOf<P>{0.0, 0.0, 0.0}; }) {
    return {gradient[0], gradient[1], gradient[2]};
  } else {
    return {gradient[0], gradient[1]};
  }
}

/// How r moves when the parameters of p move along a direction.
template <detail::DifferentiableExpectation P, LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend_jvp(const P& p, const Psi& psi, const detail::GradientOf<P>& direction) {
  return detail::attend_gradient(p, psi) * detail::members(direction);
}

/// dr / dtheta, N x 2, at fixed alpha or gamma in the canonical theta = (mu / sigma2, -1 / (2 sigma2)): the
/// transpose of cov_{p,2-alpha}((t, t^2), psi) where the regularizer is Tsallis(alpha) (docs/math.md E6,
/// E19). Throws std::domain_error where dr / dsigma2 underflows, or dr / dtheta overflows.
template <detail::DifferentiableExpectation P, LineBasis Psi>
requires requires(const P& p) { canonical_parameters(p); }
[[nodiscard]] Eigen::MatrixXd attend_jacobian(const P& p, const Psi& psi) {
  return detail::canonical_jacobian(detail::attend_gradient(p, psi), p.mu(), p.sigma2());
}
/// The same for a score theta |t - mu| with theta = -1 / b, at fixed mu: N x 1.
template <detail::DifferentiableExpectation P, LineBasis Psi>
requires requires(const P& p) { canonical_parameter(p); }
[[nodiscard]] Eigen::MatrixXd attend_jacobian(const P& p, const Psi& psi) {
  return detail::canonical_jacobian(detail::attend_gradient(p, psi), p.b());
}
/// dr / dtheta, N x M, of p = predict(omega, f, Line{}) for any linear or parametric score: the
/// transpose of cov_{p,2-alpha}(df / dtheta, psi), over the temperature.
template <DifferentiableScore Score, LineDistribution P, LineBasis Psi>
[[nodiscard]] Eigen::MatrixXd attend_jacobian(const Tsallis& omega, const Score& f, const P& p,
                                              const Psi& psi) {
  return detail::score_derivative(omega, f.gradient(), p, psi);
}

/// The gradient of cotangent . r in theta, and how r moves when theta moves along a direction.
template <DifferentiableScore Score, LineDistribution P, LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend_vjp(const Tsallis& omega, const Score& f, const P& p, const Psi& psi,
                                         const Eigen::VectorXd& cotangent) {
  detail::check_cotangent(psi, cotangent);
  return attend_jacobian(omega, f, p, psi).transpose() * cotangent;
}
template <DifferentiableScore Score, LineDistribution P, LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend_jvp(const Tsallis& omega, const Score& f, const P& p, const Psi& psi,
                                         const Eigen::VectorXd& direction) {
  const auto size = static_cast<index_t>(f.gradient().size());
  if (direction.size() != size)
    throw_invalid_argument("attend_jvp", "direction.size()", "must be that of theta, " + shortest(size),
                           direction.size());
  return attend_jacobian(omega, f, p, psi) * direction;
}

/// The prediction p = predict(omega, f, domain) of any score: how r moves when f moves along a function h,
/// cov_{p,2-alpha}(h, psi) / T.
template <LineDistribution P, LineBasis Psi, std::invocable<double> Direction>
[[nodiscard]] Eigen::VectorXd attend_jvp(const Tsallis& omega, const P& p, const Psi& psi,
                                         const Direction& direction) {
  const std::function<double(double)> h = direction;
  return detail::score_derivative(omega, Callables(&h, 1), p, psi);
}
/// The gradient of v = cotangent . r in f, a function of t with d v = int gradient(t) df(t) dt: p^{2-alpha}
/// (v - its mean under the escort of that order) / T on the support, 0 off it.
template <LineDistribution P, LineBasis Psi>
[[nodiscard]] std::function<double(double)> attend_vjp(const Tsallis& omega, const P& p, const Psi& psi,
                                                       const Eigen::VectorXd& cotangent) {
  detail::check_cotangent(psi, cotangent);
  const detail::ScoreFunctions all = detail::score_functions(p, psi);
  const double order = 2 - omega.alpha();
  const std::vector<double> means = detail::escort_means(
      [&p](double t) { return log_pdf(p, t); }, detail::pieces(support(p)), all.knots, order, all.psi);
  const double mean = cotangent.dot(Eigen::Map<const Eigen::VectorXd>(means.data(), psi.size()));
  return [p, psi, cotangent, order, mean, temperature = omega.temperature()](double t) {
    const double log_density = log_pdf(p, t);
    if (log_density == -kInfinity) return 0.0;
    return std::exp(order * log_density) * (cotangent.dot(evaluate(psi, t)) - mean) / temperature;
  };
}

}  // namespace fenchel
