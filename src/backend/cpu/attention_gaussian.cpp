#include <algorithm>
#include <cmath>

#include "backend/cpu/attention_line.hpp"
#include "core/lane_math.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock;

/// alpha = 1: p psi is a Gaussian in y, N(d; 0, v) with v = sigma2 + sigma_j^2 times one of mean m and
/// variance omega^2. d log p / dalpha = d log peak + G dz - G^2 / 2, G = y^2 / (2 sigma2).
template <Wanted kWanted>
FENCHEL_INLINE void gaussian_blocks(double mu, double sigma2, const BetaGaussianAlphaDerivatives& rates,
                                    const LineFunctions& psi, const RowBlocks& out) noexcept {
  for (index_t begin = 0; begin < psi.size(); begin += kBlock) {
    const double *mean = psi.mean() + begin, *width = psi.width() + begin;
    double value[kBlock], slope[kBlock], stretch[kBlock], alpha[kBlock];
    for (index_t j = 0; j < kBlock; ++j) {
      const double variance = width[j] * width[j], inverse = 1 / (sigma2 + variance);
      const double d = mean[j] - mu, pull = bounded(d * inverse, kLargestSquared);
      const double r = kInverseRootTwoPi * std::sqrt(inverse) * exp_element(-0.5 * d * pull);
      const double m2 = bounded(d * pull * sigma2 * inverse, kLargestSquared),
                   omega2 = variance * inverse;  // over sigma2
      const double square = m2 + omega2, fourth = m2 * m2 + 6 * m2 * omega2 + 3 * omega2 * omega2;
      value[j] = r;
      slope[j] = r * pull;
      stretch[j] = 0.5 * r * (pull * pull - inverse);
      alpha[j] = r * (rates.log_peak + 0.5 * square * rates.log_peak_power - 0.125 * fourth);
    }
    std::copy_n(value, kBlock, out[0] + begin);
    if constexpr (kWanted == Wanted::kValues) continue;
    std::copy_n(slope, kBlock, out[1] + begin);
    std::copy_n(stretch, kBlock, out[2] + begin);
    if constexpr (alpha_too(kWanted)) std::copy_n(alpha, kBlock, out[3] + begin);
    if constexpr (basis_too(kWanted)) std::copy_n(stretch, kBlock, out[block_count(1, kWanted) - 1] + begin);
  }
}

FENCHEL_CLONES void gaussian_row(double mu, double sigma2, const BetaGaussianAlphaDerivatives& rates,
                                 const LineFunctions& psi, Wanted wanted, RowBlocks out) noexcept {
  switch (wanted) {
    case Wanted::kValues:
      return gaussian_blocks<Wanted::kValues>(mu, sigma2, rates, psi, out);
    case Wanted::kGradient:
      return gaussian_blocks<Wanted::kGradient>(mu, sigma2, rates, psi, out);
    case Wanted::kAlphaToo:
      return gaussian_blocks<Wanted::kAlphaToo>(mu, sigma2, rates, psi, out);
    case Wanted::kBasisToo:
      return gaussian_blocks<Wanted::kBasisToo>(mu, sigma2, rates, psi, out);
    case Wanted::kAll:
      return gaussian_blocks<Wanted::kAll>(mu, sigma2, rates, psi, out);
  }
}

}  // namespace

void attend_gaussian_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted,
                         RowBlocks out) noexcept {
  BetaGaussianAlphaDerivatives rates{};
  if (alpha_too(wanted)) rates = alpha_derivatives(p.constants);
  gaussian_row(p.mu[0], p.scale[0], rates, psi, wanted, out);
}

}  // namespace fenchel::detail
