#include "fenchel/estimate/regression/regression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/estimate/regression/determination.hpp"
#include "fenchel/estimate/regression/least_squares.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/table.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::Table;

constexpr std::array kLinks{ScaleLink::linear, ScaleLink::log};

RegressionFit fitted(const Table& table, const RegressionOptions& options) {
  return testing::fit_table(fit_regression, table, options);
}

Table part(const Table& table, index_t begin, index_t end) {
  return {table.cols, {table.values.begin() + begin * table.cols, table.values.begin() + end * table.cols}};
}

double mean_of_losses(const RegressionFit& fit, const Table& table) {
  double sum = 0;
  for (index_t i = 0; i < table.rows(); ++i) {
    const double* row = table.values.data() + i * table.cols;
    const BetaGaussian p = predict(fit, {row + 1, static_cast<std::size_t>(table.cols - 1)});
    sum += fit.noise_loss == NoiseLoss::likelihood
               ? -log_pdf(p, row[0])
               : cross_omega(Tsallis(fit.alpha), score(p), Line(), Dirac{row[0]}).value;
  }
  return sum / static_cast<double>(table.rows());
}

Eigen::VectorXd parameters(const RegressionFit& fit) {
  Eigen::VectorXd all(2 * fit.mean_coefficients.size() + 2);
  all << fit.mean_coefficients, fit.mean_intercept, fit.scale_coefficients, fit.scale_intercept;
  return all;
}

const Eigen::VectorXd kTruth = (Eigen::VectorXd(6) << 2, -1, 0.5, 0.3, -0.2, 0.8).finished();

/// y ~ N_beta(2 x1 - x2 + 1/2, sigma2), sigma or log sigma 0.3 x1 - 0.2 x2 + 0.8, x uniform in [-1, 1]^2.
Table simulated(double alpha, ScaleLink link, index_t rows, std::uint64_t seed = 6) {
  Philox random(seed);
  RegressionFit truth{};
  truth.alpha = alpha;
  truth.link = link;
  truth.mean_coefficients = kTruth.head(2);
  truth.mean_intercept = kTruth[2];
  truth.scale_coefficients = kTruth.segment(3, 2);
  truth.scale_intercept = kTruth[5];
  Table table{3};
  for (index_t i = 0; i < rows; ++i) {
    const std::array x{2 * uniform01(random) - 1, 2 * uniform01(random) - 1};
    table.add({sample(predict(truth, x), random), x[0], x[1]});
  }
  return table;
}

TEST(Regression, RecoversWhatTheDataWereDrawnFrom) {
  constexpr index_t kRows = 4000, kParts = 8;
  for (const double alpha : {0.5, 0.8, 1.0, 1.5, 2.0}) {
    for (const ScaleLink link : kLinks) {
      const Table table = simulated(alpha, link, kRows);
      const RegressionOptions options{.alpha = alpha, .link = link, .penalty = 0, .starts = 1};
      const RegressionFit fit = fitted(table, options);
      EXPECT_EQ(fit.status, MinimizeStatus::converged) << fit.starts[0].residual;
      // The spread of fits to parts, over the root of their number, is the standard error of the whole.
      Eigen::MatrixXd parts(kTruth.size(), kParts);
      for (index_t k = 0; k < kParts; ++k)
        parts.col(k) = parameters(fitted(part(table, k * kRows / kParts, (k + 1) * kRows / kParts), options));
      const Eigen::VectorXd centre = parts.rowwise().mean();
      for (index_t j = 0; j < kTruth.size(); ++j) {
        const double error =
            (parts.row(j).array() - centre[j]).matrix().norm() / std::sqrt(kParts * (kParts - 1.0));
        EXPECT_LT(error, alpha < 1 ? 0.2 : 0.1);
        EXPECT_NEAR(parameters(fit)[j], kTruth[j], 4 * error)
            << alpha << ' ' << static_cast<int>(link) << ' ' << j;
      }
    }
  }
}

