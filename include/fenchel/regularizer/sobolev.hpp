#pragma once

/// `Sobolev`: the regularizer on the squared derivative, whose predictions are smooth.

#include "fenchel/core/check.hpp"

namespace fenchel {

/// temperature * (Omega_2(p) + (gamma / 2) int p'^2), Omega_2 = (int p^2 - 1) / 2; sum (p_{i+1} - p_i)^2 on a
/// chain [SCD22, Section 7; docs/math.md 6.2, E10]. Its predictions are smooth, also where they reach 0;
/// gamma = 0 is Tsallis(2).
class Sobolev {
 public:
  /// Throws std::domain_error unless gamma is finite and not negative, the temperature positive and finite.
  explicit Sobolev(double gamma = 1, double temperature = 1)
      : gamma_(detail::checked_nonnegative("sobolev", "gamma", gamma)),
        temperature_(detail::checked_positive("sobolev", "temperature", temperature)) {}

  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double temperature() const noexcept { return temperature_; }

 private:
  double gamma_, temperature_;
};

}  // namespace fenchel
