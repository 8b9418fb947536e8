#pragma once

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "backend/cpu/checks.hpp"
#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/error.hpp"

/// What attention over keys asks of its arguments, on the CPU and on a GPU.
namespace fenchel::detail {

/// Refuses what it gets but for `expected`, which another argument has.
inline void require_as(std::string_view where, const std::string& name, index_t got, index_t expected,
                       std::string_view other) {
  if (got == expected) return;
  throw_invalid_argument(where, name, ("must be " + std::to_string(expected) + ", as ").append(other), got);
}

/// Matrices that can be read, or written where T is not const.
template <class T>
void check_matrices(std::string_view where, std::string_view name, const Matrices<T>& view) {
  const std::string prefix(name);
  const auto require = [&](const char* part, index_t got, index_t least, const char* constraint) {
    if (got < least) throw_invalid_argument(where, prefix + part, constraint, got);
  };
  require(".batch", view.batch, 0, "must not be negative");
  require(".heads", view.heads, 0, "must not be negative");
  require(".rows", view.rows, 0, "must not be negative");
  if (view.batch == 0 || view.heads == 0 || view.rows == 0) return;
  require(".cols", view.cols, 1, "must be at least 1");
  if (view.data == nullptr) {
    throw_invalid_argument(where, prefix + ".data", "must not be null", "a null pointer");
  }
  if (view.step != 1) throw_invalid_argument(where, prefix + ".step", "must be 1", view.step);
  const index_t distance = view.row_stride < 0 ? -view.row_stride : view.row_stride;
  if (!std::is_const_v<T> && view.rows > 1 && distance < view.cols) {
    throw_invalid_argument(where, prefix + ".row_stride",
                           "must be at least cols, so that rows do not overlap", view.row_stride);
  }
}

/// A matrix for each head of the queries, or, with `heads_of` the keys, for each of theirs.
template <class T, class U>
void check_per_head(std::string_view where, std::string_view name, const Matrices<T>& view,
                    std::string_view heads_of, const Matrices<U>& other) {
  const std::string prefix(name), source(heads_of);
  require_as(where, prefix + ".batch", view.batch, other.batch, source + ".batch");
  require_as(where, prefix + ".heads", view.heads, other.heads, source + ".heads");
}

/// The same shape as `other`.
template <class T, class U>
void check_as(std::string_view where, std::string_view name, const Matrices<T>& view,
              std::string_view other_name, const Matrices<U>& other) {
  const std::string prefix(name), source(other_name);
  check_per_head(where, name, view, other_name, other);
  require_as(where, prefix + ".rows", view.rows, other.rows, source + ".rows");
  require_as(where, prefix + ".cols", view.cols, other.cols, source + ".cols");
  check_matrices(where, name, view);
}

/// The rows of the queries and the columns of the values: the output, or its cotangent.
template <class Products, class T>
void check_output(std::string_view where, std::string_view name, const Products& x, const Matrices<T>& view) {
  const std::string prefix(name);
  check_per_head(where, name, view, "query", x.query);
  require_as(where, prefix + ".rows", view.rows, x.query.rows, "query.rows");
  require_as(where, prefix + ".cols", view.cols, x.value.cols, "value.cols");
  check_matrices(where, name, view);
}

/// A row for each query, as the record has them.
template <class Real, class T>
void check_query_rows(std::string_view where, std::string_view name, const DotProducts<Real>& x, Rows<T> view,
                      index_t cols) {
  check_matrix(where, name, view, x.query.batch * x.query.heads * x.query.rows, cols);
}

/// Where numbers for each head are: those in the memory of a GPU cannot be looked at.
enum class NumbersOn { kCpu, kGpu };

/// One number, or one for each head of the queries, of which all meet the constraint.
template <class Holds>
void check_per_head_numbers(std::string_view where, std::string_view name, PerRow values, index_t heads,
                            std::string_view constraint, NumbersOn memory, Holds holds) {
  if (values.per_row() && values.size() != heads) {
    throw_invalid_argument(where, std::string(name) + ".size()",
                           "must equal the number of heads, " + std::to_string(heads), values.size());
  }
  if (values.per_row() && memory == NumbersOn::kGpu) return;
  for (index_t h = 0; h < values.size(); ++h) {
    if (holds(values[h])) continue;
    throw_domain_error(where, values.per_row() ? indexed(name, h) : std::string(name), constraint, values[h]);
  }
}

/// As messages show it.
inline std::string show_range(const KeyRange& range) {
  return "(" + std::to_string(range.origin) + ", " + std::to_string(range.first) + ", " +
         std::to_string(range.last) + ")";
}

/// Ranges of n queries in each member, among m keys.
inline void check_range_values(std::string_view where, std::span<const KeyRange> ranges, index_t n,
                               index_t m) {
  for (index_t i = 0; i < std::ssize(ranges); ++i) {
    const KeyRange& own = ranges[static_cast<std::size_t>(i)];
    if (!(0 <= own.origin && own.origin <= own.first && own.first <= own.last && own.last <= m)) {
      throw_invalid_argument(
          where, indexed("ranges", i),
          "must be (origin, first, last) with 0 <= origin <= first <= last <= " + std::to_string(m),
          show_range(own));
    }
    if (i % n == 0) continue;
    const KeyRange& before = ranges[static_cast<std::size_t>(i - 1)];
    if (before.origin <= own.origin && before.first <= own.first && before.last <= own.last) continue;
    throw_invalid_argument(where, indexed("ranges", i),
                           "must not be less than " + indexed("ranges", i - 1) + " = " + show_range(before),
                           show_range(own));
  }
}

template <class Real>
void check_ranges(std::string_view where, const DotProducts<Real>& x, NumbersOn memory) {
  if (x.sinks < 0) throw_invalid_argument(where, "sinks", "must not be negative", x.sinks);
  if (x.ranges == nullptr) return;
  if (x.causal) throw_invalid_argument(where, "causal", "must be false beside ranges", "true");
  if (memory == NumbersOn::kGpu) return;
  const auto count = static_cast<std::size_t>(x.query.batch * x.query.rows);
  check_range_values(where, {x.ranges, count}, x.query.rows, x.key.rows);
}

/// Keys and values for queries, which are right, with alphas and scales; but for the batch of the keys.
template <class Products>
void check_heads(std::string_view where, const Products& x, NumbersOn memory) {
  const index_t heads = x.query.heads;
  if (heads > 0 && (x.key.heads < 1 || heads % x.key.heads != 0)) {
    throw_invalid_argument(where, "key.heads", "must divide query.heads = " + std::to_string(heads),
                           x.key.heads);
  }
  require_as(where, "key.cols", x.key.cols, x.query.cols, "query.cols");
  check_matrices(where, "key", x.key);
  check_per_head(where, "value", x.value, "key", x.key);
  require_as(where, "value.rows", x.value.rows, x.key.rows, "key.rows");
  check_matrices(where, "value", x.value);
  check_per_head_numbers(where, "alpha", x.alpha, heads, "must be at least 1", memory,
                         [](double alpha) { return alpha >= 1; });
  check_per_head_numbers(where, "scale", x.scale, heads, "must be finite", memory,
                         [](double scale) { return std::isfinite(scale); });
}

template <class Real>
void check_dot_products(std::string_view where, const DotProducts<Real>& x,
                        NumbersOn memory = NumbersOn::kCpu) {
  check_matrices(where, "query", x.query);
  require_as(where, "key.batch", x.key.batch, x.query.batch, "query.batch");
  check_heads(where, x, memory);
  const auto check_scores_shape = [&](std::string_view name, const auto& view) {
    if (view.data == nullptr) return;
    const std::string prefix(name);
    check_per_head(where, name, view, "query", x.query);
    require_as(where, prefix + ".rows", view.rows, x.query.rows, "query.rows");
    require_as(where, prefix + ".cols", view.cols, x.key.rows, "key.rows");
  };
  check_scores_shape("mask", x.mask);
  check_scores_shape("bias", x.bias);
  check_ranges(where, x, memory);
  if (!(x.dropout >= 0 && x.dropout < 1))
    throw_domain_error(where, "dropout", "must be in [0, 1)", x.dropout);
  if (x.dropout > 0 && x.seed == nullptr)
    throw_invalid_argument(where, "seed", "must not be null", "a null pointer");
}

/// Whether there is no query.
template <class Real>
[[nodiscard]] bool has_no_query(const DotProducts<Real>& x) noexcept {
  return x.query.batch == 0 || x.query.heads == 0 || x.query.rows == 0;
}

}  // namespace fenchel::detail
