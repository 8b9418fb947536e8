#pragma once

/// `Dirac`: an observation on the line as the target of a loss.

#include <concepts>
#include <limits>

#include "fenchel/core/infinity.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel {

/// All mass at one number of the line: an observation, as the target of a loss.
struct Dirac {
  double at;
};

[[nodiscard]] inline Line domain(const Dirac&) noexcept { return {}; }
[[nodiscard]] inline double mean(const Dirac& q) noexcept { return q.at; }
[[nodiscard]] inline double variance(const Dirac&) noexcept { return 0; }
template <std::invocable<double> F>
[[nodiscard]] double expectation(const Dirac& q, F&& f) {
  return f(q.at);
}
/// The limit of narrow densities: int p^order -> 0 for order < 1, else infinity.
[[nodiscard]] inline double tsallis_entropy(const Dirac&, double order) noexcept {
  return order < 1 ? -1 / (order * (1 - order)) : -kInfinity;
}

/// NaN where Omega is infinite.
[[nodiscard]] inline double negentropy_order_derivative(const Dirac&, double order) noexcept {
  const double spread = order * (1 - order);
  return order < 1 ? (2 * order - 1) / (spread * spread) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fenchel
