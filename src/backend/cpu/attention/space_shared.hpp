#pragma once

#include "backend/attention/space_contour.hpp"
#include "backend/cpu/attention/space.hpp"

/// Functions of one covariance under one density of alpha > 1: those whose saddles are close to each other
/// share a contour, and of a node there is left one complex exponential.
namespace fenchel::detail {

inline constexpr double kMostSharedOrders = 300;  ///< of n: contours are close to each other for a large n
static_assert(kMostSharedOrders < kManySeries);

struct SharedFunctions {
  static constexpr index_t kMost = 128;
  index_t dimension, count;
  const double* v;              ///< D numbers: beta lambda
  const double *distance, *e2;  ///< D x kMost: d, and beta d^2 / 2
  double* sums;                 ///< space_sums(...) rows of kMost numbers, as those of a SpaceGroup
  bool* done;                   ///< set where the sums are accurate; the others are left as they are
  double* work;                 ///< shared_work(D) numbers
};
[[nodiscard]] index_t shared_work(index_t dimension) noexcept;

/// Not for derivatives in alpha.
void integrate_shared(const SpaceDensity& p, const SharedFunctions& functions, Wanted wanted,
                      Accuracy accuracy) noexcept;

}  // namespace fenchel::detail
