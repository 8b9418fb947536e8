#include "fenchel/estimate/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>
#include <functional>
#include <vector>

#include "estimate/statistics/byte_format.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/estimate/statistics/phi_moments.hpp"
#include "fenchel/estimate/statistics/radial_moments.hpp"
#include "support/column.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::column;
using testing::kInf;
using testing::kNaN;
using testing::message_of;

const std::vector<double> kValues{1, 2, 4, 9}, kWeights{1, 2, 0, 1};

TEST(LineMoments, AreThoseOfTheDefinition) {
  const LineMoments plain = LineMoments::of(kValues);
  EXPECT_EQ(plain.weight(), 4);
  EXPECT_EQ(plain.mean(), 4);
  EXPECT_EQ(plain.variance(), 9.5);
  EXPECT_EQ(plain.central_moment(2), 9.5);
  EXPECT_EQ(plain.central_moment(3), 22.5);
  EXPECT_EQ(plain.central_moment(4), 180.5);
  EXPECT_EQ(plain.minimum(), 1);
  EXPECT_EQ(plain.maximum(), 9);
}

TEST(LineMoments, RowsOfWeightZeroCountForNothing) {
  const std::vector<double> values{-50, 1, 2, 2, 9, 1e300}, weights{0, 1, 1, 1, 1, 0};
  const std::vector<double> others{1, 2, 9}, counts{1, 2, 1};
  const LineMoments with = LineMoments::of(values, weights), without = LineMoments::of(others, counts);
  EXPECT_EQ(with.weight(), without.weight());
  EXPECT_EQ(with.mean(), without.mean());
  EXPECT_EQ(with.central_moment(4), without.central_moment(4));
  EXPECT_EQ(with.minimum(), 1);
  EXPECT_EQ(with.maximum(), 9);
  LineMoments none;
  none.update(column(values), 0.0);
  EXPECT_EQ(none.to_bytes(), LineMoments().to_bytes());
}

TEST(LineMoments, AConstantColumnHasNoVarianceAtAll) {
  LineMoments moments;
  for (int batch = 1; batch <= 30; ++batch)
    moments.update(column(std::vector<double>(static_cast<std::size_t>(37 * batch), 0.1)), 0.3 * batch);
  EXPECT_EQ(moments.mean(), 0.1);
  for (int n = 2; n <= 4; ++n) EXPECT_EQ(moments.central_moment(n), 0);
}

TEST(LineMoments, WithoutDataNothingIsKnown) {
  const LineMoments none = LineMoments::from_bytes(LineMoments().to_bytes());
  EXPECT_EQ(none.weight(), 0);
  EXPECT_TRUE(std::isnan(none.mean()));
  EXPECT_TRUE(std::isnan(none.variance()));
  EXPECT_TRUE(std::isnan(none.central_moment(4)));
  EXPECT_EQ(none.minimum(), kInf);
  EXPECT_EQ(none.maximum(), -kInf);
}

TEST(LineMoments, PowersThatOverflowAreInfiniteAndTheMeanIsNot) {
  const std::vector<double> values{1e200, 3e200};
  LineMoments moments = LineMoments::of(values);
  moments.merge_bytes(LineMoments::of(values).to_bytes());
  EXPECT_DOUBLE_EQ(moments.mean(), 2e200);
  EXPECT_EQ(moments.variance(), kInf);
  EXPECT_EQ(moments.central_moment(4), kInf);
}

TEST(LineMoments, RowsMayLieApart) {
  const std::vector<double> table{1, 100, 2, 200, 4, 300, 9, 400};
  LineMoments apart, backwards;
  apart.update({table.data(), 4, 1, 2});
  backwards.update({table.data() + 6, 4, 1, -2});
  EXPECT_EQ(apart.to_bytes(), LineMoments::of(kValues).to_bytes());
  EXPECT_EQ(backwards.variance(), 9.5);
}

/// update with a bad entry throws this message and leaves the statistic as it was.
template <class S, class Error = BadEntry>
void expect_refused(S statistic, Rows<const double> rows, PerRow weights, const std::string& message) {
  const Bytes before = statistic.to_bytes();
  EXPECT_EQ(message_of<Error>([&] { statistic.update(rows, weights); }), message);
  EXPECT_EQ(statistic.to_bytes(), before);
}

