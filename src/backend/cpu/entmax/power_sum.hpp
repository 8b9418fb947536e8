#pragma once

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// sum p (1 + am1 (z - A)) over the p > 0 of a row: sum p^alpha, in which a p near 0 keeps its digits. In
/// double.
double power_sum(const float* z, const float* p, index_t n, double am1, double top, double offset) noexcept;
double power_sum(const double* z, const double* p, index_t n, double am1, double top, double offset) noexcept;

}  // namespace fenchel::detail
