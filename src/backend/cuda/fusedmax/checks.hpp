#pragma once

#include <string_view>

#include "backend/cuda/checks.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cuda {

inline void check_gamma(std::string_view where, PerRow gamma, index_t rows) {
  check_per_row(where, "gamma", gamma, rows);
  if (!gamma.per_row() && !(gamma[0] >= 0 && gamma[0] < kInfinity)) {
    throw_domain_error(where, "gamma", "must be finite and not negative", gamma[0]);
  }
}

}  // namespace fenchel::cuda
