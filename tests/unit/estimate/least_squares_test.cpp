#include "fenchel/estimate/regression/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

Rows<const double> rows_of(const std::vector<double>& table, index_t columns) {
  return {table.data(), static_cast<index_t>(table.size()) / columns, columns};
}

/// y = 3 + 2 x1 - x2 + noise.
std::vector<double> noisy_plane(index_t rows, double noise) {
  Philox random(1);
  std::vector<double> table;
  for (index_t i = 0; i < rows; ++i) {
    const double x1 = standard_normal(random), x2 = x1 + 10 * uniform01(random);
    table.insert(table.end(), {3 + 2 * x1 - x2 + noise * standard_normal(random), x1, x2});
  }
  return table;
}

TEST(LeastSquares, ResidualsAreUncorrelatedWithFeatures) {
  const std::vector<double> table = noisy_plane(5000, 0.5);
  const RowsSource source(rows_of(table, 3));
  const LeastSquares fit = fit_least_squares({source});
  double sum = 0, with_x1 = 0, with_x2 = 0, squares = 0;
  for (std::size_t i = 0; i < table.size(); i += 3) {
    const double residual =
        table[i] - fit.intercept - fit.coefficients[0] * table[i + 1] - fit.coefficients[1] * table[i + 2];
    sum += residual / 5000;
    with_x1 += residual * table[i + 1] / 5000;
    with_x2 += residual * table[i + 2] / 5000;
    squares += residual * residual / 5000;
  }
  EXPECT_NEAR(sum, 0, 1e-13);
  EXPECT_NEAR(with_x1, 0, 1e-13);
  EXPECT_NEAR(with_x2, 0, 1e-12);
  EXPECT_NEAR(fit.variance, squares, 1e-13);
  EXPECT_NEAR(fit.variance, 0.25, 0.02);
  EXPECT_NEAR(fit.coefficients[0], 2, 0.03);
  EXPECT_EQ(fit.weight, 5000);
}

TEST(LeastSquares, SmallNoiseOnAFarLineIsKept) {
  std::vector<double> table = noisy_plane(1000, 1e-7);
  for (std::size_t i = 0; i < table.size(); i += 3) table[i + 2] += 1e6;
  const RowsSource source(rows_of(table, 3));
  const LeastSquares fit = fit_least_squares({source});
  EXPECT_NEAR(fit.coefficients[0], 2, 1e-7);
  EXPECT_NEAR(fit.coefficients[1], -1, 1e-7);
  EXPECT_NEAR(std::sqrt(fit.variance), 1e-7, 1e-8);
}

TEST(LeastSquares, AWeightIsThatManyRows) {
  const std::vector<double> table{1, 0, 2, 1, 0, 2, 7, 3}, repeated{1, 0, 1, 0, 2, 1, 7, 3, 7, 3, 7, 3};
  const std::vector<double> weights{2, 1, 0, 3};
  const RowsSource weighted(rows_of(table, 2), weights), plain(rows_of(repeated, 2));
  const LeastSquares a = fit_least_squares({weighted}), b = fit_least_squares({plain});
  EXPECT_NEAR(a.coefficients[0], b.coefficients[0], 1e-15);
  EXPECT_NEAR(a.intercept, b.intercept, 1e-15);
  EXPECT_NEAR(a.variance, b.variance, 1e-15);
  EXPECT_EQ(a.weight, 6);
}

TEST(LeastSquares, APenaltyShrinksStandardisedCoefficients) {
  const std::vector<double> table{1, 0, 2, 10, 4, 20, 4, 30};
  const RowsSource source(rows_of(table, 2));
  const LeastSquares plain = fit_least_squares({source}), shrunk = fit_least_squares({source}, 3);
  EXPECT_NEAR(plain.coefficients[0], 0.11, 1e-15);
  EXPECT_NEAR(shrunk.coefficients[0], 0.11 / 4, 1e-15);
  EXPECT_NEAR(shrunk.intercept, 2.75 - 15 * 0.11 / 4, 1e-15);
}

TEST(LeastSquares, WithoutFeaturesItIsTheMean) {
  const std::vector<double> table{1, 2, 6};
  const RowsSource source(rows_of(table, 1));
  const LeastSquares fit = fit_least_squares({source});
  EXPECT_EQ(fit.coefficients.size(), 0);
  EXPECT_NEAR(fit.intercept, 3, 1e-15);
  EXPECT_NEAR(fit.variance, 14.0 / 3, 1e-15);
}

TEST(LeastSquares, DegenerateFeaturesNeedAPenalty) {
  const std::vector<double> constant{1, 0.1, 5, 2, 0.1, 6, 4, 0.1, 9},
      collinear{1, 1, -2, 2, 2, -4, 4, 5, -10};
  const RowsSource a(rows_of(constant, 3), {}, {"y", "one", "x"}),
      b(rows_of(collinear, 3), {}, {"y", "x", "double x"});
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(fit_least_squares({a})); }),
            "fenchel::fit_least_squares: column 'one' must vary unless the penalty is positive, got 0.1");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(fit_least_squares({b})); })
                .starts_with("fenchel::fit_least_squares: column 'double x' must not be a linear combination "
                             "of the features before it unless the penalty is positive, got a share of "),
            true);
  EXPECT_EQ(fit_least_squares({a}, 1e-3).coefficients[0], 0);
  const LeastSquares fit = fit_least_squares({b}, 1e-3);
  EXPECT_NEAR(fit.coefficients[0], -2 * fit.coefficients[1], 1e-12);
}

TEST(LeastSquares, WhatItCannotFitIsNamed) {
  const std::vector<double> table{1, 0, 2, 10, kInf, 20}, wide{1, 0, 2, 1e200, 3, -1e200}, none;
  const RowsSource infinite(rows_of(table, 2)), overflowing(rows_of(wide, 2)), empty(rows_of(none, 2)),
      no_columns({nullptr, 3, 0});
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(fit_least_squares({empty})); }),
            "fenchel::fit_least_squares: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(fit_least_squares({empty}, -1)); }),
            "fenchel::fit_least_squares: penalty must be finite and not negative, got -1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(fit_least_squares({no_columns})); }),
            "fenchel::fit_least_squares: columns must number at least 1, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(fit_least_squares({overflowing})); }),
            "fenchel::fit_least_squares: the variance of column '1' must be finite, got inf");
  EXPECT_EQ(message_of<DataError>([&] { static_cast<void>(fit_least_squares({infinite})); }),
            "row 2, column 0: value must be finite, got inf");
}

}  // namespace
}  // namespace fenchel
