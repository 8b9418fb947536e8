#include <cmath>
#include <numbers>
#include <string_view>

#include "backend/cuda/beta_gaussian/checks.hpp"
#include "backend/cuda/device/elements.cuh"
#include "core/lanes/lane_math.hpp"
#include "fenchel/backend/cuda/beta_gaussian.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cuda {
namespace {

using device::Pack;

/// log1p(x) of a double x > -1 for a result that is rounded to float: the reduction of log1p_element in
/// double, its polynomial in float, which errs by one ulp of a float.
__device__ inline double log1p_for(float, double x) {
  using Traits = detail::LaneTraits<double>;
  const double u = 1 + x, excess = (u - 1) - x;
  const auto parts = detail::log_parts<double>(detail::to_bits(u), Traits::kInteger + double(Traits::kBias));
  const double twice_inverse_scale =
      detail::from_bits<double>(detail::exponent_bits<double>(2 * Traits::kBias + 1) - parts.biased);
  const auto f = static_cast<float>(parts.fraction - excess * (0.5 * twice_inverse_scale));
  const float log = f + f * f * detail::polynomial_of<detail::LaneCoefficients<float>::kLog, 2>(f);
  const double y = parts.exponent * std::numbers::ln2 + static_cast<double>(log);
  return u < kInfinity ? y : u;
}
__device__ inline double log1p_for(double, double x) { return detail::log1p_element(x); }

/// exp(x) likewise. Beyond kLast the result is 0 or infinite in float.
__device__ inline double exp_for(float, double x) {
  using Traits = detail::LaneTraits<double>;
  constexpr double kLast = 200;
  const double inside = x < -kLast ? -kLast : (x > kLast ? kLast : x);
  const double rounded = inside * Traits::kLog2E + Traits::kRounder;
  const auto r = static_cast<float>(inside - (rounded - Traits::kRounder) * std::numbers::ln2);
  const float y = 1 + (r + r * r * detail::polynomial_of<detail::LaneCoefficients<float>::kExp>(r));
  return x == x ? detail::scale_normal(static_cast<double>(y), rounded) : x;
}
__device__ inline double exp_for(double, double x) { return std::exp(x); }

/// log p as a function of q, without divisions.
struct LogDensity {
  double log_peak, inverse_radius2, inverse_am1;  ///< the second 0 at alpha = 1

  explicit LogDensity(const BetaGaussianConstants& c)
      : log_peak(c.log_peak), inverse_radius2(c.am1 == 0 ? 0 : 1 / c.radius2), inverse_am1(1 / c.am1) {}

  template <class Real>
  [[nodiscard]] __device__ double of(double q) const {
    if (inverse_radius2 == 0) return log_peak - 0.5 * q;
    const double y = q * inverse_radius2;
    const double inside = log_peak + log1p_for(Real(), -y) * inverse_am1;
    return y >= 1 ? -kInfinity : inside;
  }
};

template <class Real, bool kLogarithm>
__device__ Real density(const LogDensity& law, double q) {
  const double log_p = law.of<Real>(q);
  return static_cast<Real>(kLogarithm ? log_p : exp_for(Real(), log_p));
}

/// mu and W of up to three coordinates, in registers: rows of W that are not there are 0.
template <int kN>
struct SmallGeometry {
  double mu[kN], whitening[kN][kN];

  __device__ explicit SmallGeometry(const BetaGaussianParams& p) {
#pragma unroll
    for (int i = 0; i < kN; ++i) {
      mu[i] = p.mu[i];
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        whitening[i][j] = i < p.constants.dimension ? p.whitening[i * kN + j] : 0;
      }
    }
  }

  /// q = |W (t - mu)|^2. What is infinite may meet a zero or another infinity in it: q is NaN only where t
  /// has NaN.
  template <class Real>
  [[nodiscard]] __device__ double squared_norm(const Real* t) const {
    double d[kN], q = 0, size = kInfinity;
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      d[j] = static_cast<double>(t[j]) - mu[j];
      size += std::abs(d[j]);
    }
#pragma unroll
    for (int i = 0; i < kN; ++i) {
      double z = 0;
#pragma unroll
      for (int j = 0; j < kN; ++j) z += whitening[i][j] * d[j];
      q += z * z;
    }
    return q <= size ? q : size;
  }
};

