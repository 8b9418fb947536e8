#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backend/cuda/checks.hpp"
#include "fenchel/backend/dot_product_views.hpp"

namespace fenchel::cuda {

/// Rows of up to so many columns that can be read 16 bytes at a time.
template <class T>
void check_pieces(std::string_view where, const std::string& name, const Matrices<T>& view,
                  index_t most_columns) {
  constexpr index_t kPiece = 16 / sizeof(T);
  if (view.cols > most_columns || view.cols % kPiece != 0) {
    throw_invalid_argument(where, name + ".cols",
                           "must be a multiple of 8 up to " + std::to_string(most_columns), view.cols);
  }
  const auto check_stride = [&](const char* part, index_t stride) {
    if (stride % kPiece != 0) throw_invalid_argument(where, name + part, "must be a multiple of 8", stride);
  };
  check_stride(".batch_stride", view.batch_stride);
  check_stride(".head_stride", view.head_stride);
  check_stride(".row_stride", view.row_stride);
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  if (address % 16 != 0) {
    throw_invalid_argument(where, name + ".data", "must begin at a multiple of 16 bytes",
                           "a remainder of " + std::to_string(address % 16));
  }
}

}  // namespace fenchel::cuda
