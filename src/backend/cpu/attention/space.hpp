#pragma once

#include "backend/attention/space_density.hpp"
#include "backend/cpu/attention/row.hpp"
#include "core/lanes/lanes.hpp"
#include "fenchel/core/index.hpp"

/// The integrals of attention_space_density.hpp for eight functions at a time.
namespace fenchel::detail {

/// Functions are integrated eight at a time: arrays of D x 8, coordinate by coordinate.
inline constexpr index_t kSpaceGroup = 8;

/// The nodes of a group: rho is the real part of the sum of the weights, and the mean of a function of zeta
/// times rho that of their products.
struct SpaceNodes {
  static constexpr index_t kMost = 4096;
  struct Node {
    Complex zeta, weight;
  };
  Node* data;  ///< kMost for each function
  index_t size[kSpaceGroup];
  [[nodiscard]] Node& at(index_t lane, index_t i) const noexcept { return data[i * kSpaceGroup + lane]; }
};

struct SpaceGroup {
  index_t dimension;
  const double *v, *e2;         ///< beta lambda, beta d^2 / 2
  double* sums;                 ///< block_count(...) + D rows of eight numbers, see below
  double* work;                 ///< 5 D rows
  SpaceNodes* nodes = nullptr;  ///< filled, too, where there are any
};

/// `sums` is rho; with a gradient also, for each a, the means of 1 / (1 + zeta v_a) and zeta / (1 + zeta
/// v_a), and for a >= b of zeta / ((1 + zeta v_a) (1 + zeta v_b)), all times rho; d rho / d alpha is last.
[[nodiscard]] constexpr index_t space_sums(index_t dimension, Wanted wanted) noexcept {
  return block_count(dimension, wanted) + (wanted == Wanted::kValues ? 0 : dimension);
}

/// alpha > 1. False where the sums do not converge.
[[nodiscard]] bool integrate_contour(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted,
                                     Accuracy accuracy) noexcept;
/// alpha = 1: the value of the integrand at zeta = 1.
void integrate_gaussian(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept;
/// alpha < 1.
[[nodiscard]] bool integrate_mixture(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept;

}  // namespace fenchel::detail
