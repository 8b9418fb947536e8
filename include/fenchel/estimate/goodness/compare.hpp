#pragma once

/// `compare`: families by their scores on rows that were held out.

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/goodness/fit_scores.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"

namespace fenchel {

/// A family of one column by how it is fitted, to statistics where they suffice, and what the fit says of
/// rows.
struct Candidate {
  using OfMoments = std::function<RowScorer(const LineMoments&)>;
  using OfCounts = std::function<RowScorer(const CountHistogram&)>;
  using OfData = std::function<RowScorer(const Data&)>;

  std::string name;
  std::variant<OfMoments, OfCounts, OfData> fit;
};

/// fit(LineMoments), fit(CountHistogram) or fit(Data) gives a Fit.
template <class F>
[[nodiscard]] Candidate candidate(std::string name, F fit) {
  const auto scorer = [fit](const auto& of) { return row_scorer(fit(of).distribution); };
  if constexpr (std::invocable<F, const LineMoments&>)
    return {std::move(name), Candidate::OfMoments(scorer)};
  else if constexpr (std::invocable<F, const CountHistogram&>)
    return {std::move(name), Candidate::OfCounts(scorer)};
  else
    return {std::move(name), Candidate::OfData(scorer)};
}
/// The same fit to data, in as many passes as it needs.
template <class F>
[[nodiscard]] auto fit_to_data(const F& fit, const Data& data) {
  if constexpr (std::invocable<F, const LineMoments&>)
    return fit(collect(data, LineMoments()));
  else if constexpr (std::invocable<F, const CountHistogram&>)
    return fit(collect(data, CountHistogram()));
  else
    return fit(data);
}

struct ComparisonOptions {
  index_t folds = 10;
  std::uint64_t seed = 0;  ///< of the fold that each row is in
};

/// A mean score less another, with the standard error of the difference.
struct ScoreDifference {
  double value, standard_error;
};

/// How a family predicts rows that it was not fitted to. Scores are NaN where a fold has no fit.
struct HeldOutScore {
  std::string name;
  double crps;       ///< the mean continuous ranked probability score: less is better
  double log_score;  ///< the mean log density: more is better, -inf where a row is outside of the support
  double outside;    ///< the weight of those rows
  ScoreDifference crps_difference;  ///< to the winner
  ScoreDifference log_difference;   ///< to the largest log score; NaN where one of them is -inf
  bool close;           ///< whether the crps is less than two standard errors above that of the winner
  std::string failure;  ///< why there is no fit, else empty
};

/// The best first, by the crps, which is finite for every row.
struct Comparison {
  double weight;
  std::vector<HeldOutScore> scores;
};

/// Cross-validation: the rows are put into folds at random, each family is fitted to all folds but one and
/// scores the rows of that one. Families of moments take one pass for all folds, since statistics merge; the
/// others take theirs for each fold; scores take one more. The result does not depend on threads. The fold of
/// a row follows from its batch among those of its process, and from its place there.
///
/// Throws std::invalid_argument without candidates, for fewer than 2 folds, where some are of counts and
/// some of numbers, and where no family has a fit, and what collect throws.
[[nodiscard]] FENCHEL_EXPORT Comparison compare(const std::vector<Candidate>& candidates, const Data& data,
                                                const ComparisonOptions& options = {});

}  // namespace fenchel
