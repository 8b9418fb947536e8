#pragma once

#include <string>
#include <string_view>

#include "backend/dot_product/checks.hpp"
#include "fenchel/backend/cpu/cached_attention.hpp"

/// What attention to a cache asks of its arguments.
namespace fenchel::detail {

/// Rows of all pages are places of one table.
template <class T>
void check_pages_are_rows(std::string_view where, std::string_view name, const Matrices<T>& view) {
  if (view.batch < 2 || (view.row_stride > 0 && view.batch_stride % view.row_stride == 0)) return;
  throw_invalid_argument(where, std::string(name) + ".batch_stride",
                         "must be a multiple of row_stride, " + std::to_string(view.row_stride),
                         view.batch_stride);
}

/// The lengths, and those pages that they reach.
template <class Real>
void check_sequences(std::string_view where, const cpu::CachedDotProducts<Real>& x) {
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
void check_cached_products(std::string_view where, const cpu::CachedDotProducts<Real>& x) {
  check_matrices(where, "query", x.query);
  check_heads(where, x, NumbersOn::kCpu);
  check_pages_are_rows(where, "key", x.key);
  check_pages_are_rows(where, "value", x.value);
  check_matrix(where, "pages", x.pages, x.query.batch, x.pages.cols);
  require_as(where, "lengths.size()", std::ssize(x.lengths), x.query.batch, "query.batch");
  if (x.bias.data != nullptr) {
    check_per_head(where, "bias", x.bias, "query", x.query);
    require_as(where, "bias.rows", x.bias.rows, x.query.rows, "query.rows");
  }
  if (x.window < 0) throw_invalid_argument(where, "window", "must not be negative", x.window);
  if (x.sinks < 0) throw_invalid_argument(where, "sinks", "must not be negative", x.sinks);
  check_sequences(where, x);
}

}  // namespace fenchel::detail
