#pragma once

/// `KernelRegression`: a regression without a form, by local means or local lines.

#include <memory>
#include <span>
#include <utility>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel {

/// What is fitted to the rows near a point: a constant [E. Nadaraya, Theory Probab. Appl. 9 (1964); G.
/// Watson, Sankhya A 26 (1964)] or a linear function [J. Fan, J. Am. Stat. Assoc. 87 (1992)].
enum class LocalFit { mean, line };

/// m(t), the value at t of the constant or the linear function that has the least sum of w_i K((t - x_i) / h)
/// (y_i - m(x_i))^2, K the kernel of KernelDensity (docs/math.md 10.5). Where the kernels end, m(t) depends
/// on the rows within their reach alone. Local means are ratios of two sums by the tree; local lines sum
/// over the rows in reach. Copies share the data.
class FENCHEL_EXPORT KernelRegression {
 public:
  /// Throws as KernelDensity does, std::domain_error for a target that is not finite, std::invalid_argument
  /// unless there is a target for each row.
  KernelRegression(Rows<const double> points, std::span<const double> targets, double alpha,
                   std::span<const double> bandwidth, std::span<const double> weights = {},
                   LocalFit fit = LocalFit::line);

  /// The same data with each bandwidth times `factor`, in no time.
  [[nodiscard]] KernelRegression scaled(double factor) const;

  [[nodiscard]] index_t dimension() const noexcept;
  [[nodiscard]] double alpha() const noexcept;
  [[nodiscard]] double bandwidth(index_t j) const noexcept;
  [[nodiscard]] LocalFit fit() const noexcept;

  /// m at rows of N columns: NaN where no row is in reach, and for NaN. Where the rows in reach lie in a
  /// subspace, a local line does not vary across it. A row's result depends on that row alone.
  void predict_rows(Rows<const double> t, std::span<double> out) const;
  /// The mean of (y_i - m_i(x_i))^2, m_i by all other rows; by their mean where none is in reach. What
  /// least-squares cross-validation minimises. Throws std::domain_error unless there are two rows.
  [[nodiscard]] double least_squares_score() const;

 private:
  struct State;
  explicit KernelRegression(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// A regression with the bandwidth that cross-validation found, by one factor of those of Silverman's rule;
/// at_end as in SelectedDensity.
struct SelectedRegression {
  KernelRegression regression;
  bool at_end;
};
[[nodiscard]] FENCHEL_EXPORT SelectedRegression select_regression(Rows<const double> points,
                                                                  std::span<const double> targets,
                                                                  double alpha,
                                                                  std::span<const double> weights = {},
                                                                  LocalFit fit = LocalFit::line);

}  // namespace fenchel