TEST(Regression, StandardErrorsAreThoseOfRepeatedSamples) {
  constexpr int kSamples = 50;
  for (const double alpha : {0.6, 1.0, 1.5, 2.0}) {
    for (const ScaleLink link : kLinks) {
      Eigen::ArrayXd square = Eigen::ArrayXd::Zero(kTruth.size());
      for (int k = 0; k < kSamples; ++k) {
        const Table table = simulated(alpha, link, 1000, 100 + static_cast<std::uint64_t>(k));
        const RegressionFit fit = fitted(table, {.alpha = alpha, .link = link, .penalty = 0, .starts = 1});
        Eigen::VectorXd errors(kTruth.size());
        errors << fit.mean_errors(), fit.scale_errors();
        square += ((parameters(fit) - kTruth).array() / errors.array()).square() / kSamples;
      }
      for (const double s : square) EXPECT_NEAR(s, 1, 3.5 * std::sqrt(2.0 / kSamples)) << alpha;
    }
  }
}

TEST(Regression, IsALocalMinimumOfTheLossThatItStates) {
  for (const double alpha : {0.4, 0.6, 0.9, std::nextafter(1.0, 0.0), 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8,
                             4.0 / 3, 1.5, 2.0, 3.0}) {
    for (const ScaleLink link : kLinks) {
      const Table table = simulated(2, link, 300);
      const RegressionFit fit =
          fitted(table, {.alpha = alpha, .link = link, .scale_penalty = 0, .starts = 2});
      ASSERT_EQ(fit.status, MinimizeStatus::converged) << alpha;
      EXPECT_NEAR(fit.loss, mean_of_losses(fit, table), 1e-13) << alpha;
      const RegressionStart& chosen = fit.starts[fit.chosen];
      EXPECT_EQ(fit.loss, chosen.objective);
      EXPECT_EQ(fit.residual, chosen.residual);
      EXPECT_EQ(fit.iterations, chosen.iterations);
      EXPECT_EQ(fit.status, chosen.status);
      for (const double step : {-1e-3, 1e-3}) {
        RegressionFit moved = fit;
        for (double* x : {&moved.mean_coefficients[1], &moved.mean_intercept, &moved.scale_coefficients[0],
                          &moved.scale_intercept}) {
          const double kept = *x;
          *x += step;
          EXPECT_GT(mean_of_losses(moved, table), fit.loss);
          *x = kept;
        }
      }
    }
  }
}

TEST(Regression, DoesNotDependOnUnits) {
  for (const double alpha : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    for (const ScaleLink link : kLinks) {
      const Table table = simulated(2, link, 200);
      Table other = table;
      constexpr double kUnit = 250;  // y' = 250 y + 40, x1' = 5 - x1 / 1000
      for (std::size_t i = 0; i < other.values.size(); i += 3) {
        other.values[i] = kUnit * other.values[i] + 40;
        other.values[i + 1] = 5 - other.values[i + 1] / 1000;
      }
      const RegressionOptions options{.alpha = alpha, .link = link, .penalty = 0.01, .starts = 1};
      const RegressionFit a = fitted(table, options), b = fitted(other, options);
      EXPECT_NEAR(b.mean_coefficients[0] / kUnit, -1000 * a.mean_coefficients[0], 1e-4);
      EXPECT_NEAR(b.mean_coefficients[1] / kUnit, a.mean_coefficients[1], 1e-7);
      const double log_unit = (alpha + 1) / 2 * std::log(kUnit);
      const bool linear = link == ScaleLink::linear;
      const double unit = linear ? std::exp(log_unit) : 1;
      EXPECT_NEAR(b.scale_coefficients[0] / unit, -1000 * a.scale_coefficients[0], 1e-4);
      EXPECT_NEAR((b.scale_intercept + 5 * b.scale_coefficients[0] - (linear ? 0 : log_unit)) / unit,
                  a.scale_intercept, 1e-7);
      const double shrunk = std::pow(kUnit, 1 - alpha);
      EXPECT_NEAR(
          b.loss,
          alpha <= 1 ? a.loss + std::log(kUnit) : shrunk * a.loss + (1 - shrunk) / (alpha * (alpha - 1)),
          1e-9);
    }
  }
}

