#pragma once

/// `Moments`: weight, mean and covariance of rows.

#include <span>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// Weight, mean and covariance of rows. They do not depend on how the data was split beyond 1e-13: the mean
/// of the mean of |x_i|, the covariance of x_i and x_j of the product of their standard deviations.
class FENCHEL_EXPORT Moments {
 public:
  /// Throws std::invalid_argument unless the dimension is positive.
  explicit Moments(index_t dimension);
  [[nodiscard]] static Moments of(Rows<const double> rows, PerRow weights = 1.0);

  /// Throws BadEntry for values that are not finite and weights that are not or are negative,
  /// std::invalid_argument for rows of another dimension, and std::domain_error when the weight or the mean
  /// overflows; it is then as before.
  void update(Rows<const double> rows, PerRow weights = 1.0);
  void merge(const Moments& other);
  [[nodiscard]] Bytes to_bytes() const;
  /// Throws std::invalid_argument for what to_bytes does not write.
  [[nodiscard]] static Moments from_bytes(std::span<const std::byte> bytes);
  void merge_bytes(std::span<const std::byte> bytes) { merge(from_bytes(bytes)); }

  [[nodiscard]] index_t dimension() const noexcept { return static_cast<index_t>(mean_.size()); }
  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  /// NaN without data, as the covariance.
  [[nodiscard]] Eigen::VectorXd mean() const;
  /// Divided by the weight. Where squares overflow it is not finite.
  [[nodiscard]] Eigen::MatrixXd covariance() const;

 private:
  DoubleDouble weight_;
  std::vector<DoubleDouble> mean_;
  std::vector<DoubleDouble> scatter_;  ///< sums of w (x_i - mean_i) (x_j - mean_j), j <= i, row by row
};

static_assert(Statistics<Moments>);

}  // namespace fenchel
