#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/beta_gaussian/kernels.hpp"
#include "core/lanes/lane_math.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// d = t - mu, coordinate by coordinate; zeros fill the block.
template <class Real>
FENCHEL_INLINE void load_differences(std::span<const double> mu, Rows<const Real> points, index_t first,
                                     index_t count, double* d) noexcept {
  const index_t n = points.cols;
  const Real* const from = points.row(first);
  if (count == kBlock && n == 2 && points.stride == 2) {
    for (index_t k = 0; k < kBlock; ++k) {
      d[k] = static_cast<double>(from[2 * k]) - mu[0];
      d[kBlock + k] = static_cast<double>(from[2 * k + 1]) - mu[1];
    }
  } else if (count == kBlock && n == 1 && points.stride == 1) {
    for (index_t k = 0; k < kBlock; ++k) d[k] = static_cast<double>(from[k]) - mu[0];
  } else {
    for (index_t k = 0; k < count; ++k) {
      for (index_t j = 0; j < n; ++j) {
        d[j * kBlock + k] =
            static_cast<double>(from[k * points.stride + j]) - mu[static_cast<std::size_t>(j)];
      }
    }
    for (index_t j = 0; j < n; ++j) std::fill(d + j * kBlock + count, d + (j + 1) * kBlock, 0.0);
  }
}

/// q = |W d|^2. What is infinite may meet a zero or another infinity in W d: q is NaN only where d has NaN.
FENCHEL_INLINE void squared_norms(Rows<const double> whitening, const double* d, double* q) noexcept {
  double z[kBlock], size[kBlock];
  std::fill(q, q + kBlock, 0.0);
  for (index_t i = 0; i < whitening.rows; ++i) {
    std::fill(z, z + kBlock, 0.0);
    for (index_t j = 0; j < whitening.cols; ++j) {
      const double w = whitening.row(i)[j];
      if (w == 0) continue;
      for (index_t k = 0; k < kBlock; ++k) z[k] += w * d[j * kBlock + k];
    }
    for (index_t k = 0; k < kBlock; ++k) q[k] += z[k] * z[k];
  }
  std::fill(size, size + kBlock, kInfinity);
  for (index_t j = 0; j < whitening.cols; ++j) {
    for (index_t k = 0; k < kBlock; ++k) size[k] += std::abs(d[j * kBlock + k]);
  }
  for (index_t k = 0; k < kBlock; ++k) q[k] = q[k] <= size[k] ? q[k] : size[k];
}

template <class Real>
FENCHEL_INLINE void any_density_rows(const cpu::BetaGaussianParams& p, bool logarithm,
                                     Rows<const Real> points, double* d, Real* out) noexcept {
  const BetaGaussianConstants c = p.constants;
  const double unit = c.radius2 > 0 && c.radius2 < 1 ? 0x1p60 : 1;  // 1 / radius2 may overflow
  const double inverse_radius2 = 1 / (unit * c.radius2), inverse_am1 = 1 / c.am1;
  // On the line it is the distance that decides about the support, as half_width() does; elsewhere nothing is
  // at least NaN.
  const bool on_line = points.cols == 1 && p.factor.cols == 1;
  const double half_width = on_line && c.am1 > 0 ? std::abs(p.factor.row(0)[0]) * std::sqrt(c.radius2)
                                                 : std::numeric_limits<double>::quiet_NaN();
  for (index_t first = 0; first < points.rows; first += kBlock) {
    const index_t count = std::min(kBlock, points.rows - first);
    load_differences(p.mu, points, first, count, d);
    double q[kBlock];
    squared_norms(p.whitening, d, q);
    if (c.am1 == 0) {
      for (double& x : q) x = c.log_peak - 0.5 * x;
    } else {
      for (index_t k = 0; k < kBlock; ++k) {
        const double y = unit * q[k] * inverse_radius2;
        q[k] = y >= 1 || std::abs(d[k]) >= half_width ? -kInfinity
                                                      : c.log_peak + log1p_element(-y) * inverse_am1;
      }
    }
    if (!logarithm) {
      for (double& x : q) x = exp_element(x);
    }
    for (index_t k = 0; k < count; ++k) out[first + k] = static_cast<Real>(q[k]);
  }
}

}  // namespace

FENCHEL_CLONES void density_rows(const cpu::BetaGaussianParams& p, bool logarithm, Rows<const float> points,
                                 double* scratch, float* out) noexcept {
  any_density_rows(p, logarithm, points, scratch, out);
}

FENCHEL_CLONES void density_rows(const cpu::BetaGaussianParams& p, bool logarithm, Rows<const double> points,
                                 double* scratch, double* out) noexcept {
  any_density_rows(p, logarithm, points, scratch, out);
}

}  // namespace fenchel::detail
