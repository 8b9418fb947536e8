#pragma once

/// `PredictionScore`: how well a regression predicts rows, in sums that merge.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/estimate/regression/determination.hpp"
#include "fenchel/estimate/regression/regression.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/moments.hpp"

namespace fenchel {

/// How well predictions meet rows that they need not have been fitted to. Scores of parts, such as the folds
/// of a cross-validation with a fit for each, merge to that of all rows.
class FENCHEL_EXPORT PredictionScore {
 public:
  /// Of no rows.
  PredictionScore();
  /// The moments of y, the prediction, the residual, the loss, the ranked score, and 1 where y is in the
  /// support, else 0.
  explicit PredictionScore(Moments moments);

  void merge(const PredictionScore& other) { moments_.merge(other.moments_); }

  [[nodiscard]] double weight() const noexcept { return moments_.weight(); }
  /// Of the means of the predictions, about the mean of y in these rows (docs/math.md 9).
  [[nodiscard]] Determination determination() const;
  /// The mean of the loss that the fit has minimised, without its penalty; NaN without rows, as the others.
  [[nodiscard]] double loss() const;
  /// The mean ranked_score of the predictions, in the unit of y: it compares alphas, as the loss does not.
  [[nodiscard]] double ranked() const;
  /// The share of the weight where y is in the support of its prediction, ends included.
  [[nodiscard]] double coverage() const;

 private:
  Moments moments_;
};

/// Columns: y, then the features, in one pass. Throws std::invalid_argument unless there is a feature for
/// each coefficient, and DataError, which names the row, where sigma is 0 or the loss is no double.
[[nodiscard]] FENCHEL_EXPORT PredictionScore score_predictions(const RegressionFit& fit, const Data& data);

/// The moments of the ranked scores of the same rows under several fits, a column for each: the covariances
/// say how sure a difference of two means is. Throws as score_predictions does.
[[nodiscard]] FENCHEL_EXPORT Moments ranked_scores(std::span<const RegressionFit> fits, const Data& data);

/// A mean ranked score, and how much larger it is than the least of those that it is compared with.
struct RankedDifference {
  double ranked;
  double difference;      ///< 0 of the least
  double standard_error;  ///< of the difference, for rows that are independent
};
/// Of each column of ranked_scores. NaN without data.
[[nodiscard]] FENCHEL_EXPORT std::vector<RankedDifference> ranked_differences(const Moments& scores);

}  // namespace fenchel