TEST(Statistics, BadEntriesAreNamedAndLeaveNoTrace) {
  std::vector<double> values(5000, 1.0), weights(5000, 1.0);
  const auto with = [](std::vector<double> x, std::size_t at, double bad) {
    x[at] = bad;
    return x;
  };
  const LineMoments line = LineMoments::of(kValues);
  expect_refused(line, column(with(values, 4999, kNaN)), 1.0,
                 "fenchel::line_moments: value[4999] must be finite, got nan");
  expect_refused(line, column(with(values, 0, -kInf)), 1.0,
                 "fenchel::line_moments: value[0] must be finite, got -inf");
  expect_refused(line, column(values), with(weights, 4321, -1),
                 "fenchel::line_moments: weight[4321] must be finite and not negative, got -1");
  expect_refused(line, column(values), with(weights, 7, kNaN),
                 "fenchel::line_moments: weight[7] must be finite and not negative, got nan");
  expect_refused(line, column(values), kInf,
                 "fenchel::line_moments: weight[0] must be finite and not negative, got inf");
  expect_refused(line, column(with(values, 3, kInf)), with(weights, 3, 0),
                 "fenchel::line_moments: value[3] must be finite, got inf");
  expect_refused(Moments(2), {with(values, 9, kInf).data(), 2500, 2}, 1.0,
                 "fenchel::moments: value[4] must be finite, got inf");
  expect_refused(AbsoluteMoments(0), column(with(values, 2, kInf)), 1.0,
                 "fenchel::absolute_moments: value[2] must be finite, got inf");
  expect_refused(RadialMoments(Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Identity(1, 1)),
                 column(with(values, 2, kInf)), 1.0,
                 "fenchel::radial_moments: value[2] must be finite, got inf");
  const PhiMoments phi({[](double t) { return t; }, [](double t) { return std::log(t); }});
  expect_refused(phi, column(with(values, 2, 0)), 1.0,
                 "fenchel::phi_moments: phi_1 of value[2] must be finite, got -inf");
  expect_refused(phi, column(with(values, 2, kNaN)), 1.0,
                 "fenchel::phi_moments: value[2] must be finite, got nan");
  expect_refused(
      CountHistogram(), column(with(values, 2, 0.5)), 1.0,
      "fenchel::count_histogram: value[2] must be an integer of absolute value at most 2^53, got 0.5");
  expect_refused(CountHistogram(), column(with(values, 2, -1e17)), 1.0,
                 "fenchel::count_histogram: value[2] must be an integer of absolute value at most 2^53, got "
                 "-1e+17");
  expect_refused(CountHistogram(), column(values), with(weights, 1, -2),
                 "fenchel::count_histogram: weight[1] must be finite and not negative, got -2");
}

TEST(Statistics, ABadEntryHasItsColumn) {
  const std::vector<double> table{1, 2, 3, 4, kNaN, 6};
  try {
    static_cast<void>(Moments::of({table.data(), 2, 3}));
    FAIL();
  } catch (const BadEntry& bad) {
    EXPECT_EQ(bad.row(), 1);
    EXPECT_EQ(bad.column(), 1);
    EXPECT_EQ(bad.complaint(), "value must be finite, got nan");
  }
}

