#pragma once

/// `PhiMoments`: weight, mean and covariance of any functions of one column.

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// Weight, mean and covariance of phi(t) for one column t: the sufficient statistics of theta . phi(t).
class FENCHEL_EXPORT PhiMoments {
 public:
  using Functions = std::vector<std::function<double(double)>>;

  /// Throws std::invalid_argument for no functions. They are called by several threads at once.
  explicit PhiMoments(Functions phi);

  /// Throws BadEntry where t or a phi(t) is not finite, or a weight is not or is negative, and
  /// std::domain_error when the weight or the mean overflows; it is then as before.
  void update(Rows<const double> rows, PerRow weights = 1.0);
  /// Whether the other one has the same functions cannot be seen: they must be as many.
  void merge(const PhiMoments& other) { moments_.merge(other.moments_); }
  [[nodiscard]] Bytes to_bytes() const { return moments_.to_bytes(); }
  /// Throws std::invalid_argument for what to_bytes does not write, and for another number of functions.
  [[nodiscard]] static PhiMoments from_bytes(std::span<const std::byte> bytes, Functions phi);
  void merge_bytes(std::span<const std::byte> bytes) { moments_.merge_bytes(bytes); }

  [[nodiscard]] index_t dimension() const noexcept { return moments_.dimension(); }
  [[nodiscard]] double weight() const noexcept { return moments_.weight(); }
  /// NaN without data, as the covariance.
  [[nodiscard]] Eigen::VectorXd mean() const { return moments_.mean(); }
  /// Divided by the weight.
  [[nodiscard]] Eigen::MatrixXd covariance() const { return moments_.covariance(); }

 private:
  std::shared_ptr<const Functions> phi_;
  Moments moments_;
};

static_assert(Statistics<PhiMoments>);

}  // namespace fenchel
