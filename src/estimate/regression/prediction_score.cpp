#include "fenchel/estimate/regression/prediction_score.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/estimate/goodness/ranked_score.hpp"
#include "fenchel/loss/quadratic.hpp"

namespace fenchel {
namespace {

enum Column : index_t { kTruth, kPrediction, kResidual, kLoss, kRanked, kInside, kColumns };

double loss_of(const RegressionFit& fit, const BetaGaussian& p, double y) {
  if (fit.noise_loss == NoiseLoss::likelihood) return -log_pdf(p, y);
  return cross_omega(Tsallis(fit.alpha), score(p), Line(), Dirac{y}).value;
}

/// Appends what is collected of a row.
using Score = std::function<void(std::span<const double> row, std::vector<double>& scores)>;

/// The scores of each row, in its place.
class ScoredSource final : public BatchSource {
 public:
  ScoredSource(const BatchSource& rows, index_t columns, Score score)
      : rows_(rows), score_(std::move(score)), names_(static_cast<std::size_t>(columns)) {}

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return names_; }
  [[nodiscard]] index_t batches() const noexcept override { return rows_.batches(); }
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override {
    return rows_.place(batch, row, column == kWeightColumn ? column : 0);
  }

  void read(index_t i, Batch& batch) const override {
    Batch rows;
    rows_.read(i, rows);
    const index_t count = rows.rows.rows;
    batch.storage.clear();
    for (index_t k = 0; k < count; ++k) {
      try {
        score_(rows.rows[k], batch.storage);
      } catch (const std::domain_error& error) {
        throw DataError(rows_.place(i, k, 0) + ": " + error.what());
      }
    }
    const std::size_t weights = batch.storage.size();
    batch.storage.insert(batch.storage.end(), rows.weights.begin(), rows.weights.end());
    batch.rows = {batch.storage.data(), count, columns()};
    batch.weights = std::span(batch.storage).subspan(weights);
    batch.owner.reset();
  }

 private:
  const BatchSource& rows_;
  Score score_;
  std::vector<std::string> names_;
};

void check_columns(const char* where, const RegressionFit& fit, const Data& data) {
  if (data.source.columns() != fit.mean_coefficients.size() + 1)
    throw_invalid_argument(
        where, "columns",
        "must be y and a feature for each of " + shortest(fit.mean_coefficients.size()) + " coefficients",
        data.source.columns());
}

Moments collect_scores(const Data& data, index_t columns, Score score) {
  const ScoredSource scored(data.source, columns, std::move(score));
  return collect({scored, data.processes, data.progress}, Moments(columns));
}

}  // namespace

PredictionScore::PredictionScore() : moments_(kColumns) {}
PredictionScore::PredictionScore(Moments moments) : moments_(std::move(moments)) {}

Determination PredictionScore::determination() const {
  const Eigen::MatrixXd covariance = moments_.covariance();
  const double bias = moments_.mean()[kResidual], square = covariance(kResidual, kResidual) + bias * bias;
  return {1 - square / covariance(kTruth, kTruth), 1 - square / covariance(kPrediction, kPrediction)};
}

double PredictionScore::loss() const { return moments_.mean()[kLoss]; }
double PredictionScore::ranked() const { return moments_.mean()[kRanked]; }
double PredictionScore::coverage() const { return moments_.mean()[kInside]; }

PredictionScore score_predictions(const RegressionFit& fit, const Data& data) {
  check_columns("score_predictions", fit, data);
  const auto score = [&](std::span<const double> row, std::vector<double>& scores) {
    const BetaGaussian p = predict(fit, row.subspan(1));
    const double y = row[0], prediction = mean(p), inside = support(p).contains(y) ? 1 : 0;
    scores.insert(scores.end(),
                  {y, prediction, y - prediction, loss_of(fit, p, y), ranked_score(p)(y), inside});
  };
  return PredictionScore(collect_scores(data, kColumns, score));
}

Moments ranked_scores(std::span<const RegressionFit> fits, const Data& data) {
  for (const RegressionFit& fit : fits) check_columns("ranked_scores", fit, data);
  const auto score = [&](std::span<const double> row, std::vector<double>& scores) {
    for (const RegressionFit& fit : fits)
      scores.push_back(ranked_score(predict(fit, row.subspan(1)))(row[0]));
  };
  return collect_scores(data, static_cast<index_t>(fits.size()), score);
}

std::vector<RankedDifference> ranked_differences(const Moments& scores) {
  const Eigen::VectorXd mean = scores.mean();
  const Eigen::MatrixXd covariance = scores.covariance();
  index_t best = 0;
  for (index_t k = 1; k < mean.size(); ++k) best = mean[k] < mean[best] ? k : best;
  std::vector<RankedDifference> differences;
  for (index_t k = 0; k < mean.size(); ++k) {
    const double variance = covariance(k, k) + covariance(best, best) - 2 * covariance(k, best);
    differences.push_back(
        {mean[k], mean[k] - mean[best], std::sqrt(std::max(0.0, variance) / scores.weight())});
  }
  return differences;
}

}  // namespace fenchel