TEST(Regression, AWeightIsThatManyRows) {
  Table weighted = simulated(2, ScaleLink::linear, 60), repeated{3};
  for (index_t i = 0; i < weighted.rows(); ++i) {
    const double* row = weighted.values.data() + 3 * i;
    weighted.weights.push_back(static_cast<double>(i % 3));
    for (index_t k = 0; k < i % 3; ++k) repeated.add({row[0], row[1], row[2]});
  }
  weighted.values[0] = 1e200;  // it weighs nothing
  const RegressionFit a = fitted(weighted,
                                 {.alpha = 1.5, .link = ScaleLink::linear, .penalty = 0, .starts = 1}),
                      b = fitted(repeated,
                                 {.alpha = 1.5, .link = ScaleLink::linear, .penalty = 0, .starts = 1});
  EXPECT_EQ(a.status, MinimizeStatus::converged);
  EXPECT_NEAR((parameters(a) - parameters(b)).norm(), 0, 1e-7);
  EXPECT_NEAR(a.loss, b.loss, 1e-14);
  EXPECT_EQ(a.weight, 60);
}

TEST(Regression, APenaltyDrawsCoefficientsToZeroAndAllowsCollinearFeatures) {
  Table table = simulated(2, ScaleLink::linear, 400);
  double previous = kInf;
  for (const double penalty : {0.0, 0.1, 1.0, 1e6}) {
    const RegressionFit fit = fitted(table, {.link = ScaleLink::linear, .penalty = penalty, .starts = 1});
    const double size = fit.mean_coefficients.norm() + fit.scale_coefficients.norm();
    EXPECT_LT(size, previous);
    EXPECT_GE(fit.starts[0].objective, fit.loss);
    EXPECT_NEAR(fit.loss, mean_of_losses(fit, table), 1e-13);
    previous = size;
  }
  EXPECT_LT(previous, 1e-5);
  for (std::size_t i = 0; i < table.values.size(); i += 3) table.values[i + 2] = -4 * table.values[i + 1];
  const RegressionFit fit = fitted(table, {.link = ScaleLink::linear, .penalty = 0.01, .starts = 1});
  EXPECT_EQ(fit.status, MinimizeStatus::converged);
  EXPECT_NEAR(fit.mean_coefficients[0], -4 * fit.mean_coefficients[1], 1e-6);
}

TEST(Regression, WithoutFeaturesItMatchesMoments) {
  const Table table{1, {1, 2, 4, 4.5, 7}};
  for (const double alpha : {0.5, 0.9, 1.0, 1.5, 2.0, 5.0}) {
    for (const ScaleLink link : kLinks) {
      const RegressionFit fit =
          fitted(table, {.alpha = alpha, .link = link, .penalty = 0, .noise_loss = NoiseLoss::cross_omega});
      const BetaGaussian p = predict(fit, {});
      EXPECT_NEAR(mean(p), 3.7, 1e-7);
      EXPECT_NEAR(variance(p), 4.36, 1e-6);
    }
  }
}

TEST(Regression, CrossOmegaWithOneSigmaIsLeastSquares) {
  const Table table = simulated(0.5, ScaleLink::log, 300);
  const RowsSource source = table.source();
  const LeastSquares line = fit_least_squares({source});
  for (const double alpha : {0.4, 0.7, 1.0, 2.0}) {
    const RegressionFit fit = fitted(
        table, {.alpha = alpha, .scale_penalty = 1e9, .noise_loss = NoiseLoss::cross_omega, .starts = 1});
    EXPECT_NEAR((fit.mean_coefficients - line.coefficients).norm(), 0, 1e-7) << alpha;
    const double x[] = {0.3, -0.5};
    EXPECT_NEAR(variance(predict(fit, x)), line.variance, 1e-6 * line.variance) << alpha;
  }
}

