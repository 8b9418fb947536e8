#include "backend/cpu/attention/line_nodes.hpp"

#include "backend/attention/line_math.hpp"
#include "core/lanes/lanes.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock;

/// 2^(-u^2), and nothing to speak of where that is below 1e-210.
template <Accuracy kAccuracy>
FENCHEL_INLINE double bell(double u) noexcept {
  using Traits = LaneTraits<double>;
  const double power = larger(-(u * u), -700.0);
  const double rounded = power + Traits::kRounder, r = power - (rounded - Traits::kRounder);
  if constexpr (kAccuracy == Accuracy::kSingle) {
    return scale_normal(1 + r * polynomial_of<LaneCoefficients<float>::kExp2>(r), rounded);
  } else {
    const double x = r * std::numbers::ln2;
    return scale_normal(1 + (x + x * x * polynomial_of<LaneCoefficients<double>::kExp>(x)), rounded);
  }
}

/// E[psi], E[psi'], E[y psi'] and E[psi''] by nodes y: with u a multiple of (y - d) / sigma_j, sums of psi, u
/// psi and u y psi.
template <Wanted kWanted, Accuracy kAccuracy>
FENCHEL_INLINE void add_nodes(const LineNodes& nodes, double mu, const LineFunctions& psi, index_t begin,
                              Wanted wanted, const RowBlocks& out) noexcept {
  constexpr double kRoot = 0.84932180028801905;  // of log2(e) / 2
  const double *const mean = psi.mean() + begin, *const inverse_width = psi.inverse_width() + begin;
  double start[kBlock], step[kBlock], value[kBlock], slope[kBlock], moment[kBlock];
  for (index_t j = 0; j < kBlock; ++j) {
    const double unit = kRoot * inverse_width[j];
    start[j] = (mu - mean[j]) * unit;
    step[j] = nodes.scale * unit;
    value[j] = slope[j] = moment[j] = 0;
  }
  for (index_t i = 0; i < nodes.size; ++i) {
    const double place = nodes.place[i], weight = nodes.weight[i];
    for (index_t j = 0; j < kBlock; ++j) {
      const double u = start[j] + place * step[j], term = weight * bell<kAccuracy>(u);
      value[j] += term;
      if constexpr (kWanted != Wanted::kValues) {
        slope[j] += u * term;
        moment[j] += place * (u * term);
      }
    }
  }
  for (index_t j = 0; j < kBlock; ++j) out[0][begin + j] = kInverseRootTwoPi * inverse_width[j] * value[j];
  if constexpr (kWanted != Wanted::kValues) {
    const double rate = nodes.scale * nodes.sigma2_rate;
    for (index_t j = 0; j < kBlock; ++j) {
      const double factor = -kInverseRootTwoPi / kRoot * inverse_width[j] * inverse_width[j];
      out[1][begin + j] = factor * slope[j];
      out[2][begin + j] = factor * (rate * moment[j]);
    }
    if (!basis_too(wanted)) return;
    double* const bend = out[block_count(1, wanted) - 1] + begin;
    for (index_t j = 0; j < kBlock; ++j) {
      const double squares = (step[j] * moment[j] + start[j] * slope[j]) / (kRoot * kRoot);
      bend[j] = 0.5 * kInverseRootTwoPi * inverse_width[j] * inverse_width[j] * inverse_width[j] *
                (squares - value[j]);
    }
  }
}

template <Wanted kWanted, Accuracy kAccuracy>
FENCHEL_INLINE void add_blocks(const LineNodes& nodes, double mu, const LineFunctions& psi, index_t begin,
                               index_t end, Wanted wanted, const RowBlocks& out) noexcept {
  for (; begin < end; begin += kBlock) add_nodes<kWanted, kAccuracy>(nodes, mu, psi, begin, wanted, out);
}

}  // namespace

FENCHEL_CLONES void attend_nodes(const LineNodes& nodes, double mu, const LineFunctions& psi, index_t begin,
                                 index_t end, Wanted wanted, Accuracy accuracy, RowBlocks out) noexcept {
  constexpr auto kSingle = Accuracy::kSingle, kDouble = Accuracy::kDouble;
  constexpr auto kValues = Wanted::kValues, kSlopes = Wanted::kBasisToo;
  if (wanted == kValues) {
    accuracy == kSingle ? add_blocks<kValues, kSingle>(nodes, mu, psi, begin, end, wanted, out)
                        : add_blocks<kValues, kDouble>(nodes, mu, psi, begin, end, wanted, out);
  } else {
    accuracy == kSingle ? add_blocks<kSlopes, kSingle>(nodes, mu, psi, begin, end, wanted, out)
                        : add_blocks<kSlopes, kDouble>(nodes, mu, psi, begin, end, wanted, out);
  }
}

}  // namespace fenchel::detail
