#include "fenchel/loss/sobolev_finite.hpp"

#include <string>
#include <utility>
#include <vector>

#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

/// The density of a target less that of the prediction, and their sum.
struct Densities {
  double excess, sum;
};

}  // namespace

GammaLossAndGradient fenchel_young(const Sobolev& omega, const VectorScore& f, const Finite& domain,
                                   const SparseCategorical& q) {
  if (q.size() != static_cast<index_t>(f.size())) {
    throw_invalid_argument("fenchel_young", "q.size()", "must equal f.size() = " + std::to_string(f.size()),
                           q.size());
  }
  const SobolevDensity p = predict_density(omega, f, domain);
  std::vector<double> gradient(f.size());
  std::vector<Densities> chain;  // of the atoms that exist
  double value = 0, along_gamma = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double w = domain.weight(i), predicted = w * p.density[i], target = pmf(q, static_cast<index_t>(i));
    gradient[i] = predicted - target;
    if (target > 0 && p.slack[i] > 0) value += p.slack[i] * (w > 0 ? target / w : 1.0);
    if (w == 0) continue;
    chain.push_back({(target - predicted) / w, (target + predicted) / w});
    value += w * chain.back().excess * chain.back().excess / 2;
  }
  for (std::size_t k = 0; k + 1 < chain.size(); ++k) {
    const double step = chain[k + 1].excess - chain[k].excess;
    value += omega.gamma() * step * step / 2;
    along_gamma += step * (chain[k + 1].sum - chain[k].sum) / 2;
  }
  return {omega.temperature() * value, std::move(gradient), omega.temperature() * along_gamma};
}

}  // namespace fenchel
