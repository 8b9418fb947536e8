#pragma once

/// `FitScores`: the log-likelihood and other scores of data under a distribution.

#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/goodness/probability_cells.hpp"
#include "fenchel/estimate/goodness/ranked_score.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// What a distribution says of a row; NaN is what it does not have.
struct RowScore {
  double log_density;   ///< or the logarithm of a probability; -inf outside of the support
  double ranked;        ///< the continuous ranked probability score, of one column
  double below, above;  ///< P(X <= t) and P(X > t), of a density on the line
};
/// Called by several threads at once.
using RowScorer = std::function<RowScore(std::span<const double> row)>;

/// Of a density on the line.
template <LineDistribution P>
[[nodiscard]] RowScorer row_scorer(const P& p) {
  return [p, ranked = ranked_score(p)](std::span<const double> row) {
    const double t = row[0];
    return RowScore{log_pdf(p, t), ranked(t), cdf(p, t), survival(p, t)};
  };
}
/// On the integers; other numbers are outside of the support.
template <TabulatedIntegers P>
[[nodiscard]] RowScorer row_scorer(const P& p) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return [p, ranked = ranked_score(p)](std::span<const double> row) {
    const double t = std::floor(row[0]);
    const bool integer = t == row[0] && std::abs(t) <= 0x1p53;
    return RowScore{integer ? log_pmf(p, static_cast<index_t>(t)) : -kInfinity, ranked(t), kNone, kNone};
  };
}
/// In R^N.
[[nodiscard]] FENCHEL_EXPORT RowScorer row_scorer(const MultivariateBetaGaussian& p);

/// The scores of rows under one distribution, summed by weight.
class FENCHEL_EXPORT FitScores {
 public:
  FitScores(RowScorer scorer, index_t columns);

  /// Throws BadEntry for values that are not finite and weights that are not or are negative, and
  /// std::domain_error when the weight overflows; it is then as before.
  void update(Rows<const double> rows, PerRow weights = 1.0);
  /// Whether the other one has the same distribution cannot be seen.
  void merge(const FitScores& other);
  [[nodiscard]] Bytes to_bytes() const;
  /// Throws std::invalid_argument for what to_bytes does not write.
  void merge_bytes(std::span<const std::byte> bytes);

  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  /// Of the rows outside of the support, where the density is 0.
  [[nodiscard]] double outside() const noexcept { return outside_.value(); }
  /// The sum over the rows inside, and over all: -inf where one is outside.
  [[nodiscard]] double log_likelihood_inside() const noexcept { return log_likelihood_.value(); }
  [[nodiscard]] double log_likelihood() const noexcept;
  /// The mean ranked score; NaN without data, and in R^N.
  [[nodiscard]] double ranked() const noexcept { return (ranked_ / weight_).value(); }
  /// Empty but for densities on the line.
  [[nodiscard]] const ProbabilityCells& probabilities() const noexcept { return probabilities_; }

 private:
  RowScorer scorer_;
  index_t columns_;
  DoubleDouble weight_, outside_, log_likelihood_, ranked_;
  ProbabilityCells probabilities_;
};

static_assert(Statistics<FitScores>);

}  // namespace fenchel
