#pragma once

#include "backend/cuda/device/entmax/beyond_two.cuh"
#include "backend/cuda/device/entmax/powers.cuh"
#include "core/fenchel_young_term.hpp"
#include "core/tsallis_term.hpp"
#include "fenchel/core/normalizer.hpp"

/// What a row's columns add to its loss, docs/math.md 2: with phi(q) = q^alpha / (alpha am1) and B = p^am1
/// on the support, below it 1 + am1 (z - A), the loss is the sum of phi(q) - phi(p) - (q - p) B / am1, where
/// what is linear in q and p cancels. Columns without a target add p^alpha / alpha each.
namespace fenchel::cuda::device {

/// One copy of the formulas in each kernel, not one for each number that a thread holds.
__device__ __noinline__ inline double loss_term(double am1, double q, double p, double u, bool cross) {
  return cross ? detail::cross_omega_term(am1, q, p, u) : detail::fenchel_young_term(am1, q, p, u);
}
__device__ __noinline__ inline double entropy_slope(double am1, double p) {
  return detail::tsallis_term_alpha_derivative(am1, p);
}

/// p = exp_{2-alpha}(d - offset).
struct PredictedRow {
  double am1, offset;

  __device__ __noinline__ PredictedRow(double am1_, double peak)
      : am1(am1_), offset(isinf(am1_) ? peak * 0 : normalization_from_peak(am1_, log(peak)).offset) {}

  /// What a column with a target q adds.
  template <class Real>
  [[nodiscard]] __device__ double term(Real d, double q, double p, bool cross) const {
    return loss_term(am1, q, p, d > kMasked<Real> ? double{d} - offset : -__builtin_huge_val(), cross);
  }
  /// scale^alpha / alpha.
  [[nodiscard]] __device__ double scale_power(double scale) const {
    return isinf(am1) ? scale * 0 : exp((1 + am1) * log(scale)) / (1 + am1);
  }
};

/// The loss of a class whose score is d, p = e / total, where the other columns have the sums `others` of E
/// and `escort` of E^alpha. 1 - p is a sum without p: next to 1 nothing cancels.
template <class Real>
__device__ inline Real class_loss(const ExponentialPower<Real>&, double, Real d, Real e, double others,
                                  double) {
  constexpr Real kSmall = sizeof(Real) == 4 ? Real(1e-30) : Real(1e-290);
  const auto sum = static_cast<Real>(others);
  return e > kSmall ? log1p(sum / e) : log(sum) - d;
}
template <class Real, int q>
__device__ inline Real class_loss(const WholePower<Real, q>& power, double, Real d, Real, double others,
                                  double escort) {
  const Real base = power.base(d), rest = static_cast<Real>(others), powers = static_cast<Real>(escort);
  const Real below = max(-base, Real(0));
  if constexpr (q == 1) return (powers + rest * rest) * Real(0.5) + below;
  const Real root = max(base, Real(0)), gap = rest / (1 + root);
  return (powers + gap * gap * (2 + root)) * Real(2. / 3) + 2 * below;
}
template <class Real>
__device__ inline Real class_loss(const AnyPower<Real>& power, double am1, Real d, Real e, double others,
                                  double escort) {
  const double scale = 1 / (others + double{e});
  const PredictedRow row(am1, scale);
  return static_cast<Real>(escort * row.scale_power(scale) + row.term(d, 1.0, scale * double{e}, false));
}

/// A column's p, and what it adds to the loss: never negative, but for the cross-Omega loss, which has no
/// phi(q).
template <class Real>
struct SoftColumn {
  Real p, loss;
};

/// The columns of a solved row of alpha = 1, 3/2 or 2, whose E have the sum `total`.
template <class Prediction>
class SoftColumns;

template <class Real>
class SoftColumns<ExponentialPower<Real>> {
 public:
  __device__ SoftColumns(const ExponentialPower<Real>& power, double total)
      : power_(power), scale_(static_cast<Real>(1 / total)), log_total_(static_cast<Real>(log(total))) {}

  [[nodiscard]] __device__ SoftColumn<Real> operator()(Real d, Real q, bool cross) const {
    const Real p = scale_ * power_.value(d), u = d - log_total_;
    if (q == 0) return {p, p};
    if (cross) return {p, p - q * (u + 1)};
    const Real x = log_approximately(q) - u;  // with p = q exp(-x) it is q (x - 1) + p
    return {p, abs(x) < Real(0.1) ? q * x * x * series(x) : max(fma(q, x - 1, p), Real(0))};
  }

 private:
  /// (exp(-x) - 1 + x) / x^2 = 1/2! - x/3! + x^2/4! - ...
  [[nodiscard]] __device__ static Real series(Real x) {
    constexpr int kTerms = sizeof(Real) == 4 ? 5 : 11;
    Real sum = 0;
#pragma unroll
    for (int k = kTerms; k > 0; --k) sum = fma(-x * sum, Real(1) / (k + 2), Real(1));
    return Real(0.5) * sum;
  }

  const ExponentialPower<Real>& power_;
  Real scale_, log_total_;
};

/// With b = B_+ and, for alpha = 3/2, s = sqrt(q): (q - b)^2 / 2 and (s - b)^2 (4 s + 2 b) / 3; and -q B /
/// am1 below the support.
template <class Real>
class SoftColumns<WholePower<Real, 1>> {
 public:
  __device__ SoftColumns(const WholePower<Real, 1>& power, double) : power_(power) {}

  [[nodiscard]] __device__ SoftColumn<Real> operator()(Real d, Real q, bool cross) const {
    const Real base = power_.base(d), b = max(base, Real(0)), below = min(base, Real(0));
    if (cross) return {b, b * b * Real(0.5) - q * (base - Real(0.5))};
    return {b, (q - b) * (q - b) * Real(0.5) - q * below};
  }

 private:
  const WholePower<Real, 1>& power_;
};
template <class Real>
class SoftColumns<WholePower<Real, 2>> {
 public:
  __device__ SoftColumns(const WholePower<Real, 2>& power, double) : power_(power) {}

  [[nodiscard]] __device__ SoftColumn<Real> operator()(Real d, Real q, bool cross) const {
    const Real base = power_.base(d), b = max(base, Real(0)), below = min(base, Real(0)), p = b * b;
    if (cross) return {p, p * b * Real(2. / 3) - q * (2 * base - Real(4. / 3))};
    const Real s = sqrt_approximately(q);
    return {p, (s - b) * (s - b) * (4 * s + 2 * b) * Real(1. / 3) - 2 * q * below};
  }

 private:
  const WholePower<Real, 2>& power_;
};

}  // namespace fenchel::cuda::device
