#pragma once

/// `attend`: the expectations E_p[psi] of a basis under a distribution on the line or the integers.

#include <Eigen/Core>
#include <iterator>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/concatenated_basis.hpp"
#include "fenchel/attention/fourier_basis.hpp"
#include "fenchel/attention/function_basis.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/line_function.hpp"
#include "fenchel/attention/line_quadrature.hpp"
#include "fenchel/attention/polynomial_basis.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"

/// Attention on the line [SCD22, Section 8; docs/math.md 7]: r = E_p[psi], one number for each function of
/// the basis. The types of p and psi choose the way; all of them throw std::domain_error where psi is NaN and
/// ConvergenceError rather than give a wrong number.
namespace fenchel {
namespace detail {

/// E[((t - centre) / width)^k], k = 0, ..., degree, from the moments about the mean.
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd polynomial_expectations(const PolynomialBasis& psi, double mean,
                                                                     FunctionRef<double(int)> central_moment);

}  // namespace detail

/// Any density and any basis: by quadrature, to 1e-10 of E_p|psi_j|.
template <LineDistribution P, LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend(const P& p, const Psi& psi) {
  return detail::with_line_density(p, [&psi](const detail::LineDensityView& density) {
    Eigen::VectorXd r(psi.size());
    for (index_t j = 0; j < r.size(); ++j) r[j] = detail::line_expectation(density, line_function(psi, j));
    return r;
  });
}

/// Gaussian functions, however narrow, wide or far away: by quadrature, to 1e-10 of each value. Never
/// negative; 0 where it underflows.
template <LineDistribution P>
[[nodiscard]] Eigen::VectorXd attend(const P& p, const GaussianBasis& psi) {
  const GaussianBasis near = psi.moved(-detail::location(p));
  return detail::with_line_density(detail::centred(p), [&near](const detail::LineDensityView& density) {
    Eigen::VectorXd r(near.size());
    for (index_t j = 0; j < r.size(); ++j) {
      const auto i = static_cast<std::size_t>(j);
      r[j] = detail::gaussian_expectation(density, line_function(near, j), near.mu()[i], near.sigma()[i]);
    }
    return r;
  });
}

/// Polynomials: from the moments of p. Where there is no moment, NaN (odd) or infinity (even).
template <NumericDistribution P>
[[nodiscard]] Eigen::VectorXd attend(const P& p, const PolynomialBasis& psi) {
  return detail::polynomial_expectations(psi, mean(p), [&p](int n) { return central_moment(p, n); });
}

/// A beta-Gaussian and Gaussian functions: as cpu::attend, by the density's own constants.
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd attend(const BetaGaussian& p, const GaussianBasis& psi);
/// A beta-Gaussian and waves: by its characteristic function, with absolute errors below 1e-13.
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd attend(const BetaGaussian& p, const FourierBasis& psi);

/// Integers: sums over the support.
template <TabulatedIntegers P, LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend(const P& p, const Psi& psi) {
  Eigen::VectorXd r(psi.size());
  for (index_t j = 0; j < r.size(); ++j) r[j] = expectation(p, line_function(psi, j).value);
  return r;
}

/// An observation, or the mean over a sample.
template <LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend(const Dirac& p, const Psi& psi) {
  return evaluate(psi, p.at);
}
template <LineBasis Psi>
[[nodiscard]] Eigen::VectorXd attend(const Empirical& p, const Psi& psi) {
  const Eigen::MatrixXd functions = design_matrix(psi, p.values());
  if (p.weights().empty()) return functions.rowwise().mean();
  return functions * Eigen::Map<const Eigen::VectorXd>(p.weights().data(), std::ssize(p.weights())) /
         p.total();
}

/// Several bases: each in its own way.
template <NumericDistribution P, class... Parts>
[[nodiscard]] Eigen::VectorXd attend(const P& p, const ConcatenatedBasis<Parts...>& psi) {
  return detail::stacked(psi, [&p](const auto& part) { return attend(p, part); });
}

}  // namespace fenchel
