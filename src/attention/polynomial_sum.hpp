#pragma once

#include <Eigen/Core>
#include <span>

#include "fenchel/attention/polynomial_basis.hpp"

namespace fenchel::detail {

/// sum_i C(k, i) ((mean - centre) / width)^{k-i} moments[i] / width^i, k = 0, ..., degree: expectations of
/// the basis from central moments, or derivatives from those of the moments. Where moments[k] is not finite
/// neither is the k-th sum: it is that moment.
[[nodiscard]] Eigen::VectorXd polynomial_sum(const PolynomialBasis& psi, double mean,
                                             std::span<const double> moments);

}  // namespace fenchel::detail
