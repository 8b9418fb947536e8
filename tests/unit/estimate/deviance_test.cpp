#include "fenchel/estimate/regression/deviance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <utility>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/loss/integers.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/table.hpp"

namespace fenchel {
namespace {

using testing::message_of;
using testing::Table;

const std::vector<double> kAlphas{0.6, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0};

CountRegressionFit line(double alpha, double slope, double intercept) {
  CountRegressionFit fit{};
  fit.alpha = alpha;
  fit.coefficients = Eigen::VectorXd::Constant(1, slope);
  fit.intercept = intercept;
  return fit;
}

double explained(const CountRegressionFit& fit, const Table& table) {
  const RowsSource source = table.source();
  return explained_deviance(fit, {source});
}

Table counts() {
  Table table{2};
  for (const auto& [y, x] :
       {std::pair{0., -1.}, {1., -0.5}, {0., 0.}, {3., 0.2}, {2., 0.7}, {7., 1.1}, {6., 1.4}})
    table.add({y, x});
  return table;
}

double loss(double alpha, double theta, double count) {
  return cross_omega(Tsallis(alpha), PoissonScore(std::exp(theta)), Naturals(), static_cast<index_t>(count))
      .value;
}

/// The least loss of a count, by trying a grid of theta that is refined about its best.
double least_loss(double alpha, double count) {
  double best = loss(alpha, std::log(count), count), middle = std::log(count);
  for (double step = 0.1; step > 1e-7; step /= 10) {
    const double from = middle;
    for (int k = -15; k <= 15; ++k) {
      if (const double value = loss(alpha, from + k * step, count); value < best) {
        best = value;
        middle = from + k * step;
      }
    }
  }
  return best;
}

TEST(Deviance, IsPoissonsAtAlphaOne) {
  // sklearn.metrics.d2_tweedie_score(y, exp(0.9 x + 0.2), power=1, sample_weight=w) of scikit-learn 1.9.
  Table table = counts();
  const auto fit = line(1, 0.9, 0.2);
  EXPECT_NEAR(explained(fit, table), 0.577515650025848, 1e-14);
  table.weights = {1, 2, 0, 1, 3, 0.5, 1};
  EXPECT_NEAR(explained(fit, table), 0.6675247134508373, 1e-14);
}

TEST(Deviance, IsTheLossLessTheLeastThatACountCanHave) {
  const Table table = counts();
  for (const double alpha : kAlphas) {
    const auto fit = line(alpha, 0.9, 0.2);
    const CountHistogram all = CountHistogram::of(std::vector<double>{0, 1, 0, 3, 2, 7, 6});
    const double constant = std::log(fit_sparse_poisson(alpha, all).distribution.mu());
    double of_fit = 0, of_constant = 0;
    for (index_t i = 0; i < table.rows(); ++i) {
      const double y = table.at(i, 0), least = y > 0 ? least_loss(alpha, y) : 0;
      of_fit += loss(alpha, 0.9 * table.at(i, 1) + 0.2, y) - least;
      of_constant += loss(alpha, constant, y) - least;
    }
    EXPECT_NEAR(explained(fit, table), 1 - of_fit / of_constant, 1e-9) << alpha;
    EXPECT_NEAR(explained(line(alpha, 0, constant), table), 0, 1e-12) << alpha;
  }
}

TEST(Deviance, OfAMeanIsThatOfItsCountsLessWhatTheyVary) {
  // The loss is linear in the count but for terms without theta, so differences of two fits are the same.
  for (const double alpha : {0.8, 1.0, 2.0}) {
    Table means{2}, pairs{2};
    for (const auto& [y, x] : {std::pair{0.5, -1.}, {2.25, 0.}, {4.5, 1.}}) {
      means.add({y, x});
      for (const double count : {std::floor(y), std::floor(y) + 1}) {
        pairs.add({count, x});
        pairs.weights.push_back(count > y ? y - std::floor(y) : 1 - (y - std::floor(y)));
      }
    }
    const double constant = explained(line(alpha, 0, 0.5), means),
                 better = explained(line(alpha, 0.8, 0.5), means);
    const double ratio = (explained(line(alpha, 0.8, 0.5), pairs) - explained(line(alpha, 0, 0.5), pairs)) /
                         (explained(line(alpha, 0.4, 0.5), pairs) - explained(line(alpha, 0, 0.5), pairs));
    EXPECT_NEAR((better - constant) / (explained(line(alpha, 0.4, 0.5), means) - constant), ratio, 1e-10)
        << alpha;
  }
}

TEST(Deviance, OfRowsThatAreAllEqual) {
  Table table{2};
  for (int i = 0; i < 5; ++i) table.add({3, static_cast<double>(i)});
  for (const double alpha : {0.8, 1.0, 2.0}) {
    const double theta =
        std::log(fit_sparse_poisson(alpha, CountHistogram::of(std::vector{3.0})).distribution.mu());
    EXPECT_EQ(explained(line(alpha, 0, theta), table), 1) << alpha;
    EXPECT_EQ(explained(line(alpha, 1, 0), table), 0) << alpha;
  }
}

TEST(Deviance, DoesNotDependOnThreads) {
  Table table{2};
  for (int i = 0; i < 20'000; ++i) table.add({static_cast<double>(i % 7), i % 11 / 10.0});
  const auto fit = line(2, 0.3, 1);
  const double expected = explained(fit, table);
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    EXPECT_EQ(explained(fit, table), expected);
  }
  set_num_threads(0);
}

TEST(Deviance, BadDataAreRefused) {
  const auto message = [](const Table& table) {
    return message_of<std::exception>([&] { static_cast<void>(explained(line(2, 1, 0), table)); });
  };
  EXPECT_EQ(message({2, {1, 0, -1, 0}}), "row 1, column 0: count must be in [0, 2^52], got -1");
  EXPECT_EQ(message({2, {1, 0}, {0}}),
            "fenchel::explained_deviance: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(message({3, {1, 0, 0}}), "fenchel::explained_deviance: features must number 1, got 2");
}

}  // namespace
}  // namespace fenchel
