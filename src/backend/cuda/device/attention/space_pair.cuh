#pragma once

#include <cuda_runtime.h>

#include "backend/attention/space_density.hpp"
#include "backend/cuda/attention/arrays.hpp"
#include "core/rolled.hpp"
#include "core/small_matrix.hpp"
#include "fenchel/core/beta_gaussian.hpp"

/// Densities and functions in the coordinates of their integrals: one density a row, one thread a pair.
namespace fenchel::cuda::device {

/// A dimension that the compiler knows, or for kD <= 0 one up to kMost: 8, or -kD.
template <int kD>
struct Dimension {
  static constexpr int kKnown = kD, kMost = kD > 0 ? kD : kD < 0 ? -kD : 8;
  static constexpr int kEntries = kMost * (kMost + 1) / 2;  ///< of a symmetric matrix
  int known_late;
  __device__ constexpr operator int() const { return kD > 0 ? kD : known_late; }
};

/// What the functions of a density share.
template <int kD>
struct SpaceRow {
  static constexpr int kMost = Dimension<kD>::kMost;
  BetaGaussianConstants constants;
  detail::SpaceDensity shared;
  double mu[kMost], factor[kMost * kMost];  ///< L of Sigma = L L^T
  bool exists;

  /// A density that does not exist is NaN in all that comes of it.
  template <class Densities>
  __device__ void load(const Densities& p, Dimension<kD> d, index_t i, bool curves) {
    const double am1 = p.alpha[i] - 1;
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * d; ++k) factor[k] = p.Sigma[i * d * d + k];
    exists = detail::cholesky(factor, d, factor) && am1 > fmax(-1., -2. / d);
    double log_det = 0;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) {
      mu[a] = p.mu[i * d + a];
      exists = exists && isfinite(mu[a]);
      log_det += 2 * log(factor[a * d + a]);
    }
    if (!exists) return;
    constants = beta_gaussian_constants(d, am1, log_det);
    shared = detail::space_density(constants, curves);
  }
};

/// A function in the coordinates in which Sigma is 1 and its covariance diagonal (attention_space_density).
template <int kD>
struct SpacePair {
  static constexpr int kMost = Dimension<kD>::kMost;
  double turn[kMost * kMost];  ///< the eigenvectors of the whitened covariance
  double distance[kMost];      ///< d
  double v[kMost], e2[kMost];  ///< beta lambda, beta d^2 / 2
  bool vanishes;

  /// False for a function that does not exist.
  __device__ bool load(const SpaceRow<kD>& row, const FunctionArrays& psi, Dimension<kD> d, index_t j) {
    double matrix[kMost * kMost], shift[kMost];
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * d; ++k) matrix[k] = psi.Sigma[j * d * d + k];
    if (!detail::cholesky(matrix, d, turn)) return false;
    detail::congruence(row.factor, d, matrix, detail::solve_lower<Dimension<kD>>);
    detail::symmetric_eigen(matrix, d, turn);
    bool finite = true;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) {
      const double mean = psi.mu[j * d + a];
      finite = finite && isfinite(mean);
      shift[a] = mean - row.mu[a];
    }
    detail::solve_lower(row.factor, d, shift);
    double size2 = 0, widest = 0;
    for (int a = 0; a < d; ++a) {
      double sum = 0;
      FENCHEL_ROLLED(d)
      for (int b = 0; b < d; ++b) sum += turn[b * d + a] * shift[b];
      distance[a] = sum;
      v[a] = row.shared.beta * fmax(matrix[a * d + a], 0.0);
      e2[a] = row.shared.beta / 2 * sum * sum;
      size2 += e2[a];
      widest = fmax(widest, v[a]);
    }
    vanishes = row.constants.am1 > 0 && detail::space_vanishes(row.shared, size2, widest);
    return finite;
  }
};

}  // namespace fenchel::cuda::device
