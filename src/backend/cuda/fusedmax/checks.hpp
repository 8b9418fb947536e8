#pragma once

#include <string_view>

#include "backend/cuda/checks.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cuda {

/// A shared gamma; those of rows are in the memory of the GPU.
inline void check_gamma(std::string_view where, const PerRow& gamma) {
  if (gamma.values == nullptr && !(gamma.shared >= 0 && gamma.shared < kInfinity)) {
    throw_domain_error(where, "gamma", "must be finite and not negative", gamma.shared);
  }
}

}  // namespace fenchel::cuda
