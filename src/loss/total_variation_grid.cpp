#include "fenchel/loss/total_variation_grid.hpp"

#include <string>

#include "fenchel/backend/cpu/fusedmax_grid.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

GammaLossAndGradient fenchel_young(const TotalVariation& omega, const VectorScore& f, const Grid& domain,
                                   const SparseCategorical& q) {
  const detail::GridScores scores = detail::grid_scores(omega, f, domain);
  if (q.size() != domain.size()) {
    throw_invalid_argument("fenchel_young", "q.size()",
                           "must be domain.size() = " + std::to_string(domain.size()), q.size());
  }
  std::vector<double> target(f.size());
  for (std::size_t k = 0; k < q.support().size(); ++k) {
    target[static_cast<std::size_t>(q.support()[k])] = q.probabilities()[k];
  }
  GammaLossAndGradient result{0, std::vector<double>(f.size()), 0};
  const auto row = [&](auto& values) { return Rows(values.data(), 1, domain.size()); };
  cpu::fusedmax_grid_loss<double>(row(scores.values), domain.height(), omega.gamma(),
                                  cpu::SoftTargets<double>{row(target)},
                                  {{&result.value, 1}, row(result.gradient), {&result.gamma, 1}});
  result.value *= omega.temperature();
  result.gamma *= omega.temperature();
  return result;
}

}  // namespace fenchel
