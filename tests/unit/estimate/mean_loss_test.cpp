#include "fenchel/estimate/statistics/mean_loss.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/distribution/euclidean/multivariate_empirical.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/multivariate_quadratic.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "support/column.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::column;
using testing::kInf;
using testing::kNaN;
using testing::message_of;

std::vector<double> values_of(std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(static_cast<double>(i)) + 0.3;
  return values;
}
/// 0, 1, 2, 0, ...
std::vector<double> weights_of(std::size_t n) {
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) weights[i] = static_cast<double>(i % 3);
  return weights;
}
/// Each value as often as its weight says.
std::vector<double> repeated(const std::vector<double>& values, const std::vector<double>& weights) {
  std::vector<double> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (double w = 0; w < weights[i]; ++w) all.push_back(values[i]);
  return all;
}

TEST(MeanLoss, IsTheLossOfTheSample) {
  const std::vector<double> values = values_of(20'000), weights = weights_of(20'000);
  const std::vector<double> all = repeated(values, weights);
  const RowsSource source(column(values), weights);
  const QuadraticScore quadratic(0.2, 1.5);
  const AbsoluteScore absolute(0.2, 1.5);
  for (const double alpha : {0.8, 1., 1 + 1e-8, 1.5, 2., 5., kInf}) {
    const Tsallis omega(alpha);
    const auto found = mean_cross_omega(omega, quadratic, Line(), {source});
    const auto expected = cross_omega(omega, quadratic, Line(), Empirical(all));
    EXPECT_NEAR(found.value, expected.value, 1e-12) << alpha;
    EXPECT_NEAR(found.gradient.mu, expected.gradient.mu, 1e-12) << alpha;
    EXPECT_NEAR(found.gradient.sigma2, expected.gradient.sigma2, 1e-12) << alpha;
    EXPECT_NEAR(found.gradient.alpha, expected.gradient.alpha, 1e-12) << alpha;
    EXPECT_EQ(found.weight, static_cast<double>(all.size()));
    const auto of_absolute = mean_cross_omega(omega, absolute, Line(), {source});
    const auto expected_absolute = cross_omega(omega, absolute, Line(), Empirical(all));
    EXPECT_NEAR(of_absolute.value, expected_absolute.value, 1e-12) << alpha;
    EXPECT_NEAR(of_absolute.gradient.b, expected_absolute.gradient.b, 1e-12) << alpha;
  }
  set_num_threads(1);
  const double one = mean_cross_omega(Tsallis(1.5), quadratic, Line(), {source}).value;
  set_num_threads(3);
  EXPECT_EQ(mean_cross_omega(Tsallis(1.5), quadratic, Line(), {source}).value, one);
  set_num_threads(0);
}

TEST(MeanLoss, OfAFormulaIsInfiniteWhereItIsMasked) {
  const std::vector<double> values = {0.5, 1.5};
  const RowsSource inside({values.data(), 1, 1}), outside(column(values));
  const FunctionScore f([](double t) { return -t * t; });
  const Interval domain(0, 1);
  EXPECT_NEAR(mean_cross_omega(Tsallis(2), f, domain, {inside}).value,
              cross_omega(Tsallis(2), f, domain, Dirac{0.5}).value, 1e-14);
  EXPECT_EQ(mean_cross_omega(Tsallis(2), f, domain, {outside}).value, kInf);
}

TEST(MeanLoss, InSpaceAndOnTheIntegers) {
  const std::vector<double> values = values_of(600), weights = weights_of(300);
  const RowsSource plane({values.data(), 300, 2}, weights);
  Eigen::MatrixXd columns(2, 0);
  for (index_t i = 0; i < 300; ++i)
    for (double w = 0; w < weights[static_cast<std::size_t>(i)]; ++w) {
      columns.conservativeResize(2, columns.cols() + 1);
      columns.rightCols(1) = Eigen::Map<const Eigen::Vector2d>(values.data() + 2 * i);
    }
  const MultivariateQuadraticScore f(Eigen::Vector2d(0.1, 0.2), Eigen::Matrix2d{{1, 0.2}, {0.2, 2}});
  const auto found = mean_cross_omega(Tsallis(1.5), f, Euclidean(2), {plane});
  const auto expected = cross_omega(Tsallis(1.5), f, Euclidean(2), MultivariateEmpirical(columns));
  EXPECT_NEAR(found.value, expected.value, 1e-12);
  EXPECT_LT((found.gradient.Sigma - expected.gradient.Sigma).cwiseAbs().maxCoeff(), 1e-12);

  const std::vector<double> counts = {3, 0, 7, 3}, shares = {1, 2, 0, 1};
  const RowsSource integers(column(counts), shares);
  const std::vector<index_t> sample = {3, 0, 0, 3};
  const auto poisson = mean_cross_omega(Tsallis(1.5), PoissonScore(2), Naturals(), {integers});
  const auto of_sample = cross_omega(Tsallis(1.5), PoissonScore(2), Naturals(), sample);
  EXPECT_NEAR(poisson.value, of_sample.value, 1e-14);
  EXPECT_NEAR(poisson.gradient.log_mu, of_sample.gradient.log_mu, 1e-14);
  const auto gaussian = mean_cross_omega(Tsallis(2), QuadraticScore(1, 2), Integers(), {integers});
  EXPECT_NEAR(gaussian.value, cross_omega(Tsallis(2), QuadraticScore(1, 2), Integers(), sample).value, 1e-14);
}

TEST(MeanLoss, RefusesWhatIsNoData) {
  const std::vector<double> values = {1, kNaN}, zero = {0, 0}, one = {1, 1};
  const QuadraticScore f(0, 1);
  EXPECT_EQ(message_of<DataError>(
                [&] { (void)mean_cross_omega(Tsallis(2), f, Line(), {RowsSource(column(values))}); }),
            "row 1, column 0: value must be finite, got nan");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { (void)mean_cross_omega(Tsallis(2), f, Line(), {RowsSource(column(one), zero)}); }),
            "fenchel::mean_cross_omega: the weight of all rows must be positive and finite, got 0");
}

TEST(Empirical, HasWeights) {
  const std::vector<double> values = {1, 2, 4}, weights = {1, 0, 3};
  EXPECT_EQ(mean(Empirical(values, weights)), 13. / 4);
  EXPECT_EQ(variance(Empirical(values, weights)), 27. / 16);
  const std::vector<double> few = {1}, negative = {1, -1, 1}, none = {0, 0, 0};
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)Empirical(values, few); }),
            "fenchel::empirical: weights must be one for each value, got 1");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)Empirical(values, negative); }),
            "fenchel::empirical: a weight must not be negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)Empirical(values, none); }),
            "fenchel::empirical: the sum of the weights must be positive and finite, got 0");
}

}  // namespace
}  // namespace fenchel
