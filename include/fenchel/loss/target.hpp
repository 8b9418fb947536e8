#pragma once

#include <limits>

namespace fenchel::detail {

/// Omega_alpha(q) of a target and its derivative with respect to alpha.
struct TargetNegentropy {
  double value, alpha_derivative;
};

/// That of atoms, where there is a density elsewhere: the limit 1 / (alpha (1 - alpha)) of narrow densities,
/// infinite for alpha >= 1.
[[nodiscard]] inline TargetNegentropy atom_negentropy(double alpha) noexcept {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (!(alpha < 1)) return {kInf, std::numeric_limits<double>::quiet_NaN()};
  const double spread = alpha * (1 - alpha);
  return {1 / spread, (2 * alpha - 1) / (spread * spread)};
}

}  // namespace fenchel::detail
