#pragma once

#include <cmath>

#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// D = d/dalpha log_{2-alpha}(p), 0 off the support: a change of alpha acts like a change of the scores by
/// -D.
inline double alpha_direction(double alpha, double p) noexcept {
  return p == 0 ? 0.0 : deformed_log_alpha_derivative<1>(alpha - 1, std::log(p));
}

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
