#pragma once

/// `predict`, `conjugate` and the normaliser with its derivatives, for any score on the line or an interval.

#include <concepts>
#include <functional>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/function_score.hpp"
#include "fenchel/score/linear_score.hpp"
#include "fenchel/score/parametric_score.hpp"

/// Predictions p = exp_{2-alpha}((f - A) / T) for any score f on the line or an interval [SCD22, Section 4.2;
/// docs/math.md 2], where f may be -infinity (masked). For infinite alpha p is 1 where f is above the A that
/// leaves the measure 1. Throw std::domain_error where f is NaN or +infinity, and where p, the only such p,
/// or E_p[f] does not exist. Throw ConvergenceError where f turns too often, and unless the error() of p, by
/// two rules on shifted panels, is below `accuracy`: then so is that of log p at its peak, by which A is
/// known.
///
/// What no scan can see is missed in silence: in an interval a bump narrower than 1/1000 of it, on the line
/// one narrower than a tenth of its distance from 0 and from all maxima that are found; where p is, one
/// narrower than 1/1000 of its width.
namespace fenchel {

/// A score that is known by its values alone.
template <class Score>
concept CallableScore = std::same_as<Score, FunctionScore> || DifferentiableScore<Score>;
template <class Domain>
concept LineOrInterval = std::same_as<Domain, Line> || std::same_as<Domain, Interval>;

namespace detail {

/// A prediction with A / T and the top of the score, by which p = exp_{2-alpha}((f - top) / T - offset).
struct NumericPrediction {
  NumericDensity density;
  double top;     ///< the largest f
  double offset;  ///< (A - top) / T
};
inline constexpr double kNumericAccuracy = 1e-10;
[[nodiscard]] FENCHEL_EXPORT NumericPrediction predict_numeric(const Tsallis& omega,
                                                               std::function<double(double)> f,
                                                               const Interval& domain, double accuracy);

[[nodiscard]] FENCHEL_EXPORT Interval as_interval(Line) noexcept;
[[nodiscard]] inline Interval as_interval(const Interval& domain) noexcept { return domain; }

[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const NumericPrediction& p,
                                              const std::function<double(double)>& f);
/// `slopes` are df / dtheta.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> normalizer_gradient(const Tsallis& omega,
                                                                     const std::function<double(double)>& f,
                                                                     Callables slopes,
                                                                     const Interval& domain);
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd normalizer_hessian(const Tsallis& omega, const LinearScore& f,
                                                                const Interval& domain);

}  // namespace detail

template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] NumericDensity predict(const Tsallis& omega, const Score& f, const Domain& domain) {
  return detail::predict_numeric(omega, f, detail::as_interval(domain), detail::kNumericAccuracy).density;
}
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] NumericDensity predict(const Tsallis& omega, const Score& f, const Domain& domain,
                                     double accuracy) {
  return detail::predict_numeric(omega, f, detail::as_interval(domain), accuracy).density;
}

/// A.
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] double normalizer(const Tsallis& omega, const Score& f, const Domain& domain) {
  const auto p = detail::predict_numeric(omega, f, detail::as_interval(domain), detail::kNumericAccuracy);
  return p.top + omega.temperature() * p.offset;
}

/// Omega*(f) = max_p E_p[f] - Omega(p) = ((alpha - 1) E_p[f] + A) / alpha.
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] double conjugate(const Tsallis& omega, const Score& f, const Domain& domain) {
  return detail::conjugate(
      omega, detail::predict_numeric(omega, f, detail::as_interval(domain), detail::kNumericAccuracy), f);
}

/// dA / dtheta: the mean of df / dtheta under the escort distribution of order 2 - alpha.
template <DifferentiableScore Score, LineOrInterval Domain>
[[nodiscard]] std::vector<double> normalizer_gradient(const Tsallis& omega, const Score& f,
                                                      const Domain& domain) {
  return detail::normalizer_gradient(omega, f, f.gradient(), detail::as_interval(domain));
}

/// d E_p[g] / dtheta = cov_{p, 2-alpha}(df / dtheta, g) / T for the prediction p and a g without theta
/// [SCD22, Section 4.2]. Throws what predict and beta_covariance throw.
template <DifferentiableScore Score, LineOrInterval Domain, std::invocable<double> G>
[[nodiscard]] std::vector<double> expectation_gradient(const Tsallis& omega, const Score& f,
                                                       const Domain& domain, G&& g) {
  const std::function<double(double)> function = g;
  const Eigen::VectorXd slopes =
      beta_covariance(predict(omega, f, domain), 2 - omega.alpha(), f.gradient(), Callables(&function, 1)) /
      omega.temperature();
  return {slopes.begin(), slopes.end()};
}

/// d^2 A / dtheta^2 = (2 - alpha) int p^{3 - 2 alpha} (phi - E phi)(phi - E phi)^T / (T int p^{2 - alpha}),
/// E under that escort distribution. From alpha = 2 on the integral diverges where p reaches 0, and its
/// finite part is meant: at alpha = 2 the boundary term of docs/math.md E15 is what is left.
template <LineOrInterval Domain>
[[nodiscard]] Eigen::MatrixXd normalizer_hessian(const Tsallis& omega, const LinearScore& f,
                                                 const Domain& domain) {
  return detail::normalizer_hessian(omega, f, detail::as_interval(domain));
}

}  // namespace fenchel
