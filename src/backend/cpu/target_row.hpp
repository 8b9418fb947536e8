#pragma once

#include "fenchel/core/index.hpp"

/// What losses over rows do with each row of soft targets, in vectors.
namespace fenchel::detail {

/// The sum of the targets, in double; NaN where one is negative or NaN.
double sum_of_targets(const float* q, index_t n) noexcept;
double sum_of_targets(const double* q, index_t n) noexcept;

/// p - q in place of p.
void subtract_targets(const float* q, index_t n, float* p) noexcept;
void subtract_targets(const double* q, index_t n, double* p) noexcept;

}  // namespace fenchel::detail
