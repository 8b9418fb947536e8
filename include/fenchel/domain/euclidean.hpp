#pragma once

/// `Euclidean`: R^N with volume as its measure.

#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// R^N, with volume as its measure.
class Euclidean {
 public:
  /// Throws std::invalid_argument unless the dimension is positive.
  constexpr explicit Euclidean(index_t dimension) : dimension_(dimension) {
    if (dimension < 1) throw_invalid_argument("euclidean", "dimension", "must be positive", dimension);
  }

  [[nodiscard]] constexpr index_t dimension() const noexcept { return dimension_; }

  friend constexpr bool operator==(Euclidean, Euclidean) = default;

 private:
  index_t dimension_;
};

}  // namespace fenchel
