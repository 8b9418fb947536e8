#include <algorithm>
#include <cmath>

#include "backend/attention/line_mixture.hpp"
#include "backend/cpu/attention/line.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock, kMostNodes = 1536;

/// Nodes of a row: spread T, weight over sqrt(2 pi), and that weight's relative change with alpha.
struct Nodes {
  index_t size = 0;
  double spread[kMostNodes], weight[kMostNodes], alpha_rate[kMostNodes];
};

FENCHEL_CLONES void add_nodes(const Nodes& nodes, const StudentRates& rates, double mu,
                              const LineFunctions& psi, index_t from, index_t end, Wanted wanted,
                              RowBlocks out) noexcept {
  for (index_t begin = from; begin < end; begin += kBlock) {
    double d[kBlock], variance[kBlock];
    double value[kBlock] = {}, slope[kBlock] = {}, stretch[kBlock] = {}, alpha[kBlock] = {},
           bend[kBlock] = {};
    for (index_t j = 0; j < kBlock; ++j) {
      d[j] = psi.mean()[begin + j] - mu;
      variance[j] = psi.width()[begin + j] * psi.width()[begin + j];
    }
    for (index_t i = 0; i < nodes.size; ++i) {
      const double spread = nodes.spread[i], weight = nodes.weight[i], rate = nodes.alpha_rate[i];
      for (index_t j = 0; j < kBlock; ++j) {
        const MixtureTerms terms = student_terms(d[j], variance[j], spread, weight, rate);
        value[j] += terms.value;
        slope[j] += terms.slope;
        stretch[j] += terms.stretch;
        bend[j] += terms.bend;
        alpha[j] += terms.alpha;
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

void attend_student_mixture(const DensityRow& p, const LineFunctions& psi, index_t begin, index_t end,
                            Wanted wanted, Accuracy accuracy, RowBlocks out) noexcept {
  const BetaGaussianConstants& c = p.constants;
  double farthest = 0;
  for (index_t j = begin; j < end; ++j) farthest = std::max(farthest, std::abs(psi.mean()[j] - p.mu[0]));
  const StudentRule rule(c, p.scale[0], farthest, accuracy == Accuracy::kSingle);
  const StudentRates rates(c, p.scale[0], alpha_too(wanted));
  Nodes nodes;
  nodes.size = rule.count;
  double mass = 0, mean = 0;
  for (index_t i = 0; i < nodes.size; ++i) {
    const double x = rule.place(i);
    nodes.weight[i] = rule.mass(x);
    nodes.spread[i] = rule.spread(x);
    mass += nodes.weight[i];
    mean += x * nodes.weight[i];
  }
  mean /= mass;
  for (index_t i = 0; i < nodes.size; ++i) {
    nodes.weight[i] *= kInverseRootTwoPi / mass;
    nodes.alpha_rate[i] = rates.nu * (rule.place(i) - mean);
  }
  add_nodes(nodes, rates, p.mu[0], psi, begin, end, wanted, out);
}

}  // namespace fenchel::detail
