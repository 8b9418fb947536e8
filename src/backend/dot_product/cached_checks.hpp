#pragma once

#include <string>
#include <string_view>

#include "backend/dot_product/checks.hpp"
#include "fenchel/backend/dot_product_views.hpp"

/// What attention to a cache asks of its arguments, on the CPU and on a GPU.
namespace fenchel::detail {

/// The lengths, and those pages that they reach.
template <class Real>
void check_sequences(std::string_view where, const CachedDotProducts<Real>& x) {
  const index_t room = x.pages.cols * x.key.rows;
  for (index_t b = 0; b < x.query.batch; ++b) {
    const index_t length = x.lengths[static_cast<std::size_t>(b)];
    if (length < 0 || length > room) {
      throw_invalid_argument(where, indexed("lengths", b),
                             "must be in [0, " + std::to_string(room) + "], the rows of its pages", length);
    }
    if (x.bias.data != nullptr && length > x.bias.cols) {
      throw_invalid_argument(where, "bias.cols", "must be at least " + std::to_string(length), x.bias.cols);
    }
    for (index_t k = 0; k * x.key.rows < length; ++k) {
      const index_t page = x.pages.row(b)[k];
      if (0 <= page && page < x.key.batch) continue;
      throw_invalid_argument(where, indexed(indexed("pages", b), k),
                             "must be in [0, " + std::to_string(x.key.batch) + ")", page);
    }
  }
}

template <class Real>
void check_cached_products(std::string_view where, const CachedDotProducts<Real>& x, NumbersOn memory) {
  check_matrices(where, "query", x.query);
  check_heads(where, x, memory);
  check_matrix(where, "pages", x.pages, x.query.batch, x.pages.cols);
  require_as(where, "lengths.size()", std::ssize(x.lengths), x.query.batch, "query.batch");
  if (x.bias.data != nullptr) {
    check_per_head(where, "bias", x.bias, "query", x.query);
    require_as(where, "bias.rows", x.bias.rows, x.query.rows, "query.rows");
  }
  if (x.bounds.data != nullptr) {
    const Matrices<const Real> two{nullptr, x.key.batch, x.key.heads, 2, x.key.cols};
    check_as(where, "bounds", x.bounds, "key", two);
  }
  if (x.window < 0) throw_invalid_argument(where, "window", "must not be negative", x.window);
  if (x.sinks < 0) throw_invalid_argument(where, "sinks", "must not be negative", x.sinks);
  check_sequences(where, x);
}

}  // namespace fenchel::detail
