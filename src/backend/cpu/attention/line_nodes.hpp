#pragma once

#include "backend/cpu/attention/row.hpp"

/// Rules for E_p[g] whose nodes all functions of a row share: what is left for a pair and a node is one
/// exponential.
namespace fenchel::detail {

/// E_p[g] = sum_i weight_i g(mu + scale place_i); d scale / d sigma2 = scale sigma2_rate.
struct LineNodes {
  index_t size;
  const double *place, *weight;
  double scale, sigma2_rate;
};

/// Functions [begin, end) of a row, whole blocks; not for derivatives in alpha.
void attend_nodes(const LineNodes& nodes, double mu, const LineFunctions& psi, index_t begin, index_t end,
                  Wanted wanted, Accuracy accuracy, RowBlocks out) noexcept;

}  // namespace fenchel::detail
