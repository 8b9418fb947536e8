#pragma once

#include "fenchel/core/index.hpp"

/// Products of a row of expectations with a value matrix, B, dimension x n row by row, summed in double.
namespace fenchel::detail {

/// <x, y>.
double dot(const double* x, const float* y, index_t n) noexcept;
double dot(const double* x, const double* y, index_t n) noexcept;

/// y += factor x.
void add_multiple(double factor, const float* x, index_t n, double* y) noexcept;
void add_multiple(double factor, const double* x, index_t n, double* y) noexcept;

/// y = x, rounded.
void store(const double* x, index_t n, float* y) noexcept;
void store(const double* x, index_t n, double* y) noexcept;

}  // namespace fenchel::detail
