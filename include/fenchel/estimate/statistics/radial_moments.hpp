#pragma once

/// `RadialMoments`: the radial moments of rows, for Mardia's kurtosis.

#include <span>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// The means of q and q^2 over rows x, q = (x - mean)^T covariance^-1 (x - mean): a second pass, after
/// Moments. With the data's own mean and covariance the mean of q is the dimension, and that of q^2 is
/// Mardia's kurtosis [Mardia 1970].
class FENCHEL_EXPORT RadialMoments {
 public:
  /// Throws std::invalid_argument when the shapes differ, std::domain_error unless the mean is finite and the
  /// covariance is positive definite.
  RadialMoments(Eigen::VectorXd mean, Eigen::MatrixXd covariance);

  /// Throws BadEntry for values that are not finite and weights that are not or are negative, and
  /// std::domain_error when the weight overflows; it is then as before.
  void update(Rows<const double> rows, PerRow weights = 1.0);
  /// Throws std::invalid_argument when the mean or the covariance differs.
  void merge(const RadialMoments& other);
  [[nodiscard]] Bytes to_bytes() const;
  /// Throws std::invalid_argument for what to_bytes does not write.
  [[nodiscard]] static RadialMoments from_bytes(std::span<const std::byte> bytes);
  void merge_bytes(std::span<const std::byte> bytes) { merge(from_bytes(bytes)); }

  [[nodiscard]] index_t dimension() const noexcept { return mean_.size(); }
  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  /// Of q and of q^2; NaN without data, infinite where they overflow.
  [[nodiscard]] double mean() const noexcept { return (first_ / weight_).value(); }
  [[nodiscard]] double mean_square() const noexcept { return (second_ / weight_).value(); }

 private:
  Eigen::VectorXd mean_;
  Eigen::MatrixXd covariance_, factor_;   ///< factor_ is lower triangular, factor_ factor_^T = covariance_
  DoubleDouble weight_, first_, second_;  ///< sums of w q^n
};

static_assert(Statistics<RadialMoments>);

}  // namespace fenchel