TEST(Statistics, ShapesMustFit) {
  using Invalid = std::invalid_argument;
  const std::vector<double> two{1, 2};
  expect_refused<LineMoments, Invalid>({}, {kValues.data(), 2, 2}, 1.0,
                                       "fenchel::line_moments: columns must be 1, got 2");
  expect_refused<LineMoments, Invalid>(
      {}, column(kValues), two, "fenchel::line_moments: weights must have one entry for each row, got 2");
  expect_refused<Moments, Invalid>(Moments(3), {kValues.data(), 2, 2}, 1.0,
                                   "fenchel::moments: columns must be 3, got 2");
  expect_refused<CountHistogram, Invalid>({}, {kValues.data(), 2, 2}, 1.0,
                                          "fenchel::count_histogram: columns must be 1, got 2");
  EXPECT_EQ(message_of<Invalid>([] { Moments(2).merge(Moments(3)); }),
            "fenchel::moments: dimension must be 2, got 3");
  EXPECT_EQ(message_of<Invalid>([] { Moments(0); }), "fenchel::moments: dimension must be positive, got 0");
  EXPECT_EQ(message_of<Invalid>([] { AbsoluteMoments(1).merge(AbsoluteMoments(2)); }),
            "fenchel::absolute_moments: centre must be 1, got 2");
  EXPECT_EQ(message_of<Invalid>([] { AbsoluteMoments(1).merge(AbsoluteMoments(1, {2})); }),
            "fenchel::absolute_moments: powers must be the same, got others");
  EXPECT_EQ(message_of<Invalid>([] { static_cast<void>(AbsoluteMoments(1).moment(1)); }),
            "fenchel::absolute_moments: k must be the index of a power, got 1");
  EXPECT_EQ(message_of<Invalid>([] { PhiMoments({}); }),
            "fenchel::phi_moments: phi must not be empty, got 0");
}

TEST(Statistics, ParametersAndSumsMustBeFinite) {
  using Domain = std::domain_error;
  EXPECT_EQ(message_of<Domain>([] { AbsoluteMoments{kInf}; }),
            "fenchel::absolute_moments: centre must be finite, got inf");
  EXPECT_EQ(message_of<Domain>([] {
              AbsoluteMoments(0, {1, -1});
            }),
            "fenchel::absolute_moments: powers[1] must be positive and finite, got -1");
  EXPECT_EQ(message_of<Domain>([] { static_cast<void>(LineMoments().central_moment(5)); }),
            "fenchel::line_moments: n must be 2, 3 or 4, got 5");
  EXPECT_EQ(message_of<Domain>([] { RadialMoments(Eigen::VectorXd::Zero(2), Eigen::MatrixXd::Ones(2, 2)); }),
            "fenchel::radial_moments: covariance must be finite and positive definite, got another matrix");
  expect_refused<LineMoments, Domain>(LineMoments::of(kValues), column(kValues), 1e308,
                                      "fenchel::line_moments: weight must be finite, got inf");
  const std::vector<double> apart{-1.7e308, 1.7e308};
  const auto overflow = message_of<Domain>([&] { LineMoments().update(column(apart), 3.0); });
  EXPECT_TRUE(overflow.starts_with("fenchel::line_moments: mean must be finite, got ")) << overflow;
}

TEST(Moments, AreThoseOfTheDefinition) {
  const std::vector<double> table{1, 2, 3, 5, 8, -7, 100, 100};
  const Moments moments = Moments::of({table.data(), 4, 2}, std::vector<double>{1, 2, 1, 0});
  EXPECT_EQ(moments.dimension(), 2);
  EXPECT_EQ(moments.weight(), 4);
  EXPECT_EQ(moments.mean(), Eigen::Vector2d(3.75, 1.25));
  EXPECT_DOUBLE_EQ(moments.covariance()(0, 0), 83 / 4.0 - 3.75 * 3.75);
  EXPECT_DOUBLE_EQ(moments.covariance()(0, 1), -24 / 4.0 - 3.75 * 1.25);
  EXPECT_DOUBLE_EQ(moments.covariance()(1, 0), moments.covariance()(0, 1));
  EXPECT_DOUBLE_EQ(moments.covariance()(1, 1), 103 / 4.0 - 1.25 * 1.25);
  EXPECT_TRUE(std::isnan(Moments(1).mean()[0]));
  EXPECT_TRUE(std::isnan(Moments(1).covariance()(0, 0)));
}

