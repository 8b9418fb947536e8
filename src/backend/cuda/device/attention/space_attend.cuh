#pragma once

#include <cuda_runtime.h>
#include <math_constants.h>

#include "backend/attention/space_student.hpp"
#include "backend/cuda/device/attention/space_contour.cuh"
#include "backend/cuda/device/attention/space_pair.cuh"
#include "backend/cuda/device/attention/space_sums.cuh"

/// The expectation of a function under a density, with its derivatives, by one thread.
namespace fenchel::cuda::device {

/// Which integrals a kernel has to know: those of the alphas that it can meet.
enum class Family { kGaussian, kSparse, kAny };

/// One function as integrate_student takes it; `sums` have a `value`, clear(d), add_real(p, pair, d, t,
/// weight) for the node zeta = e^t, and scale(d, factor).
template <int kD, class Sums>
struct StudentPsi {
  const detail::SpaceDensity& p;
  const SpacePair<kD>& pair;
  Dimension<kD> d;
  Sums& sums;

  __device__ double log_gaussian(double zeta) const {
    double sum = 0;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) sum += detail::space_log_term(pair.v[a], pair.e2[a], zeta);
    return sum;
  }
  __device__ double exponent(double t) const {
    return t + p.n * detail::order_exponent(t) + log_gaussian(exp(t));
  }
  __device__ double distance2() const {
    double sum = 0;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) sum += pair.e2[a];
    return sum;
  }
  __device__ index_t most_nodes() const { return index_t{1} << 62; }
  __device__ void clear() { sums.clear(d); }
  __device__ double sum() const { return sums.value; }
  __device__ void add(double t, double weight) { sums.add_real(p, pair, d, t, weight); }
  __device__ void scale(double factor) { sums.scale(d, factor); }
};

/// alpha <= 1. False where sums do not converge.
template <Family kFamily, int kD, class Sums>
__device__ bool integrate_real(const SpaceRow<kD>& row, const SpacePair<kD>& pair, Dimension<kD> d,
                               Sums& sums) {
  StudentPsi<kD, Sums> student{row.shared, pair, d, sums};
  if constexpr (kFamily == Family::kAny) {
    if (row.constants.am1 != 0) return detail::integrate_student(row.shared, student);
  }
  student.clear();
  student.add(0, exp(row.shared.log_factor + student.log_gaussian(1)));
  return true;
}

/// NaN where the density or the function does not exist, or the integral does not converge. Contours are
/// summed in Number, which is double where d / dalpha is wanted: it multiplies errors by n.
template <class Number, int kD, Wanted kWanted, Family kFamily>
__device__ void attend_pair(const SpaceRow<kD>& row, const FunctionArrays& psi, Dimension<kD> d, index_t j,
                            detail::Accuracy accuracy, SpaceSlopes<kD>& out) {
  static_assert(!alpha_too(kWanted) || std::is_same_v<Number, double>);
  SpacePair<kD> pair;
  if (!row.exists || !pair.load(row, psi, d, j)) return out.fill(d, CUDART_NAN);
  if (pair.vanishes) return out.fill(d, 0);
  const detail::SpaceDensity& p = row.shared;
  SpaceSums<kD, double, kWanted> sums;
  bool accurate;
  if (kFamily == Family::kSparse || (kFamily == Family::kAny && row.constants.am1 > 0)) {
    const detail::ContourRule rule = detail::contour_rule(p.n, accuracy, kWanted);
    ContourSums<kD, Number, kWanted> relative;
    Saddle<kD> saddle;
    double scale;
    accurate = integrate_contour<kD, Number>(p, pair, d, rule, saddle, relative, scale);
    if (accurate) relative.finish(p, saddle, scale, d, sums);
  } else {
    accurate = integrate_real<kFamily>(row, pair, d, sums);
  }
  if (!accurate) return out.fill(d, CUDART_NAN);
  out.take(row, pair, d, sums);
}

}  // namespace fenchel::cuda::device
