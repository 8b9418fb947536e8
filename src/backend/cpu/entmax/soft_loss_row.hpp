#pragma once

#include "backend/cpu/entmax/row.hpp"
#include "fenchel/core/index.hpp"

/// What a row of soft targets asks for, in vectors of doubles.
namespace fenchel::detail {

/// A row whose map is known: scores z, prediction p, and targets q, which are not negative.
template <class Real>
struct SoftLossRow {
  const Real *z, *p, *q;
  index_t n;
  double am1;
  EntmaxRow map;
};

/// The sum of fenchel_young_term or of cross_omega_term (core/fenchel_young_term.hpp) over a row.
double fenchel_young_row(const SoftLossRow<float>& row) noexcept;
double fenchel_young_row(const SoftLossRow<double>& row) noexcept;
double cross_omega_row(const SoftLossRow<float>& row) noexcept;
double cross_omega_row(const SoftLossRow<double>& row) noexcept;

/// The sum of tsallis_term_alpha_derivative over a distribution: d Omega_alpha / d alpha.
double negentropy_slope(const float* p, index_t n, double am1) noexcept;
double negentropy_slope(const double* p, index_t n, double am1) noexcept;

}  // namespace fenchel::detail
