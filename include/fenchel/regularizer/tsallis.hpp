#pragma once

/// `Tsallis`: the negative Tsallis entropy of order alpha, with a temperature; `tsallis_negentropy`.

#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/regularizer/shannon.hpp"

namespace fenchel {

/// temperature * Omega_alpha, Omega_alpha(p) = (sum p^alpha - 1) / (alpha (alpha - 1)) [SCD22, Section 4.1]:
/// alpha = 1 is Shannon, 2 gives sparsemax, infinity the uniform distribution over the maxima.
class FENCHEL_EXPORT Tsallis {
 public:
  /// Throws std::domain_error unless alpha is positive (infinity is allowed) and the temperature positive and
  /// finite.
  explicit Tsallis(double alpha, double temperature = 1);
  /// Shannon is Tsallis at alpha = 1.
  Tsallis(const Shannon& omega) noexcept : alpha_(1), temperature_(omega.temperature()) {}

  [[nodiscard]] double alpha() const noexcept { return alpha_; }
  [[nodiscard]] double temperature() const noexcept { return temperature_; }

 private:
  double alpha_, temperature_;
};

/// Omega_alpha of densities p with respect to a finite measure (no weights: counting measure), as
/// (1/alpha) sum w p log_{2-alpha}(p), which is exact through alpha = 1; 0 log 0 = 0. Infinite alpha gives 0.
/// Throws std::domain_error for alpha <= 0, std::invalid_argument when the sizes differ.
[[nodiscard]] FENCHEL_EXPORT double tsallis_negentropy(double alpha, std::span<const double> p,
                                                       std::span<const double> weights = {});

/// Its derivative with respect to alpha, by its limit at alpha = 1.
[[nodiscard]] FENCHEL_EXPORT double tsallis_negentropy_alpha_gradient(double alpha, std::span<const double> p,
                                                                      std::span<const double> weights = {});

}  // namespace fenchel
