#pragma once

#include <cmath>

#include "backend/attention/space_density.hpp"
#include "core/beta_gaussian/radius.hpp"
#include "core/rolled.hpp"
#include "core/small_matrix.hpp"

namespace fenchel::detail {

/// d/dmu = beta L^-T V (d <zeta / (1 + zeta v)>), d/dSigma = L^-T (V T V^T - c tr(T)) L^-1 / 2 with T_ab =
/// beta d_a d_b <zeta / ((1 + zeta v_a) (1 + zeta v_b))> - [a = b] <1 / (1 + zeta v_a)>: the pathwise form,
/// in which nothing cancels for wide functions. radius2 ~ det(Sigma)^-c, c = am1 / (2 + D am1). `turn` is V,
/// the sums are those of space.hpp, and they and d are `stride` apart; by_mu becomes d/dmu, and
/// twice_by_scale 2 d/dSigma.
template <class Size>
FENCHEL_HD inline void space_slopes(Size d, const SpaceDensity& p, const BetaGaussianConstants& constants,
                                    const double* factor, const double* turn, const double* distance,
                                    const double* sums, index_t stride, double* by_mu,
                                    double* twice_by_scale) noexcept {
  const double *const first = sums + stride, *const second = first + d * stride;
  const double* cross = second + d * stride;
  FENCHEL_ROLLED(d)
  for (index_t a = 0; a < d; ++a) by_mu[a] = 0;
  for (index_t a = 0; a < d; ++a) {
    const double slope = p.beta * distance[a * stride] * second[a * stride];
    FENCHEL_ROLLED(d)
    for (index_t i = 0; i < d; ++i) by_mu[i] += turn[i * d + a] * slope;
  }
  solve_upper(factor, d, by_mu);

  double* const g = twice_by_scale;
  FENCHEL_ROLLED(d)
  for (index_t k = 0; k < d * d; ++k) g[k] = 0;
  double trace = 0;
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b <= a; ++b, cross += stride) {
      double t = p.beta * distance[a * stride] * distance[b * stride] * *cross;
      if (a == b) {
        t -= first[a * stride];
        trace += t;
      }
      for (index_t i = 0; i < d; ++i) {
        FENCHEL_ROLLED(d)
        for (index_t k = 0; k < d; ++k) {
          const double pair = turn[i * d + a] * turn[k * d + b];
          g[i * d + k] += t * (a == b ? pair : pair + turn[i * d + b] * turn[k * d + a]);
        }
      }
    }
  }
  const double volume = determinant_exponent(constants);
  FENCHEL_ROLLED(d)
  for (index_t i = 0; i < d; ++i) g[i * d + i] -= volume * trace;
  congruence(factor, d, g, solve_upper<Size>);
}

}  // namespace fenchel::detail
