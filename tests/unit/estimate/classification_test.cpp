#include "fenchel/estimate/regression/classification.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include <Eigen/Cholesky>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/loss/finite.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/table.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::Table;

constexpr index_t kClasses = 3, kFeatures = 2;

ClassificationFit fit(const Table& table, ClassificationOptions options = {.penalty = 0}) {
  return testing::fit_table(fit_classification, table, options);
}

ClassificationOptions three(double alpha, double penalty = 0) {
  return {.alpha = alpha, .classes = kClasses, .penalty = penalty};
}

/// Three classes about three points, `gap` from one another in both features.
Table drawn(index_t rows, double gap, std::uint64_t seed) {
  Philox random(seed);
  Table table{1 + kFeatures};
  for (index_t i = 0; i < rows; ++i) {
    const auto label = static_cast<double>(i % kClasses);
    table.add(
        {label, gap * label + standard_normal(random), 5 + gap * (label == 1) + standard_normal(random)});
  }
  return table;
}

std::span<const double> features(const Table& table, index_t i, index_t targets = 1) {
  return std::span(table.values).subspan(static_cast<std::size_t>(i * table.cols + targets), kFeatures);
}

VectorScore scores(const ClassificationFit& model, std::span<const double> x) {
  const Eigen::VectorXd z =
      model.coefficients * Eigen::Map<const Eigen::VectorXd>(x.data(), model.coefficients.cols()) +
      model.intercepts;
  return VectorScore(std::vector<double>(z.begin(), z.end()));
}

TEST(Classification, MatchesMomentsForEveryAlpha) {
  const Table table = drawn(60, 1, 1);
  for (const double alpha : {0.5, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0}) {
    const ClassificationFit result = fit(table, three(alpha));
    EXPECT_EQ(result.status, MinimizeStatus::converged) << alpha;
    Eigen::Matrix3d moments = Eigen::Matrix3d::Zero();
    double loss = 0;
    for (index_t i = 0; i < table.rows(); ++i) {
      const auto label = static_cast<index_t>(table.at(i, 0));
      const SparseCategorical p = predict(result, features(table, i));
      const Eigen::Vector3d z(table.at(i, 1), table.at(i, 2) - 5, 1);
      for (index_t k = 0; k < kClasses; ++k)
        moments.row(k) += (pmf(p, k) - (k == label)) * z.transpose() / 60;
      loss += fenchel_young(Tsallis(alpha), scores(result, features(table, i)), Finite(), label).value / 60;
    }
    EXPECT_LT(moments.cwiseAbs().maxCoeff(), 5e-9) << alpha;
    EXPECT_NEAR(result.loss, loss, 1e-12) << alpha;
    EXPECT_LT(result.coefficients.colwise().sum().norm(), 1e-10 * result.coefficients.norm()) << alpha;
    EXPECT_NEAR(result.intercepts.sum(), 0, 1e-10 * result.intercepts.norm()) << alpha;
  }
}

