#pragma once

/// `CountHistogram`: the weight of each integer in one column.

#include <map>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// The weight of each integer in one column. Its memory grows with the number of different integers.
class FENCHEL_EXPORT CountHistogram {
 public:
  CountHistogram() = default;
  [[nodiscard]] static CountHistogram of(std::span<const double> values,
                                         std::span<const double> weights = {});

  /// Throws BadEntry for values that are no integers of absolute value at most 2^53 and weights that are not
  /// finite or are negative, and std::domain_error when the weight overflows; it is then as before.
  void update(Rows<const double> rows, PerRow weights = 1.0);
  void merge(const CountHistogram& other);
  [[nodiscard]] Bytes to_bytes() const;
  /// Throws std::invalid_argument for what to_bytes does not write.
  [[nodiscard]] static CountHistogram from_bytes(std::span<const std::byte> bytes);
  void merge_bytes(std::span<const std::byte> bytes) { merge(from_bytes(bytes)); }

  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  /// NaN without data, as the variance.
  [[nodiscard]] double mean() const noexcept;
  /// The second central moment, divided by the weight.
  [[nodiscard]] double variance() const noexcept;
  /// The integers with a positive weight, ascending, and their weights.
  [[nodiscard]] std::vector<index_t> values() const;
  [[nodiscard]] std::vector<double> weights() const;

 private:
  [[nodiscard]] DoubleDouble exact_mean() const noexcept;

  DoubleDouble weight_;
  std::map<index_t, DoubleDouble> table_;
};

static_assert(Statistics<CountHistogram>);

}  // namespace fenchel
