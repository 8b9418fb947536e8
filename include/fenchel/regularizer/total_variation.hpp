#pragma once

/// `TotalVariation`: the regularizer on the absolute derivative, whose predictions have plateaus.

#include "fenchel/core/check.hpp"

namespace fenchel {

/// temperature * (Omega_2(p) + gamma TV(p)), Omega_2 = (int p^2 - 1) / 2 and TV the total variation: int |p'|
/// on the line, sum |p_{i+1} - p_i| on a chain [SCD22, Section 7; docs/math.md 6.1, E10]. Its predictions
/// have plateaus; gamma = 0 is Tsallis(2).
class TotalVariation {
 public:
  /// Throws std::domain_error unless gamma is finite and not negative, the temperature positive and finite.
  explicit TotalVariation(double gamma = 1, double temperature = 1)
      : gamma_(detail::checked_nonnegative("total_variation", "gamma", gamma)),
        temperature_(detail::checked_positive("total_variation", "temperature", temperature)) {}

  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double temperature() const noexcept { return temperature_; }

 private:
  double gamma_, temperature_;
};

}  // namespace fenchel
