#pragma once

/// `expectation_gradient`: derivatives of expectations under `BetaGaussian` and `BetaLaplace`.

#include <concepts>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/absolute_gradient.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"

/// The derivatives of E[psi(t)] with respect to the parameters of the family, for any callable: psi need not
/// be differentiable, and may change quickly at `cuts`. They are cov_{p,2-alpha} with the derivatives of the
/// score, and -cov_{p,2-alpha}(d log_{2-alpha}(p) / dalpha, psi) [SCD22, Section 4.2; docs/math.md 2, 7.1],
/// for every alpha through 1; at infinite alpha only mu moves p. Throw as expectation does.
namespace fenchel {
namespace detail {

[[nodiscard]] FENCHEL_EXPORT QuadraticGradient expectation_gradient(const BetaGaussian& p,
                                                                    FunctionRef<double(double)> psi,
                                                                    double accuracy,
                                                                    std::span<const double> cuts);
[[nodiscard]] FENCHEL_EXPORT AbsoluteGradient expectation_gradient(const BetaLaplace& p,
                                                                   FunctionRef<double(double)> psi,
                                                                   double accuracy,
                                                                   std::span<const double> cuts);

}  // namespace detail

template <std::invocable<double> F>
[[nodiscard]] QuadraticGradient expectation_gradient(const BetaGaussian& p, F&& psi, double accuracy = 1e-10,
                                                     std::span<const double> cuts = {}) {
  return detail::expectation_gradient(p, psi, accuracy, cuts);
}
template <std::invocable<double> F>
[[nodiscard]] AbsoluteGradient expectation_gradient(const BetaLaplace& p, F&& psi, double accuracy = 1e-10,
                                                    std::span<const double> cuts = {}) {
  return detail::expectation_gradient(p, psi, accuracy, cuts);
}

}  // namespace fenchel
