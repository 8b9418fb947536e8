#pragma once

#include <cuda_runtime.h>

#include "backend/attention/space_hessian.hpp"
#include "backend/cuda/device/attention/space_attend.cuh"

/// The Hessian of a pair times a direction, by one thread. The dimension is not known to the compiler: what
/// is differentiated twice is seldom what takes the time.
namespace fenchel::cuda::device {

inline constexpr int kFew = -4;
using AnyDimension = Dimension<kFew>;

/// Directions or products of one pair: d, Sigma, V and alpha.
struct PairNumbers {
  static constexpr int kMost = AnyDimension::kMost;
  double distance[kMost], scale[kMost * kMost], covariance[kMost * kMost], alpha;

  __device__ detail::PairTangents view() { return {distance, scale, covariance, alpha}; }
  __device__ void fill(AnyDimension d, double number) {
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) distance[a] = number;
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * d; ++k) scale[k] = covariance[k] = number;
    alpha = number;
  }
};

/// Sums over nodes as the integrals want them.
class HessianSums {
 public:
  double value;

  __device__ HessianSums(const SpaceRow<kFew>& row, const SpacePair<kFew>& pair, AnyDimension d,
                         bool alpha_too, PairNumbers& direction, PairNumbers& product)
      : law_(row.shared, row.constants.am1, d),
        beta_(row.shared.beta),
        pair_{d, pair.distance, pair.v, pair.e2, 1},
        alpha_too_(alpha_too),
        near_(alpha_too && fabs(row.shared.n) >= detail::kNearOrders),
        direction_(direction.view()),
        product_(product) {}

  __device__ void clear(AnyDimension d) {
    value = 0;
    product_.fill(d, 0);
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * d; ++k) moments_[k] = 0;
  }
  __device__ void add(detail::Complex zeta, detail::Complex weight) {
    value += weight.re;
    detail::PairTangents product = product_.view();
    if (near_) {
      detail::add_hessian_node<2>(law_, beta_, pair_, alpha_too_, zeta, weight, direction_, product, moments_,
                                  jets_);
    } else {
      detail::Jet<0> jets[4 * PairNumbers::kMost];
      detail::add_hessian_node<0>(law_, beta_, pair_, alpha_too_, zeta, weight, direction_, product, moments_,
                                  jets);
    }
    product_.alpha = product.alpha;
  }
  __device__ void add_real(const detail::SpaceDensity&, const SpacePair<kFew>&, AnyDimension, double t,
                           double weight) {
    add({exp(t), 0}, {weight, 0});
  }
  __device__ void add_contour(const detail::SpaceDensity&, const SpacePair<kFew>&, const Saddle<kFew>& saddle,
                              AnyDimension, detail::Complex x, detail::Complex f, const detail::Complex*) {
    add(saddle.zeta * (1. + x), f);
  }
  __device__ void scale(AnyDimension d, double factor) {
    value *= factor;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) product_.distance[a] *= factor;
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * d; ++k) {
      product_.scale[k] *= factor;
      product_.covariance[k] *= factor;
      moments_[k] *= factor;
    }
    product_.alpha *= factor;
  }
  [[nodiscard]] __device__ const double* moments() const { return moments_; }

 private:
  detail::AlphaLaw law_;
  double beta_;
  detail::PairView pair_;
  bool alpha_too_, near_;
  detail::PairTangents direction_;
  PairNumbers& product_;
  double moments_[PairNumbers::kMost * PairNumbers::kMost];
  detail::Jet<2> jets_[4 * PairNumbers::kMost];
};

/// x becomes U^T L^-1 x, where Sigma is 1 and V diagonal.
__device__ inline void turn_in(const SpaceRow<kFew>& row, const SpacePair<kFew>& pair, AnyDimension d,
                               double* x) {
  double old[PairNumbers::kMost];
  detail::solve_lower(row.factor, d, x);
  FENCHEL_ROLLED(d)
  for (int a = 0; a < d; ++a) old[a] = x[a];
  for (int a = 0; a < d; ++a) {
    x[a] = 0;
    FENCHEL_ROLLED(d)
    for (int i = 0; i < d; ++i) x[a] += pair.turn[i * d + a] * old[i];
  }
}
/// L^-T U x.
__device__ inline void turn_out(const SpaceRow<kFew>& row, const SpacePair<kFew>& pair, AnyDimension d,
                                double* x) {
  double old[PairNumbers::kMost];
  FENCHEL_ROLLED(d)
  for (int a = 0; a < d; ++a) old[a] = x[a];
  for (int i = 0; i < d; ++i) {
    x[i] = 0;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) x[i] += pair.turn[i * d + a] * old[a];
  }
  detail::solve_upper(row.factor, d, x);
}
/// The same from both sides of a symmetric x.
template <class Turn>
__device__ inline void turn_matrix(AnyDimension d, double* x, const Turn& turn) {
  for (int side = 0; side < 2; ++side) {
    FENCHEL_ROLLED(d)
    for (int i = 0; i < d; ++i) turn(x + i * d);
    for (int i = 0; i < d; ++i) {
      FENCHEL_ROLLED(d)
      for (int k = 0; k < i; ++k) std::swap(x[i * d + k], x[k * d + i]);
    }
  }
}

/// `direction` is changed. NaN as in attend_pair.
static __device__ __noinline__ void hessian_pair(const SpaceRow<kFew>& row, const FunctionArrays& psi,
                                                 AnyDimension d, index_t j, bool alpha_too,
                                                 PairNumbers& direction, PairNumbers& product) {
  SpacePair<kFew> pair;
  if (!row.exists || !pair.load(row, psi, d, j)) return product.fill(d, CUDART_NAN);
  if (pair.vanishes) return product.fill(d, 0);
  const auto in = [&](double* x) { turn_in(row, pair, d, x); };
  const auto out = [&](double* x) { turn_out(row, pair, d, x); };
  in(direction.distance);
  turn_matrix(d, direction.scale, in);
  turn_matrix(d, direction.covariance, in);
  detail::PairTangents by = direction.view();
  const detail::HessianChain chain(row.shared, row.constants, alpha_too, by);
  HessianSums sums(row, pair, d, alpha_too, direction, product);
  bool accurate;
  if (row.constants.am1 > 0) {
    const detail::ContourRule rule = detail::kDoubleRule;
    Saddle<kFew> saddle;
    double scale;
    accurate = integrate_contour<kFew, double>(row.shared, pair, d, rule, saddle, sums, scale);
    if (accurate) sums.scale(d, scale);
  } else {
    accurate = integrate_real<Family::kAny>(row, pair, d, sums);
  }
  if (!accurate) return product.fill(d, CUDART_NAN);
  detail::PairTangents result = product.view();
  chain.finish(by, sums.moments(), result);
  product.alpha = result.alpha;
  out(product.distance);
  turn_matrix(d, product.scale, out);
  turn_matrix(d, product.covariance, out);
}

}  // namespace fenchel::cuda::device
