#include "fenchel/estimate/regression/count_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include <Eigen/LU>

#include "estimate/regression/count_loss.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/loss/integers.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/table.hpp"

namespace fenchel {
namespace {

using detail::CountLoss;
using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::Table;

const std::vector<double> kFiniteAlphas{
    1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.01, 4.0 / 3, 1.5, 2.0, 3.0, 5.0, 1e6};
const std::vector<double> kMeans{1e-300, 1e-3, 0.3, 0.5, 1.0, 2.5, 3.0, 17.2, 400.5, 1e5};

CountRegressionFit fit(const Table& table, const CountRegressionOptions& options = {.penalty = 0}) {
  return testing::fit_table(fit_count_regression, table, options);
}

/// Counts drawn from the model with theta = w.x + b, features normal with large means.
Table drawn(double alpha, const Eigen::VectorXd& w, double b, index_t rows, std::uint64_t seed) {
  Philox random(seed);
  Table table{w.size() + 1};
  for (index_t i = 0; i < rows; ++i) {
    std::vector<double> row{0};
    double theta = b;
    for (index_t k = 0; k < w.size(); ++k) {
      row.push_back(10 * static_cast<double>(k) + standard_normal(random));
      theta += w[k] * row.back();
    }
    row[0] = static_cast<double>(sample(SparsePoisson(alpha, std::exp(theta)), random));
    table.add(row);
  }
  return table;
}

const Eigen::VectorXd kWeights = Eigen::Vector2d(0.4, -0.25);
constexpr double kIntercept = 3.5;  // theta = 1 at the means

TEST(CountLoss, AgreesWithTheLossOnTheIntegers) {
  for (const double alpha : kFiniteAlphas) {
    CountLoss loss(alpha);
    for (const double mean : kMeans) {
      for (const index_t y : {0, 1, 2, 3, 9, 17, 400, 100000}) {
        const double theta = std::log(mean);
        const PoissonScore f(std::exp(theta));
        const auto expected = fenchel_young(Tsallis(alpha), f, Naturals(), y);
        const auto [value, slope] = loss(theta, static_cast<double>(y));
        const auto where = ::testing::Message() << "alpha " << alpha << " mu " << mean << " y " << y;
        EXPECT_NEAR(value, expected.value, detail::kCountLossError * std::max(1.0, expected.value)) << where;
        EXPECT_NEAR(slope, expected.gradient.log_mu,
                    detail::kCountLossError * std::max(1.0, std::abs(expected.gradient.log_mu)))
            << where;
      }
    }
  }
}

TEST(CountLoss, SpreadIsTheHessianAndTheVariance) {
  for (const double alpha : kFiniteAlphas) {
    CountLoss loss(alpha);
    for (const double mean : kMeans) {
      const double theta = std::log(mean);
      const PoissonScore f(std::exp(theta));
      const double curvature = fenchel_young_hessian(Tsallis(alpha), f, Naturals());
      const double expected = variance(predict(Tsallis(alpha), f, Naturals()));
      const auto spread = loss.spread(theta);
      if (std::isfinite(curvature)) {
        EXPECT_NEAR(spread.curvature, curvature, 1e-11 * curvature + 1e-18) << alpha << " " << mean;
      }
      EXPECT_NEAR(spread.variance, expected, 1e-12 * expected + 1e-18) << alpha << " " << mean;
    }
  }
}

TEST(CountLoss, SlopeAndCurvatureAreDerivatives) {
  for (const double alpha : {1.0, 1 + 1e-8, 4.0 / 3, 1.5, 2.0}) {
    CountLoss loss(alpha);
    const double theta = 1.23, h = 1e-3;
    EXPECT_NEAR(testing::slope_of([&](double t) { return loss(t, 2).loss; }, theta, h), loss(theta, 2).slope,
                1e-9);
    EXPECT_NEAR(testing::slope_of([&](double t) { return loss(t, 2).slope; }, theta, h),
                loss.spread(theta).curvature, 1e-9);
  }
}

TEST(CountLoss, IsInfiniteOnceThereAreTooManyIntegers) {
  for (const double alpha : kFiniteAlphas) {
    CountLoss loss(alpha);
    EXPECT_EQ(loss(1000, 3).loss, kInf) << alpha;
    EXPECT_EQ(loss(-1000, 0).loss, 0) << alpha;
  }
  EXPECT_EQ(CountLoss(1 + 1e-8)(std::log(1e12), 3).loss, kInf);
}

/// Newton's method on the Poisson likelihood, in raw units; returns the parameters, intercept last, and the
/// inverse of the Hessian of the sum.
std::pair<Eigen::VectorXd, Eigen::MatrixXd> poisson_newton(const Table& table) {
  const index_t n = table.cols;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n), z = Eigen::VectorXd::Ones(n);
  Eigen::MatrixXd inverse;
  for (int step = 0; step < 60; ++step) {
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(n);
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(n, n);
    for (index_t i = 0; i < table.rows(); ++i) {
      for (index_t k = 1; k < n; ++k) z[k - 1] = table.at(i, k) - 10 * static_cast<double>(k - 1);
      const double mu = std::exp(x.dot(z));
      gradient += (mu - table.at(i, 0)) * z;
      hessian += mu * z * z.transpose();
    }
    inverse = hessian.inverse();
    x -= inverse * gradient;
  }
  return {x, inverse};
}

TEST(CountRegression, AtAlphaOneIsPoissonRegression) {
  const Table table = drawn(1, kWeights, kIntercept, 500, 1);
  const auto [expected, covariance] = poisson_newton(table);
  const CountRegressionFit result = fit(table, {.alpha = 1, .penalty = 0});
  EXPECT_EQ(result.status, MinimizeStatus::converged);
  EXPECT_NEAR(result.coefficients[0], expected[0], 1e-8);
  EXPECT_NEAR(result.coefficients[1], expected[1], 1e-8);
  EXPECT_NEAR(result.intercept, expected[2] - 10 * expected[1], 1e-7);
  const Eigen::VectorXd errors = result.standard_errors();
  EXPECT_NEAR(errors[0], std::sqrt(covariance(0, 0)), 1e-8);
  EXPECT_NEAR(errors[1], std::sqrt(covariance(1, 1)), 1e-8);
  const Eigen::Vector3d raw(0, -10, 1);
  EXPECT_NEAR(errors[2], std::sqrt(raw.dot(covariance * raw)), 1e-7);
  EXPECT_EQ(result.weight, 500);
  EXPECT_EQ(result.names, (std::vector<std::string>{"1", "2"}));
}

TEST(CountRegression, MatchesMomentsForEveryAlpha) {
  const Table table = drawn(1.5, kWeights, kIntercept, 60, 2);
  for (const double alpha : {1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0}) {
    const CountRegressionFit result = fit(table, {.alpha = alpha, .penalty = 0});
    EXPECT_EQ(result.status, MinimizeStatus::converged) << alpha;
    Eigen::Vector3d moments = Eigen::Vector3d::Zero();
    double loss = 0;
    for (index_t i = 0; i < table.rows(); ++i) {
      const Eigen::Vector2d x(table.at(i, 1), table.at(i, 2) - 10);
      const SparsePoisson p = predict(result, {&table.values[static_cast<std::size_t>(3 * i + 1)], 2});
      moments += (mean(p) - table.at(i, 0)) * Eigen::Vector3d(x[0], x[1], 1) / 60;
      loss +=
          fenchel_young(Tsallis(alpha), score(p), Naturals(), static_cast<index_t>(table.at(i, 0))).value /
          60;
    }
    EXPECT_LT(moments.cwiseAbs().maxCoeff(), 3e-9) << alpha;
    EXPECT_NEAR(result.loss, loss, 1e-13) << alpha;
  }
}

TEST(CountRegression, AlmostPiecewiseLinearLossEndsNearItsMinimum) {
  const Table table = drawn(1.5, kWeights, kIntercept, 60, 2);
  const CountRegressionFit result = fit(table, {.alpha = 1e6, .penalty = 0});
  const auto loss_at = [&](double w0, double w1, double b) {
    CountLoss loss(1e6);
    double sum = 0;
    for (index_t i = 0; i < table.rows(); ++i)
      sum += loss(w0 * table.at(i, 1) + w1 * table.at(i, 2) + b, table.at(i, 0)).loss;
    return sum / 60;
  };
  const Eigen::VectorXd& w = result.coefficients;
  EXPECT_NEAR(loss_at(w[0], w[1], result.intercept), result.loss, 1e-9);
  Philox random(5);
  for (int k = 0; k < 100; ++k) {
    const double d0 = 0.05 * standard_normal(random), d1 = 0.05 * standard_normal(random);
    const double d2 = 0.05 * standard_normal(random) - 10 * d1;
    EXPECT_GT(loss_at(w[0] + d0, w[1] + d1, result.intercept + d2), result.loss - 1e-4);
  }
}

TEST(CountRegression, RecoversCoefficientsWithinTheirErrors) {
  for (const double alpha : {1.0, 4.0 / 3, 2.0, 3.0}) {
    const Table table = drawn(alpha, kWeights, kIntercept, 3000, 3);
    const CountRegressionFit result = fit(table, {.alpha = alpha, .penalty = 0});
    const Eigen::VectorXd errors = result.standard_errors();
    EXPECT_LT(errors.maxCoeff(), 0.3) << alpha;
    for (index_t k = 0; k < 2; ++k) {
      EXPECT_LT(std::abs(result.coefficients[k] - kWeights[k]), 3 * errors[k]) << alpha;
      EXPECT_LT(errors[k], 0.03) << alpha;
    }
    EXPECT_LT(std::abs(result.intercept - kIntercept), 3 * errors[2]) << alpha;
  }
}

/// The estimates of many samples vary as the covariance says.
TEST(CountRegression, StandardErrorsAreThoseOfRepeatedSamples) {
  for (const double alpha : {1.5, 2.0, 3.0}) {
    constexpr int kSamples = 100;
    double square = 0;
    for (int k = 0; k < kSamples; ++k) {
      const CountRegressionFit result =
          fit(drawn(alpha, kWeights.head(1), 1, 100, 100 + static_cast<std::uint64_t>(k)),
              {.alpha = alpha, .penalty = 0});
      const double z = (result.coefficients[0] - kWeights[0]) / result.standard_errors()[0];
      square += z * z / kSamples;
    }
    EXPECT_NEAR(square, 1, 3.5 * std::sqrt(2.0 / kSamples)) << alpha;
  }
}

TEST(CountRegression, WeightsAreRepetitions) {
  Table weighted = drawn(2, kWeights, kIntercept, 100, 4), repeated{3};
  for (index_t i = 0; i < 100; ++i) {
    weighted.weights.push_back(static_cast<double>(i % 4));
    for (index_t k = 0; k < i % 4; ++k)
      repeated.add({weighted.at(i, 0), weighted.at(i, 1), weighted.at(i, 2)});
  }
  const CountRegressionFit a = fit(weighted), b = fit(repeated);
  EXPECT_EQ(a.weight, 150);
  EXPECT_NEAR(a.loss, b.loss, 1e-13);
  EXPECT_LT((a.coefficients - b.coefficients).norm(), 1e-8);
  EXPECT_LT((a.covariance - b.covariance).norm(), 1e-6 * b.covariance.norm());
}

TEST(CountRegression, UnitsOfFeaturesChangeTheirCoefficientsAlone) {
  for (const double penalty : {0.0, 0.1}) {
    Table table = drawn(2, kWeights, kIntercept, 100, 5);
    const CountRegressionFit before = fit(table, {.penalty = penalty});
    for (index_t i = 0; i < 100; ++i) {
      table.at(i, 1) *= 1e6;
      table.at(i, 2) += 1e4;
    }
    const CountRegressionFit after = fit(table, {.penalty = penalty});
    EXPECT_NEAR(after.loss, before.loss, 1e-12);
    EXPECT_NEAR(1e6 * after.coefficients[0], before.coefficients[0], 1e-8);
    EXPECT_NEAR(after.coefficients[1], before.coefficients[1], 1e-8);
    EXPECT_NEAR(1e6 * after.standard_errors()[0], before.standard_errors()[0], 1e-7);
  }
}

TEST(CountRegression, WithoutFeaturesMatchesTheMean) {
  const CountRegressionFit poisson = fit({1, {0, 2, 1, 5, 2}}, {.alpha = 1, .penalty = 0});
  EXPECT_NEAR(poisson.intercept, std::log(2), 1e-9);
  EXPECT_NEAR(poisson.standard_errors()[0], 1 / std::sqrt(10.0), 1e-9);
  const CountRegressionFit sparse = fit({1, {0, 2, 1, 5, 2}});
  EXPECT_NEAR(mean(predict(sparse, {})), 2, 2e-9);
}

TEST(CountRegression, PenaltyShrinksAndSettlesWhatDataDoNot) {
  Table table = drawn(2, kWeights, kIntercept, 100, 6);
  double last = kInf, error = kInf;
  for (const double penalty : {0.0, 0.1, 1.0, 10.0}) {
    const CountRegressionFit result = fit(table, {.penalty = penalty});
    EXPECT_LT(result.coefficients.norm(), last);
    EXPECT_LT(result.standard_errors()[0], error);
    last = result.coefficients.norm();
    error = result.standard_errors()[0];
  }
  for (index_t i = 0; i < 100; ++i) table.at(i, 2) = 7;
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(fit(table)); }),
            "fenchel::fit_count_regression: column '2' must vary unless the penalty is positive, got 7");
  const CountRegressionFit constant = fit(table, {.penalty = 0.1});
  EXPECT_EQ(constant.coefficients[1], 0);
  EXPECT_EQ(constant.standard_errors()[1], 0);
  EXPECT_GT(constant.standard_errors()[0], 0);
}

