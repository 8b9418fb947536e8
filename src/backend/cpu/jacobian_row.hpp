#pragma once

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// out = J v for one row, J = diag(s) - s s^T / sum(s), s = p^{2-alpha} where p is not 0. out may be v.
/// `scratch` holds a row. Blocks of zeros in p cost one look. Compiled for several instruction sets.
void jacobian_row(const float* p, index_t n, double alpha, const float* v, float* scratch,
                  float* out) noexcept;
void jacobian_row(const double* p, index_t n, double alpha, const double* v, double* scratch,
                  double* out) noexcept;

}  // namespace fenchel::detail
