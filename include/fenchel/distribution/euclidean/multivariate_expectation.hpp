#pragma once

/// `expectation` of any callable under a beta-Gaussian on R^N, by quadrature.

#include <Eigen/Core>
#include <concepts>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"

namespace fenchel {
namespace detail {
[[nodiscard]] FENCHEL_EXPORT double expectation(const MultivariateBetaGaussian& p,
                                                FunctionRef<double(const Eigen::VectorXd&)> f,
                                                double accuracy);
}

/// E[f(t)] for any callable, to `accuracy` times E|f(t)|: adaptive quadrature over the radius of means over
/// the sphere, by product rules of doubling order. It is made for smooth f and rank <= 4; low polynomials are
/// exact up to rank 6. Throws std::domain_error where f is NaN, and ConvergenceError when the accuracy is not
/// reached: then take the mean of f over samples.
template <std::invocable<const Eigen::VectorXd&> F>
[[nodiscard]] double expectation(const MultivariateBetaGaussian& p, F&& f, double accuracy = 1e-10) {
  return detail::expectation(p, f, accuracy);
}

}  // namespace fenchel
