#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/attention_line.hpp"
#include "core/lane_math.hpp"

/// E_p[psi] for Student's law, alpha < 1 (MATH.md 5.4, 7.5): with nu = 2/(1 - alpha) - 1,
///   rho = int chi2_nu(g) N(d; 0, T(g) + sigma_j^2) dg,   T = |radius2| sigma2 / g,
/// by the trapezoidal rule in x = log(g / nu), where chi2_nu is exp(-nu/2 (e^x - 1 - x)) up to a constant.
/// The rule converges exponentially; the weights are divided by their sum.
namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock, kMostNodes = 1536;

/// Nodes of a row: spread T, weight over sqrt(2 pi), and that weight's relative change with alpha.
struct Nodes {
  index_t size = 0;
  double spread[kMostNodes], weight[kMostNodes], alpha_rate[kMostNodes];
};

/// How T moves with the parameters: d log T / d sigma2 and d log T / d alpha.
struct SpreadRates {
  double sigma2, alpha;
};

FENCHEL_CLONES void add_nodes(const Nodes& nodes, const SpreadRates& rates, double mu,
                              const LineFunctions& psi, Wanted wanted, RowBlocks out) noexcept {
  for (index_t begin = 0; begin < psi.size(); begin += kBlock) {
    double d[kBlock], variance[kBlock];
    double value[kBlock] = {}, slope[kBlock] = {}, stretch[kBlock] = {}, alpha[kBlock] = {},
           bend[kBlock] = {};
    for (index_t j = 0; j < kBlock; ++j) {
      d[j] = psi.mean()[begin + j] - mu;
      variance[j] = psi.width()[begin + j] * psi.width()[begin + j];
    }
    for (index_t i = 0; i < nodes.size; ++i) {
      const double spread = nodes.spread[i], weight = nodes.weight[i], rate = nodes.alpha_rate[i];
      const double half = 0.5 * smaller(spread, std::numeric_limits<double>::max());
      for (index_t j = 0; j < kBlock; ++j) {
        const double inverse = 1 / (spread + variance[j]), pull = bounded(d[j] * inverse, kLargestSquared);
        const double r = weight * std::sqrt(inverse) * exp_element(-0.5 * d[j] * pull);
        value[j] += r;
        slope[j] += r * pull;
        const double curve = pull * pull - inverse;
        stretch[j] += r * half * curve;
        bend[j] += r * curve;
        alpha[j] += r * rate;
      }
    }
    for (index_t j = 0; j < kBlock; ++j) {
      out[0][begin + j] = value[j];
      if (wanted == Wanted::kValues) continue;
      out[1][begin + j] = slope[j];
      out[2][begin + j] = stretch[j] * rates.sigma2;
      if (alpha_too(wanted)) out[3][begin + j] = alpha[j] + stretch[j] * rates.alpha;
      if (basis_too(wanted)) out[block_count(1, wanted) - 1][begin + j] = 0.5 * bend[j];
    }
  }
}

}  // namespace

void attend_student_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                        RowBlocks out) noexcept {
  const BetaGaussianConstants& c = p.constants;
  const bool single = accuracy == Accuracy::kSingle;
  const double sigma2 = p.scale[0], nu = -2 / c.am1 - 1;
  const double size2 = std::max(-c.radius2 * sigma2, 1e-300);  // far below any function's square

  // The peak moves down by log(1 + d^2 / size2) for a function at distance d. Beyond e^80 sizes a result is
  // too small, but also below 1e-30 of the function's peak.
  double farthest = 0;
  for (index_t j = 0; j < psi.size(); ++j) farthest = std::max(farthest, std::abs(psi.mean()[j] - p.mu[0]));
  const double fall = 2 * (single ? 18 : 40) / nu, root = std::sqrt(2 * fall);
  const double shift = std::min({2 * std::log1p(farthest / std::sqrt(size2)), 1500 / nu, 160.0});
  // The rule errs by |Gamma(nu/2 + 1/2 + 2 pi i / step)| / Gamma(nu/2 + 1/2): below 1e-8, or 1e-15.
  const double step = std::min(single ? 0.35 : 0.18, (single ? 0.75 : 0.5) * std::sqrt(2 / (nu + 1)));
  // e^x - 1 - x exceeds `fall` beyond these ends, but for the shift.
  const double lower = -fall - std::min(1.0, root) - shift, upper = std::log1p(fall + root);
  Nodes nodes;
  nodes.size = static_cast<index_t>(std::ceil((upper - lower) / step)) + 1;
  const auto place = [&](index_t i) { return lower + step * static_cast<double>(i); };
  double mass = 0, mean = 0;
  for (index_t i = 0; i < nodes.size; ++i) {
    const double x = place(i);
    nodes.weight[i] = std::exp(-0.5 * nu * (std::expm1(x) - x));
    nodes.spread[i] = size2 / nu * std::exp(-x);
    mass += nodes.weight[i];
    mean += x * nodes.weight[i];
  }
  mean /= mass;
  const double nu_rate = 1 / (c.am1 * c.am1);  // (dnu/dalpha) / 2
  for (index_t i = 0; i < nodes.size; ++i) {
    nodes.weight[i] *= kInverseRootTwoPi / mass;
    nodes.alpha_rate[i] = nu_rate * (place(i) - mean);
  }
  SpreadRates rates{2 / ((2 + c.am1) * sigma2), 0};
  if (alpha_too(wanted)) rates.alpha = alpha_derivatives(c).log_peak_power - 1 / c.am1;
  add_nodes(nodes, rates, p.mu[0], psi, wanted, out);
}

}  // namespace fenchel::detail
