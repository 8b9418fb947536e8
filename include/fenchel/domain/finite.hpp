#pragma once

/// `Finite`: a finite set, with or without a weight for each atom.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"

namespace fenchel {

/// A finite set with a measure: counting measure by default, or a weight for each atom. Densities are with
/// respect to it, so that sum_i w_i p_i = 1.
class FENCHEL_EXPORT Finite {
 public:
  Finite() = default;
  /// Throws std::domain_error unless the weights are finite and not negative, and one of them is positive.
  explicit Finite(std::vector<double> weights);

  /// Empty for the counting measure.
  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }
  [[nodiscard]] double weight(std::size_t i) const noexcept { return weights_.empty() ? 1.0 : weights_[i]; }

 private:
  std::vector<double> weights_;
};

}  // namespace fenchel
