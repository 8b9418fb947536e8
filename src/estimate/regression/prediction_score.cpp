#include "fenchel/estimate/regression/prediction_score.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/loss/quadratic.hpp"

namespace fenchel {
namespace {

enum Column : index_t { kTruth, kPrediction, kResidual, kLoss, kInside, kColumns };

double loss_of(const RegressionFit& fit, const BetaGaussian& p, double y) {
  if (fit.noise_loss == NoiseLoss::likelihood) return -log_pdf(p, y);
  return cross_omega(Tsallis(fit.alpha), score(p), Line(), Dirac{y}).value;
}

/// The five numbers of each row.
class ScoredSource final : public BatchSource {
 public:
  ScoredSource(const RegressionFit& fit, const BatchSource& rows) : fit_(fit), rows_(rows) {}

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
        const std::array<double, kColumns> values = values_of(rows.rows[k]);
        batch.storage.insert(batch.storage.end(), values.begin(), values.end());
      } catch (const std::domain_error& error) {
        throw DataError(rows_.place(i, k, 0) + ": " + error.what());
      }
    }
    const std::size_t weights = batch.storage.size();
    batch.storage.insert(batch.storage.end(), rows.weights.begin(), rows.weights.end());
    batch.rows = {batch.storage.data(), count, kColumns};
    batch.weights = std::span(batch.storage).subspan(weights);
    batch.owner.reset();
  }

 private:
  [[nodiscard]] std::array<double, kColumns> values_of(std::span<const double> row) const {
    const BetaGaussian p = predict(fit_, row.subspan(1));
    const double y = row[0], prediction = mean(p);
    return {y, prediction, y - prediction, loss_of(fit_, p, y), support(p).contains(y) ? 1. : 0.};
  }

  const RegressionFit& fit_;
  const BatchSource& rows_;
  std::array<std::string, kColumns> names_{"y", "prediction", "residual", "loss", "inside"};
};

}  // namespace

PredictionScore::PredictionScore() : moments_(kColumns) {}
PredictionScore::PredictionScore(Moments moments) : moments_(std::move(moments)) {}

Determination PredictionScore::determination() const {
  const Eigen::MatrixXd covariance = moments_.covariance();
  const double bias = moments_.mean()[kResidual], square = covariance(kResidual, kResidual) + bias * bias;
  return {1 - square / covariance(kTruth, kTruth), 1 - square / covariance(kPrediction, kPrediction)};
}

double PredictionScore::loss() const { return moments_.mean()[kLoss]; }
double PredictionScore::coverage() const { return moments_.mean()[kInside]; }

PredictionScore score_predictions(const RegressionFit& fit, const Data& data) {
  if (data.source.columns() != fit.mean_coefficients.size() + 1)
    throw_invalid_argument(
        "score_predictions", "columns",
        "must be y and a feature for each of " + shortest(fit.mean_coefficients.size()) + " coefficients",
        data.source.columns());
  const ScoredSource scored(fit, data.source);
  return PredictionScore(collect({scored, data.processes, data.progress}, Moments(kColumns)));
}

}  // namespace fenchel
