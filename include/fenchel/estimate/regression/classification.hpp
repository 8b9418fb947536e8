#pragma once

/// `fit_classification`: linear classification with the entmax loss.

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"
#include "fenchel/estimate/regression/minimize.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

/// Linear classification: the class of a row has distribution entmax_alpha(W x + b), multinomial logistic
/// regression at alpha = 1, and the mean Fenchel-Young loss [SCD22, Section 4.2; docs/math.md 2] is
/// minimised, which is convex in W and b.
namespace fenchel {

enum class Labels {
  index,  ///< one column: the class, 0, 1, ...
  soft,   ///< a column for each class: its probability
};

struct ClassificationOptions {
  double alpha = 1.5;  ///< positive and finite
  index_t classes = 2;
  Labels labels = Labels::index;
  /// Half of it times the sum of squares of W, for standardised features, is added to the mean loss.
  double penalty = 0.01;
  MinimizeOptions minimize = {};
};

/// The rows of W add up to 0, as do the intercepts: the same vector added to all of them changes no
/// prediction. Classes that a W separates have a loss of exactly 0 for alpha > 1, from a margin of 1 / (alpha
/// - 1) on; for alpha <= 1 there is then no minimum without penalty, and the search ends where the gradient
/// is within the tolerance, at large coefficients.
struct ClassificationFit {
  double alpha;
  std::vector<std::string> names;  ///< of the features
  Eigen::MatrixXd coefficients;    ///< W: a row for each class, a column for each feature
  Eigen::VectorXd intercepts;
  double loss;      ///< the mean Fenchel-Young loss, without the penalty
  double weight;    ///< of all rows
  double residual;  ///< the largest entry of the gradient, for standardised features
  int iterations;
  MinimizeStatus status;
};

/// Columns: the labels, then the features, of which there may be none. Throws std::domain_error for options
/// that mean nothing and a feature that is constant unless the penalty is positive (its coefficients are 0
/// then); DataError for labels that are no class, or no probabilities that add up to one within
/// cpu::kTargetSumTolerance (they are divided by their sum); Cancelled by data.progress.
[[nodiscard]] FENCHEL_EXPORT ClassificationFit fit_classification(const Data& data,
                                                                  const ClassificationOptions& options = {});

/// The distribution of the class at these features. Throws std::invalid_argument unless there is one for each
/// column of W, std::domain_error where a score is not finite.
[[nodiscard]] FENCHEL_EXPORT SparseCategorical predict(const ClassificationFit& fit,
                                                       std::span<const double> features);

/// The same for each row, as probabilities of all classes; NaN where a score is not finite. Throws
/// std::invalid_argument for shapes that do not fit.
FENCHEL_EXPORT void probabilities(const ClassificationFit& fit, Rows<const double> features, Rows<double> p);

}  // namespace fenchel
