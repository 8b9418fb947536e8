#pragma once

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// draw_direction of fenchel/core/beta_gaussian_jet.hpp from normal variates, n of them rounded up to even.
template <class Normal>
FENCHEL_HD inline void fill_direction(double* out, index_t n, Normal normal) {
  double norm2 = 0;
  for (index_t j = 0; j < n + n % 2; ++j) {
    const double x = normal();
    norm2 += x * x;
    if (j < n) out[j] = x;
  }
  const double norm = std::sqrt(norm2);
  for (index_t j = 0; j < n; ++j) out[j] /= norm;
}

}  // namespace fenchel::detail
