#pragma once

#include <vector>

#include "estimate/fit/spread.hpp"

namespace fenchel::detail {

/// The Fenchel-Young losses of Omega_alpha, alpha in (1/2, infinity), for the scores t theta - log t! and one
/// count each [SCD22, Section 5; docs/math.md 2, 3]: what loss/integers.hpp computes, without a table that
/// outlives it. Accurate to kCountLossError, relative to the larger of one and the value.
class CountLoss {
 public:
  struct Value {
    double loss;   ///< convex in theta; +infinity where more than 2^20 integers would be needed
    double slope;  ///< d loss / d theta, the predicted mean less the count
  };

  explicit CountLoss(double alpha) : am1_(alpha - 1) {}

  [[nodiscard]] Value operator()(double theta, double count);

  /// d^2 loss / d theta^2, the generalized variance of order 2 - alpha (E11), and the variance of the count.
  [[nodiscard]] Spread spread(double theta);

 private:
  /// False where it needs too many integers.
  [[nodiscard]] bool predict(double theta);

  double am1_;
  double mode_ = 0, offset_ = 0;      ///< offset: the normaliser A less the score of the mode
  std::vector<double> left_, right_;  ///< scores of the integers below and above the mode, less the mode's
  std::vector<double> p_;             ///< probabilities, from the first of them to the last
};

inline constexpr double kCountLossError = 1e-14;

}  // namespace fenchel::detail
