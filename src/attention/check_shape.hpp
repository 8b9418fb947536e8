#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>

#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Throws std::invalid_argument unless m is rows x cols.
template <class Matrix>
void check_shape(std::string_view where, std::string_view name, const Eigen::MatrixBase<Matrix>& m,
                 index_t rows, index_t cols) {
  const auto require = [&](std::string_view part, index_t got, index_t expected) {
    if (got == expected) return;
    throw_invalid_argument(where, std::string(name).append(part), "must be " + shortest(expected), got);
  };
  require(".rows()", m.rows(), rows);
  require(".cols()", m.cols(), cols);
}

}  // namespace fenchel::detail
