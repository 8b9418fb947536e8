#pragma once

/// The mean loss of data and its gradient, summed over batches and processes.

#include <functional>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel {

/// The loss of some rows and its gradient in the parameters: sums, weighted, in double-double.
class FENCHEL_EXPORT ObjectiveSum {
 public:
  explicit ObjectiveSum(index_t parameters) : gradient_(static_cast<std::size_t>(parameters)) {}

  /// Adds sums over a batch.
  void add(double weight, double value, const Eigen::VectorXd& gradient);
  void merge(const ObjectiveSum& other);
  [[nodiscard]] Bytes to_bytes() const;
  void merge_bytes(std::span<const std::byte> bytes);

  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  /// The weighted means.
  [[nodiscard]] double value() const noexcept { return (value_ / weight_).value(); }
  [[nodiscard]] Eigen::VectorXd gradient() const;

 private:
  DoubleDouble weight_, value_;
  std::vector<DoubleDouble> gradient_;
};

/// Adds the losses of the rows of a batch and their gradients at the parameters x to a sum; throws BadEntry.
using BatchLoss =
    std::function<void(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights, ObjectiveSum& sum)>;

/// The mean loss over all rows in all processes and its gradient; the x of the first process serves for all.
[[nodiscard]] FENCHEL_EXPORT ObjectiveSum mean_loss(const Data& data, const BatchLoss& loss,
                                                    const Eigen::VectorXd& x);

}  // namespace fenchel
