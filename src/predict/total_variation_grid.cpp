#include "fenchel/predict/total_variation_grid.hpp"

#include <algorithm>
#include <string>

#include "core/compensated_sum.hpp"
#include "fenchel/backend/cpu/fusedmax_grid.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

/// Maps scores to probabilities in place; returns the threshold.
double map_in_place(const TotalVariation& omega, const Grid& domain, std::vector<double>& scores) {
  const Rows<double> row(scores.data(), 1, domain.size());
  double threshold = 0;
  cpu::fusedmax_grid(row, domain.height(), omega.gamma(), row, &threshold);
  return threshold;
}

}  // namespace

detail::GridScores detail::grid_scores(const TotalVariation& omega, const VectorScore& f,
                                       const Grid& domain) {
  const auto size = static_cast<index_t>(f.size());
  if (size != domain.size()) {
    throw_invalid_argument("predict", "f.size()", "must be domain.size() = " + std::to_string(domain.size()),
                           size);
  }
  const double top = *std::ranges::max_element(f.values());
  std::vector<double> values(f.values().begin(), f.values().end());
  for (double& x : values) x = (x - top) / omega.temperature();
  return {std::move(values), top};
}

SparseCategorical predict(const TotalVariation& omega, const VectorScore& f, const Grid& domain) {
  std::vector<double> p = detail::grid_scores(omega, f, domain).values;
  map_in_place(omega, domain, p);
  return SparseCategorical(p);
}

double conjugate(const TotalVariation& omega, const VectorScore& f, const Grid& domain) {
  auto [p, top] = detail::grid_scores(omega, f, domain);
  const double threshold = map_in_place(omega, domain, p);
  detail::CompensatedSum squares;
  for (const double x : p) squares.add(x * x);
  return top + omega.temperature() * (0.5 + threshold + squares.total() / 2);
}

}  // namespace fenchel
