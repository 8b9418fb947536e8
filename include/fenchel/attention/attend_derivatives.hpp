#pragma once

/// `attend_vjp`, `attend_jvp` and `attend_jacobian`: the derivatives of attention on the line.

#include <Eigen/Core>
#include <functional>
#include <utility>
#include <vector>

#include "fenchel/attention/attend.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/line/beta_gradient.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/parametric_score.hpp"

/// Derivatives of attention on the line, for the families with an expectation_gradient: BetaGaussian,
/// BetaLaplace, CappedParabola, CappedTriangular, SmoothParabola, SmoothTriangular. All depend on their
/// arguments alone, and throw as attend does.
namespace fenchel {
namespace detail {

template <class P>
concept DifferentiableExpectation = LineDistribution<P> && requires(const P& p, double (*f)(double)) {
  expectation_gradient(p, f);
};

/// dr / d(mu, scale, alpha or gamma), N x 3: all derivatives are made of it.
template <DifferentiableExpectation P, LineBasis Psi>
[[nodiscard]] Eigen::MatrixXd attend_gradient(const P& p, const Psi& psi) {
  Eigen::MatrixXd result(psi.size(), 3);
  for (index_t j = 0; j < result.rows(); ++j) {
    const LineFunction f = line_function(psi, j);
    const auto [mu, scale, shape] = expectation_gradient(p, f.value, kAttendAccuracy, f.cuts);
    result.row(j) << mu, scale, shape;
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

template <DifferentiableExpectation P>
using GradientOf =
    decltype(expectation_gradient(std::declval<const P&>(), std::declval<double (*)(double)>()));

}  // namespace detail

/// The gradient of cotangent . r in the parameters of p. Throws std::invalid_argument unless there is a
/// number for each function.
template <detail::DifferentiableExpectation P, LineBasis Psi>
[[nodiscard]] detail::GradientOf<P> attend_vjp(const P& p, const Psi& psi, const Eigen::VectorXd& cotangent) {
  if (cotangent.size() != psi.size())
    throw_invalid_argument("attend_vjp", "cotangent.size()",
                           "must equal the basis' size, " + shortest(psi.size()), cotangent.size());
  const Eigen::Vector3d gradient = detail::attend_gradient(p, psi).transpose() * cotangent;
  return {gradient[0], gradient[1], gradient[2]};
}

/// How r moves when the parameters of p move along a direction.
template <detail::DifferentiableExpectation P, LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend_jvp(const P& p, const Psi& psi, const detail::GradientOf<P>& direction) {
  const auto& [mu, scale, shape] = direction;
  return detail::attend_gradient(p, psi) * Eigen::Vector3d(mu, scale, shape);
}

/// dr / dtheta, N x 2, at fixed alpha or gamma in the canonical theta = (mu / sigma2, -1 / (2 sigma2)): the
/// transpose of cov_{p,2-alpha}((t, t^2), psi) where the regularizer is Tsallis(alpha) (docs/math.md E6,
/// E19).
template <detail::DifferentiableExpectation P, LineBasis Psi>
requires requires(const P& p) { p.sigma2(); }
[[nodiscard]] Eigen::MatrixXd attend_jacobian(const P& p, const Psi& psi) {
  const Eigen::MatrixXd gradient = detail::attend_gradient(p, psi);
  const double sigma2 = p.sigma2();
  Eigen::MatrixXd result(gradient.rows(), 2);
  result.col(0) = sigma2 * gradient.col(0);
  result.col(1) = 2 * p.mu() * sigma2 * gradient.col(0) + 2 * sigma2 * sigma2 * gradient.col(1);
  return result;
}
/// The same for a score theta |t - mu| with theta = -1 / b, at fixed mu: N x 1.
template <detail::DifferentiableExpectation P, LineBasis Psi>
requires requires(const P& p) { p.b(); }
[[nodiscard]] Eigen::MatrixXd attend_jacobian(const P& p, const Psi& psi) {
  return p.b() * p.b() * detail::attend_gradient(p, psi).col(1);
}
/// dr / dtheta, N x M, of p = predict(omega, f, Line{}) for any linear or parametric score: the
/// transpose of cov_{p,2-alpha}(df / dtheta, psi), over the temperature.
template <DifferentiableScore Score, LineDistribution P, LineBasis Psi>
[[nodiscard]] Eigen::MatrixXd attend_jacobian(const Tsallis& omega, const Score& f, const P& p,
                                              const Psi& psi) {
  std::vector<std::function<double(double)>> functions;
  for (index_t j = 0; j < psi.size(); ++j) functions.push_back(line_function(psi, j).value);
  return beta_covariance(p, 2 - omega.alpha(), f.gradient(), functions).transpose() / omega.temperature();
}

}  // namespace fenchel
