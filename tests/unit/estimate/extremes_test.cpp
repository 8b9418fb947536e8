#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/linear_score.hpp"
#include "fenchel/estimate/fit/location_scale.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/smooth.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"
#include "fenchel/estimate/regression/classification.hpp"
#include "fenchel/estimate/regression/least_squares.hpp"
#include "fenchel/estimate/regression/objective.hpp"
#include "fenchel/estimate/regression/regression.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::message_of;

RowsSource source_of(std::span<const double> values, index_t columns, std::span<const double> weights = {}) {
  return RowsSource({values.data(), static_cast<index_t>(values.size()) / columns, columns}, weights);
}

std::vector<double> spread_values(double middle, double unit) {
  std::vector<double> values;
  for (int i = -50; i <= 50; ++i) values.push_back(middle + unit * std::ldexp(i, -5));
  return values;
}

TEST(Extremes, ALocationFarFromZeroChangesNoScale) {
  const auto near = spread_values(0, 1), far = spread_values(1e12, 1);
  for (const double gamma : {0., 1., 1e10}) {
    const auto near_parabola = fit_smooth_parabola(gamma, LineMoments::of(near)),
               far_parabola = fit_smooth_parabola(gamma, LineMoments::of(far));
    const auto near_triangular = fit_smooth_triangular(gamma, AbsoluteMoments::of(0, near)),
               far_triangular = fit_smooth_triangular(gamma, AbsoluteMoments::of(1e12, far));
    EXPECT_EQ(far_parabola.parameters[0], 1e12);
    EXPECT_NEAR(far_parabola.parameters[1] / near_parabola.parameters[1], 1, 1e-12);
    EXPECT_NEAR(far_triangular.parameters[1] / near_triangular.parameters[1], 1, 1e-12);
    for (const int k : {0, 1}) {
      EXPECT_NEAR(far_parabola.standard_errors()[k] / near_parabola.standard_errors()[k], 1, 1e-9) << gamma;
      EXPECT_NEAR(far_triangular.standard_errors()[k] / near_triangular.standard_errors()[k], 1, 1e-9);
    }
  }
}

TEST(Extremes, WithoutGammaAnInfiniteRoughnessCountsForNothing) {
  EXPECT_NEAR(fit_smooth_triangular(0, AbsoluteMoments::of(0, spread_values(0, 1e-140))).loss /
                  fit_smooth_triangular(0, AbsoluteMoments::of(0, spread_values(0, 1e-20))).loss,
              1e120, 1e106);
}

TEST(Extremes, AVarianceOutOfTheRangeOfDoublesIsNamed) {
  const auto tiny = spread_values(0, 0x1p-532), huge = spread_values(0, 1e160);
  const auto tiny_source = source_of(tiny, 1), huge_source = source_of(huge, 1);
  const double variance = LineMoments::of(tiny).variance();
  ASSERT_GT(variance, 0);
  const auto message = [](const char* where, double got) {
    return std::string("fenchel::") + where +
           ": the variance must be in the range of normal doubles (choose another unit), got " +
           shortest(got);
  };
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_beta_gaussian(1, LineMoments::of(tiny)); }),
            message("fit_beta_gaussian", variance));
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_truncated_gaussian(3, Data{tiny_source}); }),
            message("fit_truncated_gaussian", variance));
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_truncated_gaussian(3, Data{huge_source}); }),
            message("fit_truncated_gaussian", kInf));
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)fit_multivariate_beta_gaussian(Data{tiny_source}); }),
      "fenchel::fit_multivariate_beta_gaussian: the variance of column '0' must be in the range of normal "
      "doubles (choose another unit), got " +
          shortest(variance));
  const auto cube = [](double t) { return t * t * t / 3; };
  const auto square = [](double t) { return t * t; };
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_location_scale(cube, square, Data{huge_source}); }),
            message("fit_location_scale", kInf));
}

TEST(Extremes, APhiWithoutVarianceIsFittedToItsMean) {
  const auto fit_squares = [](const std::vector<double>& values) {
    const auto source = source_of(values, 1);
    return fit_linear_score(1, {[](double t) { return t * t; }}, Interval(-kInf, kInf), Data{source});
  };
  for (const double t : {1., 1e-20, 1e-60})
    EXPECT_NEAR(-2 * fit_squares({-t, t}).parameters[0] * t * t, 1, 1e-7) << t;
  // The variance of squares underflows; so narrow a density is not found.
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_squares(spread_values(0, 1e-100)); }),
            "fenchel::fit_linear_score: start must be given where theta = 0 and single phi have no density, "
            "got none");
}

TEST(Extremes, ARowOfNoWeightCountsForNothingHoweverFarOffItIs) {
  const std::vector<double> rows = {1e10, 1, -2e10, 1.5, 3e10, 4, 5e10, 4.5, 0, 1.7e308};
  const std::vector<double> weights = {1, 1, 1, 1, 0};
  const auto all = source_of(rows, 2, weights), without = source_of(std::span(rows).first(8), 2);
  const LeastSquares line = fit_least_squares({all}), same = fit_least_squares({without});
  EXPECT_EQ(line.coefficients, same.coefficients);
  EXPECT_EQ(line.variance, same.variance);
}

TEST(Extremes, ALossThatOverflowsInTheUnitOfYIsInfinite) {
  std::vector<double> rows;
  for (const double y : spread_values(0, 1e-100)) rows.push_back(y);
  const auto source = source_of(rows, 1);
  RegressionOptions options;
  options.alpha = 5;
  options.link = ScaleLink::log;
  options.penalty = 0;
  options.starts = 1;
  const RegressionFit fit = fit_regression({source}, options);
  EXPECT_EQ(fit.status, MinimizeStatus::converged);
  EXPECT_EQ(fit.loss, -kInf);
  EXPECT_EQ(fit.starts[0].objective, -kInf);
}

TEST(Extremes, AWeightThatOverflowsIsNamed) {
  const std::vector<double> classes = {0, 1, 1}, weights(3, 1e308);
  const auto source = source_of(classes, 1, weights);
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_classification({source}); }),
            "fenchel::fit_classification: the weight of all rows must be positive and finite, got inf");
}

TEST(Extremes, BytesOfALossWithANegativeWeightAreRefused) {
  ObjectiveSum negative(1), sum(1);
  negative.add(-1, 0, Eigen::VectorXd::Zero(1));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { sum.merge_bytes(negative.to_bytes()); }),
            "fenchel::objective_sum: bytes must hold a weight that is not negative, got other content");
}

}  // namespace
}  // namespace fenchel
