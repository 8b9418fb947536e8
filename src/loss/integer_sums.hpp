#pragma once

#include <array>

#include "fenchel/distribution/integers/integer_prediction.hpp"
#include "fenchel/loss/integers.hpp"

namespace fenchel::detail {

enum class LossKind { fenchel_young, cross_omega };

/// A loss at temperature one, the sums of (p - q) x and (p - q) (x / unit)^2, x = t - centre, and its slope
/// in alpha.
struct IntegerLossSums {
  double value, first, second, alpha;
};

[[nodiscard]] IntegerLossSums integer_loss_sums(LossKind kind, const IntegerPrediction& p,
                                                const IntegerTarget& q, double centre, double unit = 1);

/// cov_{p, beta} of (x, x^2), x = t - mode, row by row, for a table with tails in which it exists; of degree
/// 1 the first entry alone.
[[nodiscard]] std::array<double, 4> heavy_covariance(const IntegerTable& p, double beta, int degree);

}  // namespace fenchel::detail