TEST(PhiMoments, AreTheMomentsOfPhi) {
  PhiMoments phi({[](double t) { return t; }, [](double t) { return t * t; }});
  phi.update(column(kValues), kWeights);
  EXPECT_EQ(phi.weight(), 4);
  EXPECT_EQ(phi.mean(), Eigen::Vector2d(14 / 4.0, 90 / 4.0));
  EXPECT_DOUBLE_EQ(phi.covariance()(0, 1), (1 + 2 * 8 + 729) / 4.0 - 3.5 * 22.5);
  const PhiMoments read = PhiMoments::from_bytes(phi.to_bytes(), {std::identity{}, std::identity{}});
  EXPECT_EQ(read.mean(), phi.mean());
  EXPECT_THROW(static_cast<void>(PhiMoments::from_bytes(phi.to_bytes(), {std::identity{}})),
               std::invalid_argument);
}

TEST(AbsoluteMoments, AreThoseOfTheDefinition) {
  const AbsoluteMoments moments = AbsoluteMoments::of(2, kValues, kWeights, {1, 2, 0.5});
  EXPECT_EQ(moments.weight(), 4);
  EXPECT_EQ(moments.moment(0), 2);
  EXPECT_EQ(moments.moment(1), 12.5);
  EXPECT_DOUBLE_EQ(moments.moment(2), (1 + std::sqrt(7)) / 4);
  EXPECT_EQ(moments.weight_below(), 1);
  EXPECT_EQ(moments.weight_above(), 1);
  EXPECT_TRUE(std::isnan(AbsoluteMoments(2).moment(0)));
}

TEST(AbsoluteMoments, WeightsOfBothSidesForEverySize) {
  for (std::size_t n = 1; n < 80; ++n) {
    std::vector<double> values, weights;
    double below = 0, above = 0;
    for (std::size_t i = 0; i < n; ++i) {
      values.push_back(static_cast<double>(i * 7919 % 101));
      weights.push_back(static_cast<double>(1 + i % 3));
      below += values[i] < 50 ? weights[i] : 0;
      above += values[i] > 50 ? weights[i] : 0;
    }
    const AbsoluteMoments moments = AbsoluteMoments::of(50, values, weights);
    ASSERT_EQ(moments.weight_below(), below);
    ASSERT_EQ(moments.weight_above(), above);
  }
}

TEST(CountHistogram, HoldsTheWeightOfEachInteger) {
  const std::vector<double> values{3, -1, 3, 0x1p53, 7, -0.0}, weights{1, 2, 0.5, 1e-3, 0, 1};
  const CountHistogram histogram = CountHistogram::of(values, weights);
  EXPECT_EQ(histogram.values(), (std::vector<index_t>{-1, 0, 3, index_t{1} << 53}));
  EXPECT_EQ(histogram.weights(), (std::vector<double>{2, 1, 1.5, 1e-3}));
  const CountHistogram few = CountHistogram::of(std::vector<double>{3, 1, 3, 5});
  EXPECT_EQ(few.weight(), 4);
  EXPECT_EQ(few.mean(), 3);
  EXPECT_EQ(few.variance(), 2);
  EXPECT_TRUE(std::isnan(CountHistogram().mean()));
  EXPECT_TRUE(CountHistogram().values().empty());
}

TEST(RadialMoments, OfTheOwnMeanAndCovarianceHaveTheDimensionAsMean) {
  std::vector<double> table;
  for (int i = 0; i < 900; ++i) {
    const double a = std::sin(i), b = std::cos(3 * i + 1), c = std::sin(i * i);
    table.insert(table.end(), {1e6 + a, 2 * a + b, c + b});
  }
  const Rows<const double> rows(table.data(), 900, 3);
  const Moments moments = Moments::of(rows);
  RadialMoments radial(moments.mean(), moments.covariance());
  radial.update(rows);
  EXPECT_EQ(radial.weight(), 900);
  EXPECT_NEAR(radial.mean(), 3, 1e-9);
  const Eigen::MatrixXd inverse = moments.covariance().inverse();
  double square = 0;
  for (index_t i = 0; i < 900; ++i) {
    const Eigen::VectorXd d = Eigen::Map<const Eigen::VectorXd>(rows.row(i), 3) - moments.mean();
    square += std::pow(d.dot(inverse * d), 2) / 900;
  }
  EXPECT_NEAR(radial.mean_square(), square, 1e-9 * square);
}

}  // namespace
}  // namespace fenchel
