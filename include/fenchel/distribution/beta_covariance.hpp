#pragma once

/// `beta_covariance` of callables under a density on the line: the generalized covariance of any order.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel {

using Callables = std::span<const std::function<double(double)>>;

namespace detail {

inline std::vector<double> modes(const NumericDensity& p) { return p.modes(); }
template <LineDistribution P>
std::vector<double> modes(const P& p) {
  if (mode(p) == median(p)) return {mode(p)};
  return {std::min<double>(mode(p), median(p)), std::max<double>(mode(p), median(p))};
}

[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd beta_covariance(FunctionRef<double(double)> log_pdf,
                                                             std::span<const Interval> support,
                                                             std::span<const double> modes, double beta,
                                                             Callables phi, Callables psi);
/// int p^beta psi / int p^beta, which exists where the escort may be no NumericDensity.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> escort_means(FunctionRef<double(double)> log_pdf,
                                                              std::span<const Interval> support,
                                                              std::span<const double> modes, double beta,
                                                              Callables psi);

}  // namespace detail

/// cov_{p,beta}(phi, psi) = int p^beta (phi - E phi)(psi - E psi)^T over the support of p, E under the escort
/// of order beta [SCD22, Section 4.2; docs/math.md 2, E19]: a row for each phi, a column for each psi.
/// Relative error about 1e-10, or where p ~ d^s at an end 1e-10 / (1 + beta s). Throws std::domain_error
/// where the integral does not exist or a value is NaN, ConvergenceError when it is not resolved.
template <LineDistribution P>
[[nodiscard]] Eigen::MatrixXd beta_covariance(const P& p, double beta, Callables phi, Callables psi) {
  return detail::beta_covariance([&p](double t) { return log_pdf(p, t); }, detail::pieces(support(p)),
                                 detail::modes(p), beta, phi, psi);
}

/// The same for one phi and one psi.
template <LineDistribution P, std::invocable<double> Phi, std::invocable<double> Psi>
[[nodiscard]] double beta_covariance(const P& p, double beta, Phi&& phi, Psi&& psi) {
  const std::function<double(double)> first = phi, second = psi;
  return beta_covariance(p, beta, Callables(&first, 1), Callables(&second, 1))(0, 0);
}

/// On the integers the integral is a sum, which is exact.
template <TabulatedIntegers P, std::invocable<double> Phi, std::invocable<double> Psi>
[[nodiscard]] double beta_covariance(const P& p, double beta, Phi&& phi, Psi&& psi) {
  const IntegerTable power = escort(p, beta);
  const double log_mass = beta * log_pmf(p, mode(power)) - log_pmf(power, mode(power));
  const double phi_mean = expectation(power, phi), psi_mean = expectation(power, psi);
  return std::exp(log_mass) *
         expectation(power, [&](double t) { return (phi(t) - phi_mean) * (psi(t) - psi_mean); });
}

}  // namespace fenchel
