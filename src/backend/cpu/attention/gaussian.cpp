#include <algorithm>

#include "backend/attention/line_mixture.hpp"
#include "backend/cpu/attention/line.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock;

template <Wanted kWanted>
FENCHEL_INLINE void gaussian_blocks(double mu, double sigma2, const BetaGaussianPeakSlopes& rates,
                                    const LineFunctions& psi, const RowBlocks& out) noexcept {
  for (index_t begin = 0; begin < psi.size(); begin += kBlock) {
    const double *mean = psi.given_mean() + begin, *width = psi.given_width() + begin;
    double value[kBlock], slope[kBlock], stretch[kBlock], alpha[kBlock];
    for (index_t j = 0; j < kBlock; ++j) {
      const MixtureTerms terms = gaussian_terms(mean[j] - mu, sigma2, width[j], rates);
      value[j] = terms.value;
      slope[j] = terms.slope;
      stretch[j] = terms.stretch;
      alpha[j] = terms.alpha;
    }
    std::copy_n(value, kBlock, out[0] + begin);
    if constexpr (kWanted == Wanted::kValues) continue;
    std::copy_n(slope, kBlock, out[1] + begin);
    std::copy_n(stretch, kBlock, out[2] + begin);
    if constexpr (alpha_too(kWanted)) std::copy_n(alpha, kBlock, out[3] + begin);
    if constexpr (basis_too(kWanted)) std::copy_n(stretch, kBlock, out[block_count(1, kWanted) - 1] + begin);
  }
}

FENCHEL_CLONES void gaussian_row(double mu, double sigma2, const BetaGaussianPeakSlopes& rates,
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
  BetaGaussianPeakSlopes rates{};
  if (alpha_too(wanted)) rates = peak_slopes(p.constants);
  gaussian_row(p.mu[0], p.scale[0], rates, psi, wanted, out);
}

}  // namespace fenchel::detail
