#include "fenchel/core/normalizer.hpp"

#include "core/columns.hpp"
#include "core/normalizer_solver.hpp"

namespace fenchel {
namespace {

/// Scores less their maximum, with the measure.
struct SpanAtoms {
  std::span<double> values;
  std::span<const double> weights;

  [[nodiscard]] double d(index_t j) const noexcept { return values[static_cast<std::size_t>(j)]; }
  [[nodiscard]] double w(index_t j) const noexcept {
    return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(j)];
  }
};

}  // namespace

Normalization normalize(double am1, std::span<double> values, std::span<const double> weights) noexcept {
  const SpanAtoms atoms{values, weights};
  detail::AllColumns columns(std::ssize(values));
  Normalization found{};
  detail::normalize_atoms(am1, columns, atoms, [&](const auto& densities, Normalization normalization) {
    found = normalization;
    for (double& value : values) value = densities(value);
  });
  if (std::isinf(am1)) return found;
  // Divides by the mass, which rounding has left a few ulp from one.
  const double mass =
      columns.sum<1>([&](index_t j) { return detail::Totals<1>{{atoms.w(j) * atoms.d(j)}}; }).of[0];
  for (double& value : values) value /= mass;
  return found;
}

}  // namespace fenchel
