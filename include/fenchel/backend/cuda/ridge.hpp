#pragma once

/// Value functions by ridge regression on a GPU, for sequences of several lengths.

#include <cstddef>
#include <cstdint>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// Value functions by ridge regression (attention/ridge_regression.hpp) on a GPU, for sequences of several
/// lengths: G = F^T (F F^T + lambda)^-1 once for each length that occurs, then B = H G for every batch. All
/// arithmetic is in double, and so are F and G: in float F F^T loses what lambda adds to it.
namespace fenchel::cuda {

/// `count` design matrices F, each functions x columns, row by row: psi_j at position l of length s is
/// element j columns + l of matrix s, of which the first lengths[s] columns are read. All in the memory of
/// the GPU.
struct RidgeDesigns {
  const double* values = nullptr;
  const std::int64_t* lengths = nullptr;
  index_t count = 0, functions = 0, columns = 0;
};

/// Their matrices G, each columns x functions, row by row, of which lengths[s] rows are not padding.
struct RidgeMatrices {
  const double* values = nullptr;
  const std::int64_t* lengths = nullptr;
  index_t count = 0, functions = 0, columns = 0;
};

/// The memory that ridge_matrices needs beside its output, in bytes, aligned to 16.
[[nodiscard]] FENCHEL_EXPORT std::size_t ridge_scratch_bytes(const RidgeDesigns& designs) noexcept;

/// G of each length, by the Cholesky factor of the smaller of the two systems, a block each; 0 at the
/// padding. A matrix whose length is outside of [1, columns], or whose system has a pivot below n epsilon
/// times its largest diagonal element and so is singular in double, is NaN. Throws std::domain_error for a
/// lambda that is negative or not finite.
FENCHEL_EXPORT void ridge_matrices(const RidgeDesigns& designs, double lambda, double* matrices,
                                   void* scratch, Stream stream);

/// B for a padded batch: `observations` are the H of `sequences` sequences one after the other, as many rows
/// each, of which sequence b fills as many columns as its matrix which[b] has rows, and no other is read;
/// `coefficients` are their B in the same way. A null `which`: all have matrix 0. A sequence whose matrix
/// does not exist or has more rows than there are columns has a B of NaN.
template <class Real>
FENCHEL_EXPORT void ridge_fit(const RidgeMatrices& matrices, const std::int64_t* which, index_t sequences,
                              DeviceRows<const Real> observations, DeviceRows<Real> coefficients,
                              Stream stream);

/// From the gradient in the coefficients that in the observations, 0 at the padding.
template <class Real>
FENCHEL_EXPORT void ridge_fit_vjp(const RidgeMatrices& matrices, const std::int64_t* which, index_t sequences,
                                  DeviceRows<const Real> cotangent, DeviceRows<Real> gradient, Stream stream);

}  // namespace fenchel::cuda
