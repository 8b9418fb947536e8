#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "core/small_matrix.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/error.hpp"

/// What continuous attention asks of its arguments.
namespace fenchel::detail {

/// Finite numbers in row i of `centres` and a positive definite matrix in row i of `matrices`, for all i.
template <class Real>
void check_gaussians(std::string_view where, std::string_view centre_name, Rows<const Real> centres,
                     std::string_view matrix_name, Rows<const Real> matrices) {
  const index_t n = centres.cols;
  std::vector<double> factor(static_cast<std::size_t>(n * n));
  for (index_t i = 0; i < centres.rows; ++i) {
    for (const Real x : centres[i]) {
      if (!std::isfinite(x)) {
        throw_domain_error(where, indexed(centre_name, i), "must be finite", static_cast<double>(x));
      }
    }
    std::copy(matrices[i].begin(), matrices[i].end(), factor.begin());
    if (cholesky(factor.data(), n, factor.data())) continue;
    index_t a = 0;
    while (std::isfinite(factor[static_cast<std::size_t>(a * n + a)]) &&
           factor[static_cast<std::size_t>(a * n + a)] > 0)
      ++a;
    throw_domain_error(
        where, n == 1 ? indexed(matrix_name, i) : "pivot " + shortest(a) + " of " + indexed(matrix_name, i),
        "must be positive and finite", factor[static_cast<std::size_t>(a * n + a)]);
  }
}

inline void check_functions(std::string_view where, const cpu::GaussianFunctions& psi, index_t dimension) {
  if (psi.mu.rows < 1) throw_invalid_argument(where, "psi.mu.rows", "must be at least 1", psi.mu.rows);
  check_matrix(where, "psi.mu", psi.mu, psi.mu.rows, dimension);
  check_matrix(where, "psi.Sigma", psi.Sigma, psi.mu.rows, dimension * dimension);
  check_gaussians(where, "psi.mu", psi.mu, "psi.Sigma", psi.Sigma);
}

/// sigma2 on the line, whose reciprocal is a number: precisions and slopes need it.
inline void check_precision(std::string_view where, std::string_view name, double sigma2) {
  constexpr double kLeast = std::numeric_limits<double>::min();
  if (!(sigma2 >= kLeast)) throw_domain_error(where, name, "must be at least " + shortest(kLeast), sigma2);
}

template <class Real>
void check_densities(std::string_view where, const cpu::Densities<Real>& p) {
  const index_t n = p.mu.cols;
  check_view(where, "mu", p.mu);
  check_matrix(where, "Sigma", p.Sigma, p.mu.rows, n * n);
  check_alpha(where, p.alpha, p.mu.rows);
  const double lowest = 1 - 2 / static_cast<double>(n);
  for (index_t i = 0; i < p.alpha.size(); ++i) {
    if (p.alpha[i] > lowest) continue;
    throw_domain_error(where, p.alpha.per_row() ? indexed("alpha", i) : "alpha",
                       "must exceed 1 - 2/D = " + shortest(lowest), p.alpha[i]);
  }
  check_gaussians(where, "mu", p.mu, "Sigma", p.Sigma);
  for (index_t i = 0; n == 1 && i < p.mu.rows; ++i)
    check_precision(where, indexed("Sigma", i), double{p.Sigma.row(i)[0]});
}

/// Tangents of B densities on R^D; alpha may be absent.
template <class Real>
void check_tangents(std::string_view where, std::string_view name, const cpu::DensityTangents<Real>& tangents,
                    index_t rows, index_t dimension) {
  const std::string prefix(name);
  check_matrix(where, prefix + ".mu", tangents.mu, rows, dimension);
  check_matrix(where, prefix + ".Sigma", tangents.Sigma, rows, dimension * dimension);
  if (!tangents.alpha.empty())
    check_count(where, prefix + ".alpha", static_cast<index_t>(tangents.alpha.size()), rows);
}

/// Whether a view was given at all.
template <class T>
[[nodiscard]] bool is_given(Rows<T> view) noexcept {
  return view.data != nullptr || view.rows != 0;
}

template <class Real>
[[nodiscard]] bool is_given(const cpu::BasisTangents<Real>& tangents) noexcept {
  return is_given(tangents.mu) || is_given(tangents.Sigma);
}

/// The same, where mu and Sigma may be absent, too.
template <class Real>
void check_given_tangents(std::string_view where, std::string_view name,
                          const cpu::DensityTangents<Real>& tangents, index_t rows, index_t dimension) {
  const std::string prefix(name);
  if (is_given(tangents.mu)) check_matrix(where, prefix + ".mu", tangents.mu, rows, dimension);
  if (is_given(tangents.Sigma))
    check_matrix(where, prefix + ".Sigma", tangents.Sigma, rows, dimension * dimension);
  if (!tangents.alpha.empty())
    check_count(where, prefix + ".alpha", static_cast<index_t>(tangents.alpha.size()), rows);
}

template <class Real>
void check_basis_tangents(std::string_view where, std::string_view name,
                          const cpu::BasisTangents<Real>& tangents, const cpu::GaussianFunctions& psi) {
  const std::string prefix(name);
  const index_t rows = psi.mu.rows, dimension = psi.mu.cols;
  if (is_given(tangents.mu)) check_matrix(where, prefix + ".mu", tangents.mu, rows, dimension);
  if (is_given(tangents.Sigma))
    check_matrix(where, prefix + ".Sigma", tangents.Sigma, rows, dimension * dimension);
}

/// What sums over no rows are.
inline void clear(const cpu::BasisTangents<double>& sums) noexcept {
  for (const Rows<double> view : {sums.mu, sums.Sigma}) {
    for (index_t j = 0; j < view.rows; ++j) std::fill_n(view.row(j), view.cols, 0.0);
  }
}

template <class Real>
void check_values(std::string_view where, std::string_view name, const cpu::ValueMatrices<Real>& values,
                  index_t rows) {
  const std::string prefix(name);
  if (values.data == nullptr) {
    throw_invalid_argument(where, prefix + ".data", "must not be null", "a null pointer");
  }
  if (values.dimension < 1) {
    throw_invalid_argument(where, prefix + ".dimension", "must be at least 1", values.dimension);
  }
  if (values.count < 1 || rows % values.count != 0) {
    throw_invalid_argument(where, prefix + ".count",
                           "must divide the number of densities, " + std::to_string(rows), values.count);
  }
}

}  // namespace fenchel::detail
