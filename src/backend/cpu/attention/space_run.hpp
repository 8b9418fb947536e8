#pragma once

#include "backend/cpu/attention/row.hpp"
#include "backend/cpu/attention/space_shared.hpp"

/// What functions of one covariance take into their coordinates and out of them, in lanes.
namespace fenchel::detail {

/// V^T L^-1 (mu_j - mu) of functions [first, first + count), coordinate by coordinate, with V = `axes`; and
/// beta / 2 times its squares.
void run_distances(const cpu::GaussianFunctions& psi, index_t first, index_t count, const double* mu,
                   const double* factor, const double* axes, double beta, double* distance,
                   double* e2) noexcept;

/// d/dmu and d/dSigma of those functions from their sums, as space_slopes has them for one. `turn` is L^-T V,
/// `volume` c, and `work` 2 kMost numbers.
void run_slopes(const SharedFunctions& functions, index_t first, const double* turn, double beta,
                double volume, double* work, RowBlocks out) noexcept;

}  // namespace fenchel::detail