/// Newton's method on the penalised multinomial likelihood, with features standardised by hand; returns the
/// least value.
double softmax_newton(const Table& table, double penalty) {
  const auto n = static_cast<double>(table.rows());
  Eigen::Vector2d mean = Eigen::Vector2d::Zero(), square = Eigen::Vector2d::Zero();
  for (index_t i = 0; i < table.rows(); ++i) {
    const Eigen::Vector2d x(table.at(i, 1), table.at(i, 2));
    mean += x / n;
    square += x.cwiseAbs2() / n;
  }
  const Eigen::Vector2d deviation = (square - mean.cwiseAbs2()).cwiseSqrt();
  Eigen::VectorXd w = Eigen::VectorXd::Zero(9);
  const Eigen::Matrix3d ridge = Eigen::Vector3d(penalty, penalty, 0).asDiagonal();
  double value = 0;
  for (int step = 0; step < 30; ++step) {
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(9);
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(9, 9);
    value = 0;
    for (index_t k = 0; k < 3; ++k) {
      gradient.segment(3 * k, 3) = ridge * w.segment(3 * k, 3);
      hessian.block(3 * k, 3 * k, 3, 3) = ridge;
      value += w.segment(3 * k, 3).dot(ridge * w.segment(3 * k, 3)) / 2;
    }
    for (index_t i = 0; i < table.rows(); ++i) {
      Eigen::Vector3d z(0, 0, 1), p;
      z.head(2) = (Eigen::Vector2d(table.at(i, 1), table.at(i, 2)) - mean).cwiseQuotient(deviation);
      const auto label = static_cast<index_t>(table.at(i, 0));
      for (index_t k = 0; k < 3; ++k) p[k] = std::exp(w.segment(3 * k, 3).dot(z));
      value += (std::log(p.sum()) - std::log(p[label])) / n;
      p /= p.sum();
      for (index_t k = 0; k < 3; ++k) {
        gradient.segment(3 * k, 3) += (p[k] - (k == label)) * z / n;
        for (index_t l = 0; l < 3; ++l)
          hessian.block(3 * k, 3 * l, 3, 3) += ((k == l) * p[k] - p[k] * p[l]) * z * z.transpose() / n;
      }
    }
    hessian.diagonal().array() += 1e-9;  // the shift that changes nothing
    w -= hessian.ldlt().solve(gradient);
  }
  return value;
}

TEST(Classification, AtAlphaOneIsLogisticRegression) {
  const Table table = drawn(90, 1, 2);
  EXPECT_NEAR(fit(table, three(1)).loss, softmax_newton(table, 0), 1e-12);
  const ClassificationFit ridge = fit(table, three(1, 0.3));
  double square = 0;
  for (index_t k = 0; k < kFeatures; ++k) {
    double mean = 0, moment = 0;
    for (index_t i = 0; i < 90; ++i) mean += table.at(i, 1 + k) / 90;
    for (index_t i = 0; i < 90; ++i) moment += std::pow(table.at(i, 1 + k) - mean, 2) / 90;
    square += moment * ridge.coefficients.col(k).squaredNorm();
  }
  EXPECT_NEAR(ridge.loss + 0.15 * square, softmax_newton(table, 0.3), 1e-12);
}

TEST(Classification, SeparableClassesHaveALossOfZeroForSparseLossesAlone) {
  const Table table = drawn(90, 20, 3);
  for (const double alpha : {4.0 / 3, 1.5, 2.0, 5.0}) {
    ClassificationOptions options = three(alpha);
    options.minimize.tolerance = 0;
    ClassificationFit result = fit(table, options);
    EXPECT_LT(result.loss, 1e-30) << alpha;
    result.coefficients *= 1 + 1e-6;
    result.intercepts *= 1 + 1e-6;
    for (index_t i = 0; i < table.rows(); ++i) {
      const VectorScore z = scores(result, features(table, i));
      const auto label = static_cast<index_t>(table.at(i, 0));
      EXPECT_EQ(fenchel_young(Tsallis(alpha), z, Finite(), label).value, 0) << alpha;
      for (index_t k = 0; k < kClasses; ++k) {
        if (k == label) continue;
        const double margin =
            z.values()[static_cast<std::size_t>(label)] - z.values()[static_cast<std::size_t>(k)];
        EXPECT_GE(margin, 1 / (alpha - 1)) << alpha;
      }
    }
  }
  const ClassificationFit softmax = fit(table, three(1));
  EXPECT_GT(softmax.loss, 0);
  EXPECT_LT(softmax.loss, 1e-7);
}