TEST(CountRegression, CollinearFeaturesShareTheirEffect) {
  Table table = drawn(2, kWeights, kIntercept, 100, 7);
  for (index_t i = 0; i < 100; ++i) table.at(i, 2) = 3 * table.at(i, 1) - 1;
  const CountRegressionFit result = fit(table);
  EXPECT_EQ(result.status, MinimizeStatus::converged);
  EXPECT_NEAR(result.coefficients[0], 3 * result.coefficients[1], 1e-9);
  EXPECT_TRUE(result.covariance.array().isNaN().all());
  EXPECT_FALSE(fit(table, {.penalty = 1e-3}).covariance.array().isNaN().any());
}

/// At the minimum predicted means add up to the counts, also times a feature, as for every alpha.
TEST(CountRegression, BelowAlphaOneMeansAreThoseOfTheData) {
  const Table table = drawn(2, kWeights, kIntercept, 150, 21);
  for (const double alpha : {0.6, 0.8, std::nextafter(1.0, 0.0)}) {
    const CountRegressionFit result = fit(table, {.alpha = alpha, .penalty = 0});
    EXPECT_EQ(result.status, MinimizeStatus::converged) << alpha;
    double excess = 0, first = 0;
    for (std::size_t i = 0; i < table.values.size(); i += 3) {
      const std::array features{table.values[i + 1], table.values[i + 2]};
      const double off = mean(predict(result, features)) - table.values[i];
      excess += off, first += off * features[0];
    }
    EXPECT_NEAR(excess, 0, 1e-5) << alpha;
    EXPECT_NEAR(first, 0, 1e-5) << alpha;
  }
}

