#pragma once

#include <string>
#include <string_view>

#include "backend/cuda/checks.hpp"
#include "fenchel/backend/cuda/beta_gaussian.hpp"

namespace fenchel::cuda {

/// What the bulk functions ask of the distribution, as on the CPU.
inline void check_params(std::string_view where, const BetaGaussianParams& p) {
  const index_t n = p.size, rank = p.constants.dimension;
  if (n < 1) throw_invalid_argument(where, "size", "must be at least 1", n);
  if (rank < 1 || rank > n) {
    throw_invalid_argument(where, "constants.dimension", "must be in [1, " + std::to_string(n) + "]", rank);
  }
  const double am1 = p.constants.am1;
  if (!(2 + static_cast<double>(rank) * am1 > 0)) {
    throw_domain_error(where, "constants.am1", "must exceed -2 / " + std::to_string(rank), am1);
  }
}

/// The view has a column a coordinate.
template <class T>
void check_points(std::string_view where, std::string_view name, const BetaGaussianParams& p,
                  const DeviceRows<T>& view) {
  check_view(where, name, view);
  if (view.rows > 0 && view.cols != p.size) {
    throw_invalid_argument(where, std::string(name) + ".cols", "must equal size = " + std::to_string(p.size),
                           view.cols);
  }
}

}  // namespace fenchel::cuda
