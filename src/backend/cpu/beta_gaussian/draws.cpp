#include <algorithm>
#include <cfloat>
#include <limits>

#include "backend/cpu/beta_gaussian/kernels.hpp"
#include "core/random/whitened_draw.hpp"

namespace fenchel::detail {
namespace {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0,
              "the same bits everywhere need IEEE doubles, rounded after each operation");

template <class Real>
FENCHEL_INLINE void any_affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum,
                                    Rows<Real> out) noexcept {
  for (index_t j = 0; j < out.cols; ++j) {
    const double* const factor = p.factor.row(j);
    std::fill(sum, sum + kBlock, 0.0);
    for (index_t i = 0; i < p.factor.cols; ++i) {
      const double f = factor[i];
      if (f == 0) continue;
      for (index_t k = 0; k < kBlock; ++k) sum[k] += f * z[i * kBlock + k];
    }
    const double mu = p.mu[static_cast<std::size_t>(j)];
    for (index_t k = 0; k < out.rows; ++k) out.row(k)[j] = static_cast<Real>(mu + sum[k]);
  }
}

}  // namespace

FENCHEL_CLONES void polar_pairs(const PolarLaw& law, std::uint64_t seed, std::uint64_t block,
                                std::uint64_t first_stream, double* x, double* y) noexcept {
  std::uint64_t radial[kBlock], angular[kBlock];
  double radius2[kBlock];
  for (index_t k = 0; k < kBlock; ++k) {
    const PolarBits bits = polar_bits(seed, block, first_stream + static_cast<std::uint64_t>(k));
    radial[k] = bits.radial;
    angular[k] = bits.angular;
  }
  if (law.power == 0) {
    for (index_t k = 0; k < kBlock; ++k) radius2[k] = exponential_radius2(law, radial[k]);
  } else {
    const PolarLaw local = law;
    for (index_t k = 0; k < kBlock; ++k) radius2[k] = power_radius2(local, radial[k]);
  }
  for (index_t k = 0; k < kBlock; ++k) {
    const PlanePoint point = polar_point(radius2[k], angular[k]);
    x[k] = point.x;
    y[k] = point.y;
  }
}

FENCHEL_CLONES void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum,
                                Rows<float> out) noexcept {
  any_affine_rows(p, z, sum, out);
}

FENCHEL_CLONES void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum,
                                Rows<double> out) noexcept {
  any_affine_rows(p, z, sum, out);
}

}  // namespace fenchel::detail
