#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fenchel/core/error.hpp"
#include "fenchel/core/rows.hpp"

/// What the batched operations ask of their arguments, each checked once, before any row is touched.
namespace fenchel::detail {

template <class T>
void check_view(std::string_view where, std::string_view name, Rows<T> view) {
  const std::string prefix(name);
  if (view.rows < 0) throw_invalid_argument(where, prefix + ".rows", "must not be negative", view.rows);
  if (view.rows == 0) return;
  if (view.cols < 1) throw_invalid_argument(where, prefix + ".cols", "must be at least 1", view.cols);
  if (view.data == nullptr) {
    throw_invalid_argument(where, prefix + ".data", "must not be null", "a null pointer");
  }
  const index_t distance = view.stride < 0 ? -view.stride : view.stride;
  if (!std::is_const_v<T> && view.rows > 1 && distance < view.cols) {
    throw_invalid_argument(where, prefix + ".stride", "must be at least cols, so that rows do not overlap",
                           view.stride);
  }
}

/// A view of this shape.
template <class T>
void check_matrix(std::string_view where, std::string_view name, Rows<T> view, index_t rows, index_t cols) {
  const auto require = [&](std::string_view part, index_t got, index_t expected) {
    if (got == expected) return;
    throw_invalid_argument(where, std::string(name).append(part), "must be " + std::to_string(expected), got);
  };
  require(".rows", view.rows, rows);
  require(".cols", view.cols, cols);
  check_view(where, name, view);
}

template <class T, class U>
void check_same_shape(std::string_view where, std::string_view name, Rows<T> view,
                      std::string_view other_name, Rows<U> other) {
  const auto require = [&](std::string_view part, index_t got, index_t expected) {
    if (got == expected) return;
    throw_invalid_argument(where, std::string(name).append(part),
                           std::string("must equal ")
                               .append(other_name)
                               .append(part)
                               .append(" = ")
                               .append(std::to_string(expected)),
                           got);
  };
  require(".rows", view.rows, other.rows);
  if (view.rows > 0) require(".cols", view.cols, other.cols);
  check_view(where, name, view);
}

/// Rows that are written may be the rows that are read, or lie apart from them.
template <class T>
void check_overlap(std::string_view where, std::string_view name, Rows<T> written,
                   std::string_view other_name, Rows<const T> read) {
  if (written.rows == 0 || (written.data == read.data && written.stride == read.stride)) return;
  const auto extent = [](auto view) {
    const auto* first = static_cast<const T*>(view.data);
    const auto* last = first + (view.rows - 1) * view.stride;
    return std::pair(std::min(first, last), std::max(first, last) + view.cols);
  };
  const auto [written_begin, written_end] = extent(written);
  const auto [read_begin, read_end] = extent(read);
  if (written_end <= read_begin || read_end <= written_begin) return;
  throw_invalid_argument(where, std::string(name) + ".data",
                         std::string("must be ").append(other_name).append(".data or not overlap it"),
                         "an offset of " + std::to_string(written.data - read.data));
}

/// As many values as there are rows.
inline void check_count(std::string_view where, std::string_view name, index_t got, index_t rows) {
  if (got != rows) {
    throw_invalid_argument(where, std::string(name) + ".size()",
                           "must equal the number of rows, " + std::to_string(rows), got);
  }
}

/// Each row, or group of rows, fills as many columns as its length says; the others are padding.
inline void check_lengths(std::string_view where, std::span<const index_t> lengths, index_t cols) {
  for (index_t i = 0; i < std::ssize(lengths); ++i) {
    const index_t length = lengths[static_cast<std::size_t>(i)];
    if (length >= 1 && length <= cols) continue;
    throw_invalid_argument(where, indexed("lengths", i), "must be in [1, " + std::to_string(cols) + "]",
                           length);
  }
}

inline void check_alpha(std::string_view where, PerRow alpha, index_t rows) {
  if (alpha.per_row()) check_count(where, "alpha", alpha.size(), rows);
  for (index_t i = 0; i < alpha.size(); ++i) {
    if (alpha[i] > 0) continue;
    throw_domain_error(where, alpha.per_row() ? indexed("alpha", i) : "alpha", "must be positive", alpha[i]);
  }
}

}  // namespace fenchel::detail
