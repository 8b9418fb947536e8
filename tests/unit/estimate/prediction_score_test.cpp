#include "fenchel/estimate/regression/prediction_score.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/estimate/goodness/ranked_score.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;

RegressionFit line(double alpha, NoiseLoss loss = NoiseLoss::cross_omega) {
  RegressionFit fit{};
  fit.alpha = alpha;
  fit.link = ScaleLink::log;
  fit.noise_loss = loss;
  fit.mean_coefficients = Eigen::VectorXd::Constant(1, 2);
  fit.mean_intercept = 1;
  fit.scale_coefficients = Eigen::VectorXd::Constant(1, 0.1);
  fit.scale_intercept = -0.5;
  return fit;
}

const std::vector<double> kRows{1.1, 0, 3.4, 1, 4.6, 2, 9.5, 3, 14, 4};  // y and x
const std::vector<double> kWeights{1, 2, 0.5, 0, 3};

PredictionScore score_of(const RegressionFit& fit, std::span<const double> rows,
                         std::span<const double> weights) {
  const RowsSource source({rows.data(), static_cast<index_t>(rows.size() / 2), 2}, weights);
  return score_predictions(fit, {source});
}

TEST(PredictionScore, IsWhatALoopOverRowsGives) {
  for (const double alpha : {0.5, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0}) {
    for (const NoiseLoss kind : {NoiseLoss::cross_omega, NoiseLoss::likelihood}) {
      if (kind == NoiseLoss::likelihood && alpha > 1) continue;
      const RegressionFit fit = line(alpha, kind);
      std::vector<double> truth, prediction;
      double loss = 0, ranked = 0, inside = 0, weight = 0;
      for (std::size_t i = 0; i < kWeights.size(); ++i) {
        const double y = kRows[2 * i];
        const BetaGaussian p = predict(fit, std::span(kRows).subspan(2 * i + 1, 1));
        truth.push_back(y), prediction.push_back(mean(p));
        loss += kWeights[i] * (kind == NoiseLoss::likelihood
                                   ? -log_pdf(p, y)
                                   : cross_omega(Tsallis(alpha), score(p), Line(), Dirac{y}).value);
        ranked += kWeights[i] * ranked_score(p)(y);
        inside += kWeights[i] * (support(p).lower() <= y && y <= support(p).upper() ? 1 : 0);
        weight += kWeights[i];
      }
      const PredictionScore got = score_of(fit, kRows, kWeights);
      const Determination expected = determination(truth, prediction, std::span(kWeights));
      EXPECT_DOUBLE_EQ(got.weight(), weight);
      EXPECT_NEAR(got.determination().r2, expected.r2, 1e-14);
      EXPECT_NEAR(got.determination().r2_swapped, expected.r2_swapped, 1e-14);
      EXPECT_NEAR(got.loss(), loss / weight, 1e-13 * std::abs(loss / weight));
      EXPECT_NEAR(got.ranked(), ranked / weight, 1e-14);
      EXPECT_NEAR(got.coverage(), inside / weight, 1e-15);
    }
  }
  EXPECT_LT(score_of(line(2), kRows, kWeights).coverage(), 1);
}

TEST(PredictionScore, PartsMergeToTheWhole) {
  const RegressionFit fit = line(2);
  PredictionScore parts;
  EXPECT_TRUE(std::isnan(parts.loss()) && std::isnan(parts.coverage()));
  parts.merge(score_of(fit, std::span(kRows).first(4), std::span(kWeights).first(2)));
  parts.merge(score_of(fit, std::span(kRows).subspan(4), std::span(kWeights).subspan(2)));
  const PredictionScore whole = score_of(fit, kRows, kWeights);
  EXPECT_NEAR(parts.loss(), whole.loss(), 1e-15);
  EXPECT_NEAR(parts.coverage(), whole.coverage(), 1e-15);
  EXPECT_NEAR(parts.determination().r2, whole.determination().r2, 1e-14);
}

TEST(PredictionScore, RankedScoresOfSeveralFitsAreThoseOfEach) {
  const std::vector<RegressionFit> fits{line(1), line(2)};
  const RowsSource source({kRows.data(), 5, 2}, kWeights);
  const Moments all = ranked_scores(fits, {source});
  for (std::size_t k = 0; k < fits.size(); ++k)
    EXPECT_NEAR(all.mean()[static_cast<index_t>(k)], score_of(fits[k], kRows, kWeights).ranked(), 1e-14);
  // The variance of the difference of two scores of a row.
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < kWeights.size(); ++i) {
    const auto x = std::span(kRows).subspan(2 * i + 1, 1);
    const double difference =
        ranked_score(predict(fits[0], x))(kRows[2 * i]) - ranked_score(predict(fits[1], x))(kRows[2 * i]);
    mean += kWeights[i] / 6.5 * difference;
    square += kWeights[i] / 6.5 * difference * difference;
  }
  const std::vector<RankedDifference> differences = ranked_differences(all);
  const std::size_t best = mean > 0 ? 1 : 0;
  EXPECT_EQ(differences[best].difference, 0);
  EXPECT_EQ(differences[best].standard_error, 0);
  EXPECT_NEAR(differences[1 - best].difference, std::abs(mean), 1e-14);
  EXPECT_NEAR(differences[1 - best].standard_error, std::sqrt((square - mean * mean) / 6.5), 1e-14);
  EXPECT_EQ(differences[1].ranked, all.mean()[1]);
}

TEST(PredictionScore, RefusesOtherColumnsAndRowsWithoutAScale) {
  const RowsSource narrow({kRows.data(), 10, 1});
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { static_cast<void>(score_predictions(line(2), {narrow})); }),
      "fenchel::score_predictions: columns must be y and a feature for each of 1 coefficients, got 1");
  RegressionFit vanishing = line(2);
  vanishing.link = ScaleLink::linear;
  vanishing.scale_intercept = 0;  // sigma = 0.1 x
  const RowsSource source({kRows.data(), 5, 2});
  EXPECT_THROW(static_cast<void>(score_predictions(vanishing, {source})), DataError);
}

}  // namespace
}  // namespace fenchel
