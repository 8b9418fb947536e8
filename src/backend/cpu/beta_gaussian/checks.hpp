#pragma once

#include <string>
#include <string_view>

#include "backend/cpu/checks.hpp"
#include "fenchel/backend/cpu/beta_gaussian.hpp"

namespace fenchel::detail {

/// What the bulk functions ask of the distribution.
inline void check_params(std::string_view where, const cpu::BetaGaussianParams& p) {
  const index_t n = std::ssize(p.mu), rank = p.constants.dimension;
  if (n < 1) throw_invalid_argument(where, "mu.size()", "must be at least 1", n);
  if (rank < 1 || rank > n) {
    throw_invalid_argument(where, "constants.dimension", "must be in [1, " + std::to_string(n) + "]", rank);
  }
  const double am1 = p.constants.am1;
  if (!(2 + static_cast<double>(rank) * am1 > 0)) {
    throw_domain_error(where, "constants.am1", "must exceed -2 / " + std::to_string(rank), am1);
  }
  check_matrix(where, "whitening", p.whitening, rank, n);
  check_matrix(where, "factor", p.factor, n, rank);
}

}  // namespace fenchel::detail