TEST(Regression, AlphaOneIsTheLimitFromBelow) {
  const Table table = simulated(1, ScaleLink::log, 300);
  const RegressionFit gaussian = fitted(table, {.alpha = 1, .starts = 1});
  for (const double alpha : {std::nextafter(1.0, 0.0), 1 - 1e-8}) {
    for (const NoiseLoss loss : {NoiseLoss::automatic, NoiseLoss::cross_omega}) {
      const RegressionFit fit = fitted(table, {.alpha = alpha, .noise_loss = loss, .starts = 1});
      EXPECT_NEAR((parameters(fit) - parameters(gaussian)).norm(), 0, 1e-6);
      EXPECT_NEAR(fit.loss, gaussian.loss, 1e-7);
    }
  }
}

TEST(Regression, OutliersMoveStudentsLineByLessThanItsErrors) {
  Table table = simulated(1, ScaleLink::log, 1000);
  for (std::size_t i = 0; i < table.values.size(); i += 30)  // a row of ten, more of them where x1 is large
    table.values[i] += 40 * (table.values[i + 1] + 1);
  const auto distance = [&](double alpha) {  // of the line, in standard errors
    const RegressionFit fit = fitted(table, {.alpha = alpha});
    EXPECT_EQ(fit.status, MinimizeStatus::converged) << alpha;
    return ((parameters(fit) - kTruth).array().head(3) / fit.mean_errors().array()).abs().maxCoeff();
  };
  for (const double alpha : {0.4, 0.5, 0.6}) EXPECT_LT(distance(alpha), 3.5) << alpha;
  for (const double alpha : {1.0, 4.0 / 3}) EXPECT_GT(distance(alpha), 7) << alpha;
}

TEST(Regression, WhereNoStartConvergesAPathOfScalePenaltiesLeads) {
  Table table = simulated(2, ScaleLink::linear, 30);
  for (std::size_t i = 0; i < table.values.size(); i += 3) table.values[i] = std::round(table.values[i]);
  RegressionOptions options{.alpha = 5, .link = ScaleLink::linear};
  const RegressionFit fit = fitted(table, options);
  for (const RegressionStart& start : fit.starts) EXPECT_NE(start.status, MinimizeStatus::converged);
  EXPECT_NE(fit.status, MinimizeStatus::converged);
  EXPECT_EQ(fit.chosen, fit.starts.size());
  EXPECT_GT(fit.scale_penalty, 0);
  EXPECT_LT(fit.residual, options.minimize.tolerance);
  EXPECT_NEAR(fit.loss, mean_of_losses(fit, table), 1e-12);
  // With this penalty the same fit converges.
  options.scale_penalty = fit.scale_penalty;
  options.starts = 1;
  const RegressionFit again = fitted(table, options);
  EXPECT_EQ(again.status, MinimizeStatus::converged);
  EXPECT_EQ(again.scale_penalty, options.scale_penalty);
  EXPECT_NEAR((parameters(again) - parameters(fit)).norm(), 0, 1e-5 * parameters(fit).norm());
}

TEST(Regression, LargeAlphaPredictsAlmostUniforms) {
  Table table{2};
  for (int i = 0; i < 400; ++i) {
    const double x = (i % 20 - 9.5) / 10, u = (i / 20 - 9.5) / 20;
    table.add({3 * x + u, x});
  }
  for (const double alpha : {50.0, 1e6}) {
    const RegressionFit fit =
        fitted(table, {.alpha = alpha, .link = ScaleLink::log, .penalty = 0, .starts = 1});
    EXPECT_EQ(fit.status, MinimizeStatus::converged) << fit.starts[0].residual;
    EXPECT_NEAR(fit.mean_coefficients[0], 3, 1e-9);
    EXPECT_NEAR(fit.scale_coefficients[0] / alpha, 0, 1e-9);
    if (alpha > 50) continue;  // its sigma2 is no double in this unit; a = sqrt((3 + 2 / am1) variance)
    EXPECT_NEAR(predict(fit, std::array{0.3}).half_width(), std::sqrt((3 + 2.0 / 49) * 0.083125), 1e-9);
  }
}

