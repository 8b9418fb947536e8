#pragma once

#include <cmath>

#include "fenchel/core/index.hpp"

/// Algebra of the small matrices of a kernel, n x n row by row, in memory of the caller.
namespace fenchel::detail {

/// The lower triangular factor of a = factor factor^T, read from the lower triangle of a; what is above the
/// diagonal of `factor` becomes 0. False unless a is positive definite; then the first bad pivot is on the
/// diagonal of `factor`. factor may be a.
inline bool cholesky(const double* a, index_t n, double* factor) noexcept {
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (index_t k = 0; k < j; ++k) sum -= factor[i * n + k] * factor[j * n + k];
      if (i == j && !(sum > 0 && std::isfinite(sum))) {
        factor[i * n + i] = sum;
        return false;
      }
      factor[i * n + j] = i == j ? std::sqrt(sum) : sum / factor[j * n + j];
    }
    for (index_t j = i + 1; j < n; ++j) factor[i * n + j] = 0;
  }
  return true;
}

/// factor^-1 x in place, for a lower triangular factor.
inline void solve_lower(const double* factor, index_t n, double* x) noexcept {
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = 0; k < i; ++k) x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
}

}  // namespace fenchel::detail
