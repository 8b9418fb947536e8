#pragma once

/// `LineMoments`: weight, mean, central moments to the fourth and extremes of one column.

#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// Weight, mean, central moments to the fourth and extremes of one column. They do not depend on how the data
/// was split beyond 1e-13: the mean and the moments of the mean of |t| and of |t - mean|^n. Kept are sums of
/// w (t - mean)^n, which must be in the range of doubles.
class FENCHEL_EXPORT LineMoments {
 public:
  LineMoments() = default;
  [[nodiscard]] static LineMoments of(std::span<const double> values, std::span<const double> weights = {});

  /// Throws BadEntry for values that are not finite and weights that are not or are negative, and
  /// std::domain_error when the weight or the mean overflows; it is then as before.
  void update(Rows<const double> rows, PerRow weights = 1.0);
  void merge(const LineMoments& other);
  [[nodiscard]] Bytes to_bytes() const;
  /// Throws std::invalid_argument for what to_bytes does not write.
  [[nodiscard]] static LineMoments from_bytes(std::span<const std::byte> bytes);
  void merge_bytes(std::span<const std::byte> bytes) { merge(from_bytes(bytes)); }

  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  /// NaN without data, as all moments.
  [[nodiscard]] double mean() const noexcept;
  /// The second central moment, divided by the weight. Infinite where squares overflow, 0 where they
  /// underflow.
  [[nodiscard]] double variance() const noexcept { return (second_ / weight_).value(); }
  /// The mean of (t - mean)^n for n = 2, 3, 4; throws std::domain_error for another n.
  [[nodiscard]] double central_moment(int n) const;
  /// Infinity without data; the maximum is then minus infinity.
  [[nodiscard]] double minimum() const noexcept { return minimum_; }
  [[nodiscard]] double maximum() const noexcept { return maximum_; }

 private:
  DoubleDouble weight_, mean_, second_, third_, fourth_;  ///< sums of w (t - mean)^n
  double minimum_ = kInfinity;
  double maximum_ = -kInfinity;
};

static_assert(Statistics<LineMoments>);

}  // namespace fenchel
