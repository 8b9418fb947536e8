#pragma once

#include <cmath>
#include <utility>

#include "core/rolled.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

/// Algebra of the small matrices of a kernel, n x n row by row, in memory of the caller. n is an index_t, or
/// of a type that knows it (core/rolled.hpp).
namespace fenchel::detail {

/// The lower triangular factor of a = factor factor^T, read from the lower triangle of a; what is above the
/// diagonal of `factor` becomes 0. False unless a is positive definite; then the first bad pivot is on the
/// diagonal of `factor`. factor may be a.
template <class Size>
FENCHEL_HD inline bool cholesky(const double* a, Size n, double* factor) noexcept {
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      FENCHEL_ROLLED(n)
      for (index_t k = 0; k < j; ++k) sum -= factor[i * n + k] * factor[j * n + k];
      if (i == j && !(sum > 0 && std::isfinite(sum))) {
        factor[i * n + i] = sum;
        return false;
      }
      factor[i * n + j] = i == j ? std::sqrt(sum) : sum / factor[j * n + j];
    }
    FENCHEL_ROLLED(n)
    for (index_t j = i + 1; j < n; ++j) factor[i * n + j] = 0;
  }
  return true;
}

/// factor^-1 x in place, for a lower triangular factor.
template <class Size>
FENCHEL_HD inline void solve_lower(const double* factor, Size n, double* x) noexcept {
  for (index_t i = 0; i < n; ++i) {
    FENCHEL_ROLLED(n)
    for (index_t k = 0; k < i; ++k) x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
}

/// factor^-T x in place.
template <class Size>
FENCHEL_HD inline void solve_upper(const double* factor, Size n, double* x) noexcept {
  for (index_t i = n - 1; i >= 0; --i) {
    FENCHEL_ROLLED(n)
    for (index_t k = i + 1; k < n; ++k) x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
}

/// factor^-1 a factor^-T in place for a symmetric a, or factor^-T a factor^-1.
template <class Size, class Solve>
FENCHEL_HD inline void congruence(const double* factor, Size n, double* a, Solve solve) noexcept {
  for (int side = 0; side < 2; ++side) {
    FENCHEL_ROLLED(n)
    for (index_t i = 0; i < n; ++i) solve(factor, n, a + i * n);
    for (index_t i = 0; i < n; ++i) {
      FENCHEL_ROLLED(n)
      for (index_t k = 0; k < i; ++k) std::swap(a[i * n + k], a[k * n + i]);
    }
  }
}

/// The eigenvalues of a symmetric a, on its diagonal when this is done, and its orthonormal eigenvectors, the
/// columns of `vectors`: Jacobi's rotations, sweep by sweep. Errors are a few rounding errors of the norm of
/// a; for a diagonal or 2 x 2 matrix, of each eigenvalue of a well-scaled one.
template <class Size>
FENCHEL_HD inline void symmetric_eigen(double* a, Size n, double* vectors) noexcept {
  constexpr int kMaxSweeps = 30;
  FENCHEL_ROLLED(n)
  for (index_t i = 0; i < n * n; ++i) vectors[i] = i % (n + 1) == 0;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = false;
    for (index_t p = 0; p < n; ++p) {
      for (index_t q = p + 1; q < n; ++q) {
        const double off = a[p * n + q];
        if (off * off <= 1e-34 * std::abs(a[p * n + p] * a[q * n + q])) continue;
        rotated = true;
        const double ratio = (a[q * n + q] - a[p * n + p]) / (2 * off);
        const double tangent = std::copysign(1.0, ratio) / (std::abs(ratio) + std::hypot(1.0, ratio));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = tangent * cosine;
        const auto turn = [cosine, sine](double& x, double& y) {
          const double old = x;
          x = cosine * old - sine * y;
          y = sine * old + cosine * y;
        };
        a[p * n + p] -= tangent * off;
        a[q * n + q] += tangent * off;
        a[p * n + q] = a[q * n + p] = 0;
        FENCHEL_ROLLED(n)
        for (index_t k = 0; k < n; ++k) {
          turn(vectors[k * n + p], vectors[k * n + q]);
          if (k == p || k == q) continue;
          turn(a[k * n + p], a[k * n + q]);
          a[p * n + k] = a[k * n + p];
          a[q * n + k] = a[k * n + q];
        }
      }
    }
    if (!rotated) return;
  }
}

}  // namespace fenchel::detail
