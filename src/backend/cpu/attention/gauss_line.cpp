#include <algorithm>
#include <cmath>

#include "backend/attention/line_math.hpp"
#include "backend/cpu/attention/line.hpp"
#include "backend/cpu/attention/line_nodes.hpp"

namespace fenchel::detail {
namespace {

/// How many nodes are needed grows with the resolution of the narrowest function, as the zeros of the
/// polynomials are apart, and with how far from the density's mean the product of the two lies. The constants
/// are fitted, over s from 0 to 1e6 and widths from 1/12 to 50 deviations of the density, to values and
/// slopes that err by 1e-8 of their terms in a float and 1e-13 in a double.
struct GaussDemand {
  double resolution, least, wide, shift;
};
constexpr GaussDemand kSingleDemand{3.5, 4, 5, 2.6}, kDoubleDemand{4.35, 7, 6.5, 2.7};
/// Functions this many widths away are no longer above 1e-30 of their peak.
constexpr double kFarthest = 12;

/// `ratio` is the density's deviation over the width, `distance` in widths. Infinite for what is too far.
double nodes_needed(const GaussDemand& demand, double s, double ratio, double distance) noexcept {
  const double per_s = 2 * s + 3, half = s + 0.5, ratio2 = ratio * ratio;
  const double reach2 = 1 + ratio2 * (s > 0 ? per_s / (2 * s) : double(kInfinity));
  if (!(distance * distance <= kFarthest * kFarthest * reach2)) return kInfinity;
  if (!(distance <= kFarthest + ratio * std::sqrt(per_s))) return kInfinity;
  const double g = demand.resolution * demand.resolution * per_s * ratio2;
  return g / (std::sqrt(half * half + g) + half) + demand.least + demand.wide * ratio / (ratio + 0.25) +
         demand.shift * distance * ratio / (1 + ratio2) * std::sqrt((s + 1) / (s + 8));
}

}  // namespace

bool attend_gauss_range(const DensityRow& p, const LineFunctions& psi, const LineFunctions::Range& range,
                        Wanted wanted, Accuracy accuracy, GaussRules& rules, RowBlocks out) noexcept {
  constexpr double kLeastFactor = 1e-300;  // of which no digit is lost
  const BetaGaussianConstants& c = p.constants;
  if (!(c.variance_factor > kLeastFactor)) return false;
  const double spread = std::sqrt(c.variance_factor * p.scale[0]), mu = p.mu[0];
  const double distance = std::max(range.highest - mu, mu - range.lowest);
  const double least = nodes_needed(accuracy == Accuracy::kSingle ? kSingleDemand : kDoubleDemand, 1 / c.am1,
                                    spread / range.narrowest, distance / range.narrowest);
  if (!(least <= GaussRules::kMost)) return false;
  const GaussRules::Rule rule = rules.at_least(c.am1, least);
  attend_nodes({rule.size, rule.node, rule.weight, spread, 1 / ((2 + c.am1) * p.scale[0])}, mu, psi,
               range.begin, range.end, wanted, accuracy, out);
  return true;
}

}  // namespace fenchel::detail