TEST(Classification, OneHotSoftLabelsAreClasses) {
  const Table table = drawn(60, 1, 4);
  Table soft{kClasses + kFeatures}, mixed = soft;
  for (index_t i = 0; i < 60; ++i) {
    const auto is = [&](int k) { return static_cast<double>(table.at(i, 0) == k); };
    const double a = table.at(i, 1), b = table.at(i, 2);
    soft.add({is(0), is(1), is(2), a, b});
    mixed.add({(1 + 2 * is(0)) / 5, (1 + 2 * is(1)) / 5, (1 + 2 * is(2)) / 5 + 5e-5, a, b});
  }
  for (const double alpha : {1.0, 1.5, 2.0}) {
    ClassificationOptions options = three(alpha);
    const ClassificationFit hard = fit(table, options);
    options.labels = Labels::soft;
    const ClassificationFit same = fit(soft, options), smooth = fit(mixed, options);
    EXPECT_NEAR(same.loss, hard.loss, 1e-12) << alpha;
    EXPECT_LT((same.coefficients - hard.coefficients).norm(), 1e-6 * hard.coefficients.norm()) << alpha;
    EXPECT_EQ(same.names, (std::vector<std::string>{"3", "4"})) << alpha;
    EXPECT_EQ(smooth.status, MinimizeStatus::converged) << alpha;
    Eigen::Vector3d mean = Eigen::Vector3d::Zero();
    for (index_t i = 0; i < 60; ++i)
      for (index_t k = 0; k < kClasses; ++k)
        mean[k] += pmf(predict(smooth, features(mixed, i, kClasses)), k) - mixed.at(i, k) / (1 + 5e-5);
    EXPECT_LT(mean.norm(), 1e-6) << alpha;
  }
}

TEST(Classification, WeightsAreRepetitions) {
  Table weighted = drawn(60, 1, 5), repeated{3};
  for (index_t i = 0; i < 60; ++i) {
    weighted.weights.push_back(static_cast<double>(i % 4));
    for (index_t k = 0; k < i % 4; ++k)
      repeated.add({weighted.at(i, 0), weighted.at(i, 1), weighted.at(i, 2)});
  }
  const ClassificationFit a = fit(weighted, three(1.5)), b = fit(repeated, three(1.5));
  EXPECT_EQ(a.weight, 90);
  EXPECT_NEAR(a.loss, b.loss, 1e-12);
  EXPECT_LT((a.coefficients - b.coefficients).norm(), 1e-6 * b.coefficients.norm());
}

TEST(Classification, UnitsOfFeaturesChangeTheirCoefficientsAlone) {
  for (const double penalty : {0.0, 0.1}) {
    Table table = drawn(60, 1, 6);
    const ClassificationFit before = fit(table, three(1.5, penalty));
    for (index_t i = 0; i < 60; ++i) {
      table.at(i, 1) *= 1e6;
      table.at(i, 2) += 1e4;
    }
    const ClassificationFit after = fit(table, three(1.5, penalty));
    EXPECT_NEAR(after.loss, before.loss, 1e-12);
    EXPECT_LT((1e6 * after.coefficients.col(0) - before.coefficients.col(0)).norm(), 1e-6);
    EXPECT_LT((after.coefficients.col(1) - before.coefficients.col(1)).norm(), 1e-6);
  }
}

TEST(Classification, WithoutFeaturesPredictsTheFrequencies) {
  for (const double alpha : {0.5, 1.0, 1.5, 2.0}) {
    const SparseCategorical p = predict(fit({1, {0, 1, 1, 1, 0, 1}}, {.alpha = alpha, .penalty = 0}), {});
    EXPECT_NEAR(pmf(p, 0), 1.0 / 3, 2e-9) << alpha;
  }
}

TEST(Classification, ConstantFeatureNeedsAPenalty) {
  Table table = drawn(60, 1, 7);
  for (index_t i = 0; i < 60; ++i) table.at(i, 2) = 0;
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(fit(table, three(1.5))); }),
            "fenchel::fit_classification: column '2' must vary unless the penalty is positive, got 0");
  EXPECT_EQ(fit(table, three(1.5, 1e-3)).coefficients.col(1).norm(), 0);
}

