#pragma once

/// `VectorScore`: a score for each atom of a finite set, where -inf masks the atom.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"

namespace fenchel {

/// A score for each atom of a finite set; -inf masks an atom.
class FENCHEL_EXPORT VectorScore {
 public:
  /// Throws std::domain_error for NaN, +inf, or no finite score.
  explicit VectorScore(std::vector<double> values);

  [[nodiscard]] std::span<const double> values() const noexcept { return values_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

 private:
  std::vector<double> values_;
};

}  // namespace fenchel
