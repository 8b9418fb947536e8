#pragma once

#include <algorithm>

#include "backend/cpu/dot_product/products.hpp"
#include "backend/dot_product/dropout.hpp"
#include "fenchel/backend/dot_product_views.hpp"

/// The weights of a query, as a list of those that are not 0. Where that is long, products of a dense row
/// take less time; a row's results are the same, whichever rows are dense beside it.
namespace fenchel::detail {

/// Whether rows may be dense: the products want whole lanes, and dropout a list.
template <class Real>
bool may_be_dense(const DotProducts<Real>& x) noexcept {
  return x.dropout == 0 && x.key.cols % kLanes<Real> == 0 && x.value.cols % kLanes<Real> == 0;
}

/// Whether so many of n weights are better dense.
constexpr bool is_dense(index_t count, index_t n) noexcept { return 6 * count > n; }

/// A list as a dense row of n weights.
template <class Real>
void spread(const Selection<Real>& list, index_t n, Real* row) noexcept {
  std::fill_n(row, n, Real(0));
  for (index_t k = 0; k < list.count; ++k) row[list.places[k]] = list.weights[k];
}

/// Multiplies what belongs to these keys by what dropout makes of their weights.
template <class Real>
void apply_dropout(const DotProducts<Real>& x, index_t row, index_t count, const index_t* places,
                   Real* values) noexcept {
  if (x.dropout == 0) return;
  for (index_t k = 0; k < count; ++k)
    values[k] *= static_cast<Real>(dropout_factor(*x.seed, row, places[k], x.dropout));
}

}  // namespace fenchel::detail