TEST(CountRegression, ExtremeRowsDoNotStopTheSearch) {
  Table table = drawn(2, kWeights, kIntercept, 200, 8);
  table.add({0, 1e4, 10});
  table.add({7, -1e3, 10});
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const CountRegressionFit result = fit(table, {.alpha = alpha, .penalty = 0});
    EXPECT_TRUE(std::isfinite(result.loss)) << alpha;
    EXPECT_LT(result.residual, 1e-5) << alpha << " " << to_string(result.status);
  }
}

TEST(CountRegression, LargeCountsConverge) {
  Philox random(10);
  Table table{2};
  for (int i = 0; i < 500; ++i) {
    const double x = standard_normal(random), mu = std::exp(14 + 0.5 * x);
    table.add({std::round(mu + std::sqrt(mu) * standard_normal(random)), x});
  }
  for (const double alpha : {1.0, 2.0}) {
    const CountRegressionFit result = fit(table, {.alpha = alpha, .penalty = 0});
    EXPECT_EQ(result.status, MinimizeStatus::converged) << alpha;
    EXPECT_NEAR(result.coefficients[0], 0.5, 1e-3) << alpha;
    EXPECT_NEAR(result.intercept, 14, 1e-3) << alpha;
  }
}

TEST(CountRegression, DoesNotDependOnThreads) {
  const Table table = drawn(2, kWeights, kIntercept, 3 * RowsSource::kRowsPerBatch - 5, 9);
  std::vector<CountRegressionFit> fits;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    fits.push_back(fit(table));
  }
  set_num_threads(0);
  EXPECT_EQ(fits[0].coefficients, fits[1].coefficients);
  EXPECT_EQ(fits[0].intercept, fits[1].intercept);
  EXPECT_EQ(fits[0].covariance, fits[1].covariance);
}