/// Rows one after the other, as many at a time as their results fill 16 bytes.
template <class Real, int kN, bool kLogarithm>
__global__ void __launch_bounds__(device::kElementThreads)
    packed_kernel(BetaGaussianParams p, LogDensity law, const Real* points, index_t rows, Real* out) {
  constexpr int kRows = Pack<Real>::kSize;
  const SmallGeometry<kN> geometry(p);
  const index_t packs = rows / kRows;
  for (index_t i = device::first_item(); i < packs; i += device::item_stride()) {
    Pack<Real> in[kN], results;
#pragma unroll
    for (int k = 0; k < kN; ++k) in[k] = device::load_streaming(points + (i * kN + k) * kRows);
    Real t[kN * kRows];
#pragma unroll
    for (int k = 0; k < kN * kRows; ++k) t[k] = in[k / kRows].values[k % kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      results.values[k] = density<Real, kLogarithm>(law, geometry.squared_norm(t + k * kN));
    }
    device::store_streaming(out + i * kRows, results);
  }
  for (index_t i = packs * kRows + device::first_item(); i < rows; i += device::item_stride()) {
    out[i] = density<Real, kLogarithm>(law, geometry.squared_norm(points + i * kN));
  }
}

/// Any rows, one a thread; coordinates are read again for each row of W, which the caches have.
template <class Real, bool kLogarithm>
__global__ void __launch_bounds__(device::kElementThreads)
    general_kernel(BetaGaussianParams p, LogDensity law, DeviceRows<const Real> points, Real* out) {
  for (index_t k = device::first_item(); k < points.rows; k += device::item_stride()) {
    const Real* const t = points.row(k);
    const auto difference = [&](index_t j) { return static_cast<double>(t[j * points.step]) - p.mu[j]; };
    double q = 0, size = kInfinity;
    for (index_t j = 0; j < p.size; ++j) size += std::abs(difference(j));
    for (index_t i = 0; i < p.constants.dimension; ++i) {
      double z = 0;
      for (index_t j = 0; j < p.size; ++j) z += p.whitening[i * p.size + j] * difference(j);
      q += z * z;
    }
    out[k] = density<Real, kLogarithm>(law, q <= size ? q : size);
  }
}

template <bool kLogarithm, class Real>
void density_rows(std::string_view where, const BetaGaussianParams& p, Input<Real> points, Real* out,
                  Stream stream) {
  check_params(where, p);
  check_points(where, "points", p, points);
  if (points.rows == 0) return;
  check_pointer(where, "mu", p.mu);
  check_pointer(where, "whitening", p.whitening);
  check_pointer(where, "out", out);
  const LogDensity law(p.constants);
  const bool packed = points.cols <= 3 && points.step == 1 && points.stride == points.cols &&
                      points.rows <= points.inner && device::aligned(points.data) && device::aligned(out);
  if (!packed) {
    launch(where, general_kernel<Real, kLogarithm>, device::element_blocks(points.rows),
           device::kElementThreads, 0, stream, p, law, points, out);
    return;
  }
  const auto kernel = points.cols == 1   ? packed_kernel<Real, 1, kLogarithm>
                      : points.cols == 2 ? packed_kernel<Real, 2, kLogarithm>
                                         : packed_kernel<Real, 3, kLogarithm>;
  launch(where, kernel, device::element_blocks(points.rows / Pack<Real>::kSize), device::kElementThreads, 0,
         stream, p, law, points.data, points.rows, out);
}

}  // namespace

template <class Real>
void log_pdf_rows(const BetaGaussianParams& p, Input<Real> points, Real* out, Stream stream) {
  density_rows<true>("cuda::log_pdf_rows", p, points, out, stream);
}

template <class Real>
void pdf_rows(const BetaGaussianParams& p, Input<Real> points, Real* out, Stream stream) {
  density_rows<false>("cuda::pdf_rows", p, points, out, stream);
}

template void log_pdf_rows(const BetaGaussianParams&, Input<float>, float*, Stream);
template void log_pdf_rows(const BetaGaussianParams&, Input<double>, double*, Stream);
template void pdf_rows(const BetaGaussianParams&, Input<float>, float*, Stream);
template void pdf_rows(const BetaGaussianParams&, Input<double>, double*, Stream);

}  // namespace fenchel::cuda