/// The 301 counties, smaller populations first: deaths by cancer, then the population.
Table cancer() {
  const CsvSource source(FENCHEL_DATA_DIR "/cancer.csv", {.columns = {"cancer", "population"}});
  std::vector<std::array<double, 2>> rows;
  Batch batch;
  source.read(0, batch);
  for (index_t i = 0; i < batch.rows.rows; ++i) rows.push_back({batch.rows.row(i)[0], batch.rows.row(i)[1]});
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a[1] < b[1]; });
  Table table{2};
  for (const auto& row : rows) table.add({row[0], row[1]});
  return table;
}

TEST(Regression, TheTableOfThePaper) {
  const Table counties = cancer();
  ASSERT_EQ(counties.rows(), 301);
  const Table train = part(counties, 0, 271), test = part(counties, 271, 301);
  // docs/math.md 9; slopes and intercepts are of the minima to all digits.
  struct Row {
    double alpha, slope, intercept, loss, swapped, usual;
  };
  for (const Row& expected : {Row{1, 0.00343215518, 0.86748150, 3.23997093, 0.668, 0.803},
                              Row{4.0 / 3, 0.00347440087, 0.68406578, 1.45410770, 0.684, 0.808},
                              Row{1.5, 0.00350357440, 0.56656317, 1.04574647, 0.694, 0.811},
                              Row{2, 0.00362391753, 0.12458360, 0.47355308, 0.721, 0.815}}) {
    const RegressionFit fit =
        fitted(train, {.alpha = expected.alpha, .link = ScaleLink::linear, .penalty = 0, .starts = 10});
    EXPECT_EQ(fit.status, MinimizeStatus::converged);
    EXPECT_NEAR(fit.mean_coefficients[0], expected.slope, 1e-11);
    EXPECT_NEAR(fit.mean_intercept, expected.intercept, 1e-8);
    EXPECT_NEAR(fit.loss, expected.loss, 1e-8);
    EXPECT_EQ(fit.starts[0].status, MinimizeStatus::converged);
    EXPECT_NEAR(fit.starts[0].objective, fit.loss, 1e-14);
    // Where others end lower they fall without bound.
    for (const RegressionStart& start : fit.starts)
      EXPECT_EQ(start.status == MinimizeStatus::converged, start.objective > fit.loss - 1e-12);
    std::vector<double> truth, prediction;
    for (std::size_t i = 0; i < test.values.size(); i += 2) {
      truth.push_back(test.values[i]);
      prediction.push_back(mean(predict(fit, {&test.values[i + 1], 1})));
    }
    const Determination score = determination(truth, prediction);
    EXPECT_NEAR(score.r2_swapped, expected.swapped, 5e-4);
    EXPECT_NEAR(score.r2, expected.usual, 5e-4);
  }
}

TEST(Regression, StreamsFromAFileInSmallBatches) {
  const CsvSource file(FENCHEL_DATA_DIR "/cancer.csv", {.batch_bytes = 1000});
  ASSERT_EQ(file.batches(), 4);
  const RegressionOptions options{.alpha = 1.5, .link = ScaleLink::linear, .penalty = 0, .starts = 1};
  const RegressionFit streamed = fit_regression({file}, options), whole = fitted(cancer(), options);
  EXPECT_EQ(streamed.names, std::vector<std::string>{"population"});
  EXPECT_NEAR(streamed.mean_coefficients[0], whole.mean_coefficients[0], 1e-12);
  EXPECT_NEAR(streamed.scale_intercept, whole.scale_intercept, 1e-8);
  EXPECT_NEAR(streamed.loss, whole.loss, 1e-14);
}

