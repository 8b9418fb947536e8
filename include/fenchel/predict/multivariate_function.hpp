#pragma once

/// `predict`, `conjugate` and the normaliser for any score in the plane, in space or on a box of them.

#include <concepts>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_numeric_density.hpp"
#include "fenchel/domain/box.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/multivariate_function_score.hpp"

/// Predictions p = exp_{2-alpha}((f - A) / T) for any score f on R^2, R^3 or a box [SCD22, Section 4.2;
/// docs/math.md 2], where f may be -infinity (masked); for infinite alpha p is 1 where f is above the A that
/// leaves the volume 1. f is scanned on a grid, geometric on infinite axes and even on others, and evenly
/// about the support: a narrower bump can be missed. Throw std::invalid_argument in other dimensions,
/// std::domain_error where f is NaN or +infinity and where p or E_p[f] does not exist, ConvergenceError short
/// of `accuracy`.
namespace fenchel {

template <class Domain>
concept EuclideanOrBox = std::same_as<Domain, Euclidean> || std::same_as<Domain, Box>;

namespace detail {

/// A prediction with the top of the score, and (A - top) / T.
struct MultivariateNumericPrediction {
  MultivariateNumericDensity density;
  double top, offset;
};
/// In the plane and in space.
inline constexpr double kPlaneAccuracy = 1e-8, kSpaceAccuracy = 1e-6;
[[nodiscard]] FENCHEL_EXPORT MultivariateNumericPrediction predict_numeric(const Tsallis& omega,
                                                                           const MultivariateFunctionScore& f,
                                                                           const Box& domain,
                                                                           double accuracy);
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const MultivariateNumericPrediction& p,
                                              const MultivariateFunctionScore& f);

[[nodiscard]] inline double default_accuracy(const Box& domain) noexcept {
  return domain.dimension() == 2 ? kPlaneAccuracy : kSpaceAccuracy;
}
template <EuclideanOrBox Domain>
[[nodiscard]] MultivariateNumericPrediction predict_numeric(const Tsallis& omega,
                                                            const MultivariateFunctionScore& f,
                                                            const Domain& domain) {
  const Box box(domain);
  return predict_numeric(omega, f, box, default_accuracy(box));
}

}  // namespace detail

template <EuclideanOrBox Domain>
[[nodiscard]] MultivariateNumericDensity predict(const Tsallis& omega, const MultivariateFunctionScore& f,
                                                 const Domain& domain) {
  return detail::predict_numeric(omega, f, domain).density;
}
template <EuclideanOrBox Domain>
[[nodiscard]] MultivariateNumericDensity predict(const Tsallis& omega, const MultivariateFunctionScore& f,
                                                 const Domain& domain, double accuracy) {
  return detail::predict_numeric(omega, f, Box(domain), accuracy).density;
}

/// A.
template <EuclideanOrBox Domain>
[[nodiscard]] double normalizer(const Tsallis& omega, const MultivariateFunctionScore& f,
                                const Domain& domain) {
  const auto p = detail::predict_numeric(omega, f, domain);
  return p.top + omega.temperature() * p.offset;
}

/// Omega*(f) = max_p E_p[f] - Omega(p) = ((alpha - 1) E_p[f] + A) / alpha.
template <EuclideanOrBox Domain>
[[nodiscard]] double conjugate(const Tsallis& omega, const MultivariateFunctionScore& f,
                               const Domain& domain) {
  return detail::conjugate(omega, detail::predict_numeric(omega, f, domain), f);
}

}  // namespace fenchel
