#pragma once

#include <array>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Gauss rules for the densities of one alpha > 1 on the line, (1 - x^2 / (2 s + 3))^s with s = 1 / am1 up to
/// a constant: of variance 1, so that they go over into those of the Gaussian. Made when they are first asked
/// for, and kept until alpha changes.
class GaussRules {
 public:
  static constexpr index_t kMost = 128;
  /// sum_i weight_i f(node_i) is the mean of f, exactly for polynomials of degree 2 size - 1.
  struct Rule {
    index_t size;
    const double *node, *weight;
  };

  /// The smallest rule of at least so many nodes; least <= kMost.
  [[nodiscard]] Rule at_least(double am1, double least) noexcept;

 private:
  static constexpr index_t kSizes[] = {4,  5,  6,  7,  8,  10, 12, 14, 16, 18,  20,   24,
                                       28, 32, 36, 40, 48, 56, 64, 80, 96, 112, kMost};
  static constexpr index_t kCount = std::size(kSizes);
  static constexpr index_t kTotal = [] {
    index_t sum = 0;
    for (const index_t size : kSizes) sum += size;
    return sum;
  }();

  double am1_ = 0;
  std::array<bool, kCount> made_{};
  std::array<double, kTotal> nodes_, weights_;  ///< those of each size after those of the sizes before
};

}  // namespace fenchel::detail
