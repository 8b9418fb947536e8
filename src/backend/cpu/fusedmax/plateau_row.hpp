#pragma once

#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "core/scratch.hpp"

namespace fenchel::detail {

/// Memory for one row; every thread has its own.
struct PlateauScratch {
  index_t* places;  ///< where p changes
  double* means;    ///< over each plateau
};

inline std::size_t plateau_scratch_bytes(index_t cols) noexcept {
  return scratch_bytes<index_t>(padded(cols)) + scratch_bytes<double>(padded(cols));
}

inline PlateauScratch take_plateau_scratch(WorkerScratch& memory, index_t cols) noexcept {
  auto* places = memory.take<index_t>(padded(cols));
  return {places, memory.take<double>(padded(cols))};
}

/// out = J v + dp/dgamma d_gamma for one row of fusedmax with n >= 1 columns, and returns <v, dp/dgamma>. Off
/// the support out is 0; a NaN row stays NaN. out may be v. Compiled for several instruction sets.
double plateau_jacobian_row(const float* p, index_t n, const EdgeGammas& edges, const float* v,
                            double d_gamma, const PlateauScratch& scratch, float* out) noexcept;
double plateau_jacobian_row(const double* p, index_t n, const EdgeGammas& edges, const double* v,
                            double d_gamma, const PlateauScratch& scratch, double* out) noexcept;

}  // namespace fenchel::detail
