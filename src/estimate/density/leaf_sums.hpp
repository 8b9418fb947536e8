#pragma once

#include "estimate/density/kernel.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Where a query is, in front of the points of a leaf.
struct LeafView {
  const double* coordinates;
  index_t stride;         ///< from one coordinate to the next
  const double* weights;  ///< kLeafPoints of them
  const double* query;
  const double* inverse_scale;
  index_t dimension;
};

/// The sum of w profile(inverse q) over the points of a leaf but the one at `excluded` (-1 for none): 32
/// terms in a fixed order, without branches.
[[nodiscard]] double leaf_sum(const RadialKernel& kernel, const LeafView& leaf, index_t excluded) noexcept;

/// inverse q of each of them.
void leaf_squares(double inverse, const LeafView& leaf, double* out) noexcept;

}  // namespace fenchel::detail