TEST(CountRegression, Cancels) {
  const Table table = drawn(2, kWeights, kIntercept, 100, 6);
  CountRegressionOptions options{.penalty = 0};
  options.minimize.callback = [](const MinimizeStep& step) { return step.iteration < 2; };
  EXPECT_EQ(fit(table, options).status, MinimizeStatus::cancelled);
  const RowsSource source = table.source();
  const Data data{source, Processes::alone(), [](const Progress&) { return false; }};
  EXPECT_THROW(static_cast<void>(fit_count_regression(data)), Cancelled);
}

TEST(CountRegression, BadInputIsNamed) {
  const auto message = [](const Table& table, const CountRegressionOptions& options = {.penalty = 0}) {
    return message_of<std::exception>([&] { static_cast<void>(fit(table, options)); });
  };
  const Table good{2, {1, 1, 2, 2, 0, 3}};
  EXPECT_EQ(message(good, {.alpha = 0.4}),
            "fenchel::fit_count_regression: alpha must be finite and greater than 1/2, got 0.4");
  EXPECT_EQ(message(good, {.alpha = kInf}),
            "fenchel::fit_count_regression: alpha must be finite and greater than 1/2, got inf");
  EXPECT_EQ(message(good, {.penalty = -1}),
            "fenchel::fit_count_regression: penalty must be finite and not negative, got -1");
  EXPECT_EQ(message({2, {1, 1, -2, 2}}),
            "row 1, column 0: count must be a natural number up to 2^52, got -2");
  EXPECT_EQ(message({2, {1, 1, 2, 2, 0.5, 3}}),
            "row 2, column 0: count must be a natural number up to 2^52, got 0.5");
  EXPECT_EQ(message({2, {1, 1, 2, kNaN}}), "row 1, column 1: feature must be finite, got nan");
  EXPECT_EQ(message({2, {1, 1, 2, 1e200}}),
            "fenchel::fit_count_regression: the variance of column '1' must be finite, got inf");
  EXPECT_EQ(message({2, {1, 1, 2, 2}, {1, -1}}), "row 1: weight must be finite and not negative, got -1");
  EXPECT_EQ(message({2, {1, 1, 2, 2}, {0, 0}}),
            "fenchel::fit_count_regression: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(message({2, {0, 1, 0, 2}}),
            "fenchel::fit_count_regression: the mean count must be positive, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(predict(fit(good), {})); }),
            "fenchel::predict: features must number 1, got 0");
}

}  // namespace
}  // namespace fenchel
