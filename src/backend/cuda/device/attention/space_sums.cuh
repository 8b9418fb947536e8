#pragma once

#include <cuda_runtime.h>

#include "backend/attention/space_slopes.hpp"
#include "backend/attention/space_student.hpp"
#include "backend/attention/wanted.hpp"
#include "backend/cuda/device/attention/space_pair.cuh"
#include "core/complex.hpp"

namespace fenchel::cuda::device {

using detail::Wanted;
constexpr bool slopes_too(Wanted wanted) { return wanted != Wanted::kValues; }

/// Sums over the nodes of a pair of its weights times 1; times 1 / (1 + zeta v_a), zeta / (1 + zeta v_a) and
/// zeta / ((1 + zeta v_a) (1 + zeta v_b)); of d / dalpha; and times zeta^2 / ((1 + zeta v_a) (1 + zeta v_b)).
template <int kD, class Number, Wanted kWanted>
struct SpaceSums {
  static constexpr int kMost = Dimension<kD>::kMost, kEntries = Dimension<kD>::kEntries;
  Number value, first[kMost], second[kMost], cross[kEntries], basis[kEntries];
  double alpha;

  __device__ void clear(Dimension<kD> d) {
    value = 0;
    alpha = 0;
    if constexpr (slopes_too(kWanted)) {
      FENCHEL_ROLLED(d)
      for (int a = 0; a < d; ++a) first[a] = second[a] = 0;
      FENCHEL_ROLLED(d)
      for (int k = 0; k < d * (d + 1) / 2; ++k) cross[k] = basis[k] = 0;
    }
  }

  /// The node zeta = e^t of a mixture.
  __device__ void add_real(const detail::SpaceDensity& p, const SpacePair<kD>& pair, Dimension<kD> d,
                           double t, double weight) {
    const double zeta = exp(t);
    double inverse[kMost], g = 0, g1 = 0;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) {
      inverse[a] = 1 / (1 + zeta * pair.v[a]);
      const auto slopes = detail::space_log_slopes(pair.v[a], pair.e2[a], inverse[a]);
      g += slopes.g;
      g1 += slopes.g1;
    }
    add(d, zeta, weight, inverse);
    if constexpr (alpha_too(kWanted)) alpha += weight * detail::student_alpha_rate(p, t, g, g1);
  }

  __device__ void scale(Dimension<kD> d, double factor) {
    value *= factor;
    alpha *= factor;
    if constexpr (slopes_too(kWanted)) {
      FENCHEL_ROLLED(d)
      for (int a = 0; a < d; ++a) {
        first[a] *= factor;
        second[a] *= factor;
      }
      FENCHEL_ROLLED(d)
      for (int k = 0; k < d * (d + 1) / 2; ++k) {
        cross[k] *= factor;
        basis[k] *= factor;
      }
    }
  }

  /// Complex numbers of a contour, or real ones; `inverse` is 1 / (1 + zeta v).
  template <class Node>
  __device__ void add(Dimension<kD> d, Node zeta, Node weight, const Node* inverse) {
    using detail::real_part, detail::real_product;
    value += real_part(weight);
    if constexpr (slopes_too(kWanted)) {
      for (int a = 0, k = 0; a < d; ++a) {
        const Node g = weight * inverse[a], zg = zeta * g, z2g = zeta * zg;
        first[a] += real_part(g);
        second[a] += real_part(zg);
        FENCHEL_ROLLED(d)
        for (int b = 0; b <= a; ++b, ++k) {
          cross[k] += real_product(zg, inverse[b]);
          if constexpr (basis_too(kWanted)) basis[k] += real_product(z2g, inverse[b]);
        }
      }
    }
  }
};

/// A value and its derivatives: the G of dr = Tr(G dSigma) and of dr = Tr(G dV) by their lower triangles,
/// (0, 0), (1, 0), (1, 1), ...; that in the function's mean is -by_mu.
template <int kD>
struct SpaceSlopes {
  static constexpr int kMost = Dimension<kD>::kMost, kEntries = Dimension<kD>::kEntries;
  double value, by_mu[kMost], by_scale[kEntries], by_alpha, by_covariance[kEntries];

  __device__ void fill(Dimension<kD> d, double number) {
    value = by_alpha = number;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) by_mu[a] = number;
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * (d + 1) / 2; ++k) by_scale[k] = by_covariance[k] = number;
  }

  /// Sums have been scaled.
  template <Wanted kWanted>
  __device__ void take(const SpaceRow<kD>& row, const SpacePair<kD>& pair, Dimension<kD> d,
                       const SpaceSums<kD, double, kWanted>& sums) {
    value = sums.value;
    by_alpha = sums.alpha;
    if constexpr (slopes_too(kWanted)) take_slopes(row, pair, d, sums);
    if constexpr (basis_too(kWanted)) take_basis(row, pair, d, sums);
  }

 private:
  template <class Sums>
  __device__ void take_slopes(const SpaceRow<kD>& row, const SpacePair<kD>& pair, Dimension<kD> d,
                              const Sums& sums) {
    double packed[1 + 2 * kMost + kEntries], matrix[kMost * kMost];
    packed[0] = sums.value;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) {
      packed[1 + a] = sums.first[a];
      packed[1 + d + a] = sums.second[a];
    }
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * (d + 1) / 2; ++k) packed[1 + 2 * d + k] = sums.cross[k];
    BetaGaussianConstants constants = row.constants;
    constants.dimension = d;
    detail::space_slopes(d, row.shared, constants, row.factor, pair.turn, pair.distance, packed, 1, by_mu,
                         matrix);
    for (int a = 0, k = 0; a < d; ++a) {
      FENCHEL_ROLLED(d)
      for (int b = 0; b <= a; ++b) by_scale[k++] = 0.5 * matrix[a * d + b];
    }
  }

  /// With C the covariance of a node, A = C^-1 and u = A d: dN = N Tr((u u^T - A) dV) / 2.
  template <class Sums>
  __device__ void take_basis(const SpaceRow<kD>& row, const SpacePair<kD>& pair, Dimension<kD> d,
                             const Sums& sums) {
    double matrix[kMost * kMost];
    const double beta = row.shared.beta;
    FENCHEL_ROLLED(d)
    for (int i = 0; i < d * d; ++i) matrix[i] = 0;
    for (int a = 0, k = 0; a < d; ++a) {
      for (int b = 0; b <= a; ++b, ++k) {
        double t = beta * beta * pair.distance[a] * pair.distance[b] * sums.basis[k];
        if (a == b) t -= beta * sums.second[a];
        for (int i = 0; i < d; ++i) {
          FENCHEL_ROLLED(d)
          for (int m = 0; m < d; ++m) {
            const double both = pair.turn[i * d + a] * pair.turn[m * d + b];
            matrix[i * d + m] += t * (a == b ? both : both + pair.turn[i * d + b] * pair.turn[m * d + a]);
          }
        }
      }
    }
    detail::congruence(row.factor, d, matrix, detail::solve_upper<Dimension<kD>>);
    for (int a = 0, k = 0; a < d; ++a) {
      FENCHEL_ROLLED(d)
      for (int b = 0; b <= a; ++b) by_covariance[k++] = 0.5 * matrix[a * d + b];
    }
  }
};

}  // namespace fenchel::cuda::device
