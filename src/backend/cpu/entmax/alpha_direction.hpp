#pragma once

#include "backend/entmax/terms.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// <v, D>; D is left out where v is 0, as it is all of infinite alpha.
template <class Real>
double along_alpha(double alpha, const Real* p, const Real* v, index_t n) noexcept {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += v[i] == 0 ? 0.0 : v[i] * alpha_direction(alpha, p[i]);
  return sum;
}

/// out = v - step D.
template <class Real>
void shift_along_alpha(double alpha, const Real* p, const Real* v, double step, index_t n,
                       Real* out) noexcept {
  for (index_t i = 0; i < n; ++i) out[i] = static_cast<Real>(v[i] - step * alpha_direction(alpha, p[i]));
}

}  // namespace fenchel::detail