TEST(Classification, ProbabilitiesAreThePredictionsOfRows) {
  const Table table = drawn(60, 1, 8);
  const ClassificationFit result = fit(table, three(1.5));
  std::vector<double> p(60 * kClasses);
  probabilities(result, {table.values.data() + 1, 60, kFeatures, table.cols}, {p.data(), 60, kClasses});
  for (index_t i = 0; i < 60; ++i)
    for (index_t k = 0; k < kClasses; ++k)
      EXPECT_NEAR(p[static_cast<std::size_t>(i * kClasses + k)], pmf(predict(result, features(table, i)), k),
                  1e-15);
}

TEST(Classification, DoesNotDependOnThreads) {
  const Table table = drawn(3 * RowsSource::kRowsPerBatch - 5, 1, 9);
  std::vector<ClassificationFit> fits;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    fits.push_back(fit(table, three(2, 1e-3)));
  }
  set_num_threads(0);
  EXPECT_EQ(fits[0].coefficients, fits[1].coefficients);
  EXPECT_EQ(fits[0].intercepts, fits[1].intercepts);
  EXPECT_EQ(fits[0].loss, fits[1].loss);
}

TEST(Classification, Cancels) {
  const Table table = drawn(60, 1, 1);
  ClassificationOptions options = three(1.5);
  options.minimize.callback = [](const MinimizeStep& step) { return step.iteration < 2; };
  EXPECT_EQ(fit(table, options).status, MinimizeStatus::cancelled);
  const RowsSource source = table.source();
  const Data data{source, Processes::alone(), [](const Progress&) { return false; }};
  EXPECT_THROW(static_cast<void>(fit_classification(data, three(1.5))), Cancelled);
}

TEST(Classification, BadInputIsNamed) {
  const auto message = [](const Table& table, const ClassificationOptions& options) {
    return message_of<std::exception>([&] { static_cast<void>(fit(table, options)); });
  };
  const Table good{2, {1, 1, 0, 2, 0, 3}};
  EXPECT_EQ(message(good, {.alpha = 0}),
            "fenchel::fit_classification: alpha must be positive and finite, got 0");
  EXPECT_EQ(message(good, {.alpha = kInf}),
            "fenchel::fit_classification: alpha must be positive and finite, got inf");
  EXPECT_EQ(message(good, {.classes = 1}),
            "fenchel::fit_classification: classes must number at least 2, got 1");
  EXPECT_EQ(message(good, {.penalty = kNaN}),
            "fenchel::fit_classification: penalty must be finite and not negative, got nan");
  EXPECT_EQ(message({2, {1, 1, 2, 2}}, {}), "row 1, column 0: class must be an integer in [0, 2), got 2");
  EXPECT_EQ(message({2, {1, 1, 0.5, 2}}, {}), "row 1, column 0: class must be an integer in [0, 2), got 0.5");
  EXPECT_EQ(message({2, {1, 1, kNaN, 2}}, {}),
            "row 1, column 0: class must be an integer in [0, 2), got nan");
  EXPECT_EQ(message({2, {1, 1, 0, kInf}}, {}), "row 1, column 1: feature must be finite, got inf");
  EXPECT_EQ(message({2, {0.5, 0.5, 1.5, -0.5}}, {.labels = Labels::soft}),
            "row 1, column 1: label must not be negative, got -0.5");
  EXPECT_EQ(message({2, {0.5, 0.5, 0.5, 0.75}}, {.labels = Labels::soft}),
            "row 1, column 0: the sum of labels must be 1, got 1.25");
  EXPECT_EQ(message(good, {.classes = 3, .labels = Labels::soft}),
            "fenchel::fit_classification: columns must number at least 3, got 2");
  const ClassificationFit result = fit(good, {.penalty = 1});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(predict(result, {})); }),
            "fenchel::predict: features must number 1, got 0");
  std::vector<double> p(3);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              probabilities(result, {good.values.data(), 1, 2}, {p.data(), 1, 2});
            }),
            "fenchel::probabilities: features must number 1, got 2");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              probabilities(result, {good.values.data(), 1, 1}, {p.data(), 1, 3});
            }),
            "fenchel::probabilities: p must have a row for each row and a column for each class, got 1 x 3");
}

}  // namespace
}  // namespace fenchel