TEST(Regression, CanBeCancelled) {
  const Table table = simulated(2, ScaleLink::linear, 100);
  RegressionOptions options{.link = ScaleLink::linear, .penalty = 0};
  options.minimize.callback = [](const MinimizeStep& step) { return step.iteration < 3; };
  const RegressionFit fit = fitted(table, options);
  EXPECT_EQ(fit.starts.size(), 1u);
  EXPECT_EQ(fit.status, MinimizeStatus::cancelled);
  EXPECT_EQ(fit.starts[0].iterations, 3);
  EXPECT_NEAR(fit.loss, mean_of_losses(fit, table), 1e-13);

  const RowsSource source = table.source();
  int passes = 0;
  const Data data{source, Processes::alone(), [&](const Progress&) { return ++passes < 5; }};
  EXPECT_EQ(message_of<Cancelled>([&] { static_cast<void>(fit_regression(data)); }),
            "fenchel::collect: cancelled");
}

TEST(Regression, WhatItCannotFitIsNamed) {
  const Table table = simulated(2, ScaleLink::linear, 20);
  const RegressionOptions plain{.link = ScaleLink::linear, .penalty = 0};
  const auto message = [](const Table& data, const RegressionOptions& options) {
    return message_of<std::domain_error>([&] { static_cast<void>(fitted(data, options)); });
  };
  for (const auto& [alpha, text] : {std::pair{0.25, "0.25"}, std::pair{kInf, "inf"}, std::pair{kNaN, "nan"}})
    EXPECT_EQ(
        message(table, {.alpha = alpha}),
        "fenchel::fit_regression: alpha must be finite and above 1/3, where the noise has a variance and "
        "its loss exists, got " +
            std::string(text));
  EXPECT_EQ(message(table, {.alpha = 1.5, .noise_loss = NoiseLoss::likelihood}),
            "fenchel::fit_regression: alpha must be at most 1 for the likelihood, which is 0 where a row is "
            "outside "
            "of the support, got 1.5");
  EXPECT_EQ(message(table, {.scale_penalty = -1}),
            "fenchel::fit_regression: scale_penalty must be finite and not negative, got -1");
  EXPECT_EQ(message(table, {.penalty = -1}),
            "fenchel::fit_regression: penalty must be finite and not negative, got -1");
  EXPECT_EQ(message(table, {.starts = 0}), "fenchel::fit_regression: starts must number at least 1, got 0");
  EXPECT_EQ(
      message(part(table, 0, 5), plain),
      "fenchel::fit_regression: the weight of all rows must be at least the number of parameters, 6, got 5");
  EXPECT_EQ(
      message({2, {0, 1, 1, 3, 2, 5, 3, 7, 4, 9}}, plain)
          .starts_with(
              "fenchel::fit_regression: the residual of least squares must be more than rounding, got "),
      true);
  for (const double penalty : {1e-6, 1.0}) {
    EXPECT_EQ(
        message({3, {0, 1, 2, 1, 3, 6, 2, 5, 10, 3, 7, 14, 4, 9, 18, 5, 11, 22}}, {.penalty = penalty})
            .starts_with(
                "fenchel::fit_regression: the residual of least squares must be more than rounding, got "),
        true);
  }
  EXPECT_EQ(message({2, {3, 1, 3, 3, 3, 5, 3, 7, 3, 9}}, plain),
            "fenchel::fit_regression: the residual of least squares must be more than rounding, got 0");
  EXPECT_EQ(message({2, {0, 1, 1, 1, 2, 1, 5, 1, 4, 1}}, plain),
            "fenchel::fit_regression: column '1' must vary unless the penalty is positive, got 1");
  EXPECT_EQ(
      message({2, {0, 1, 1e9, 3, 2e9, 5, 5e9, 7, 4e9, 9}},
              {.alpha = 100, .link = ScaleLink::linear, .penalty = 0}),
      "fenchel::fit_regression: sigma must be a double: it grows as the unit of y to the power (alpha + "
      "1) / 2, take another unit or a smaller alpha, got inf");
  const RegressionFit fit = fitted(table, plain);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              static_cast<void>(predict(fit, std::array<double, 3>{1, 2, 3}));
            }),
            "fenchel::predict: features must number 2, got 3");
}

}  // namespace
}  // namespace fenchel
