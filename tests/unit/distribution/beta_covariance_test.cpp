#include "fenchel/distribution/beta_covariance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

const auto kIdentity = [](double t) { return t; };
const auto kSquare = [](double t) { return t * t; };

/// (1 - t^2)^s on [-1, 1], normalized.
NumericDensity bump(double s) {
  return NumericDensity([s](double t) { return s * std::log1p(-t * t); }, {Interval(-1, 1)}, {0});
}

double beta_function(double a, double b) {
  return std::exp(std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b));
}

TEST(BetaCovariance, AtOneIsTheCovariance) {
  const NumericDensity p = bump(1);
  EXPECT_NEAR(beta_covariance(p, 1, kIdentity, kIdentity), variance(p), 1e-11);
  EXPECT_NEAR(beta_covariance(p, 1, kIdentity, kSquare), 0, 1e-12);
  EXPECT_NEAR(beta_covariance(p, 1, kSquare, kSquare), moment(p, 4) - moment(p, 2) * moment(p, 2), 1e-11);
}

TEST(BetaCovariance, PowersOfEverySign) {
  for (const double s : {0.05, 0.5, 1.0, 2.0, 10.0}) {
    const NumericDensity p = bump(s);
    for (const double order : {-0.9, -0.75, -0.5, 0.0, 0.5, 3.0}) {  // of 1 - t^2
      const double beta = order / s, peak = 1 / beta_function(0.5, s + 1);
      const double exact = std::pow(peak, beta) * beta_function(1.5, order + 1);
      EXPECT_NEAR(beta_covariance(p, beta, kIdentity, kIdentity) / exact, 1, 1e-9) << s << " " << order;
    }
  }
}

TEST(BetaCovariance, TheGaussian) {
  const NumericDensity p([](double t) { return -(t - 3) * (t - 3) / 2; }, {Interval(-kInf, kInf)}, {3});
  for (const double beta : {0.1, 1.0, 4.0}) {
    const double mass = std::pow(2 * M_PI, -beta / 2) * std::sqrt(2 * M_PI / beta);
    EXPECT_NEAR(beta_covariance(p, beta, kIdentity, kIdentity), mass / beta, 1e-9 * mass / beta);
  }
}

TEST(BetaCovariance, AModeAtTheEndOfAHalfLineIsSeen) {
  for (const double rate : {1.0, 100.0}) {
    const auto up = [rate](double t) { return -rate * t; };
    const auto down = [rate](double t) { return rate * t; };
    for (const NumericDensity& p :
         {NumericDensity(up, {Interval(0, kInf)}, {0}), NumericDensity(down, {Interval(-kInf, 0)}, {0})})
      EXPECT_NEAR(beta_covariance(p, 1, kIdentity, kIdentity) * rate * rate, 1, 1e-9) << rate;
  }
}

TEST(BetaCovariance, RowsArePhiAndColumnsPsi) {
  const NumericDensity p = bump(1);
  const std::vector<std::function<double(double)>> phi{kIdentity, kSquare};
  const std::vector<std::function<double(double)>> psi{kIdentity, kSquare,
                                                       [](double t) { return std::exp(t); }};
  const Eigen::MatrixXd matrix = beta_covariance(p, 0.5, phi, psi);
  ASSERT_EQ(matrix.rows(), 2);
  ASSERT_EQ(matrix.cols(), 3);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      EXPECT_EQ(matrix(i, j), beta_covariance(p, 0.5, phi[row], psi[column]));
    }
  }
}

/// p^63 = 1e315 overflows, and its integral with (t - mean)^2 = 1e-10 / 12 over a width of 1e-5 does not.
TEST(BetaCovariance, IsANumberWhereThePowerOfTheDensityIsNot) {
  const double width = 1e-5;
  const NumericDensity p([](double) { return 0.0; }, {Interval(0, width)}, {width / 2});
  const double expected = 1e300 / 12;
  EXPECT_NEAR(beta_covariance(p, 63, kIdentity, kIdentity), expected, 1e-10 * expected);
  EXPECT_EQ(beta_covariance(
                p, 63, [](double) { return 1.0; }, kIdentity),
            0);
}

/// The Gaussian on a wide interval, whose logarithm far out has steps of 64, as for alpha one ulp above 1:
/// the exponent at an end, by differences, was a multiple of 548.
TEST(BetaCovariance, AnEndWhereTheDensityUnderflowsDoesNotMatter) {
  const auto score = [](double t) { return std::abs(t) < 1e3 ? -t * t / 2 : -64 * std::floor(t * t / 128); };
  for (const double end : {1e4, 1.1e4, 1.2e4, 1.3e4, 1.4e4, 1.5e4}) {
    const NumericDensity p(score, {Interval(-end, end)}, {0});
    for (const double beta : {0.5, 1.0, 2.0}) {
      const double expected = std::pow(2 * std::numbers::pi, (1 - beta) / 2) * std::pow(beta, -1.5);
      EXPECT_NEAR(beta_covariance(p, beta, kIdentity, kIdentity), expected, 1e-10 * expected) << end;
    }
  }
}

TEST(BetaCovariance, ErrorsAreNamed) {
  const std::string message =
      message_of<std::domain_error>([&] { (void)beta_covariance(bump(1), -1.5, kIdentity, kIdentity); });
  const std::string start = "fenchel::beta_covariance: beta must be above ";
  ASSERT_EQ(message.substr(0, start.size()), start);
  const double bound = std::stod(message.substr(start.size()));
  EXPECT_NEAR(bound, -1, 1e-9);
  EXPECT_EQ(message, start + shortest(bound) + " for p^beta to be integrable, got -1.5");
  const NumericDensity gaussian([](double t) { return -t * t; }, {Interval(-kInf, kInf)}, {0});
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)beta_covariance(gaussian, -1, kIdentity, kIdentity); }),
            "fenchel::beta_covariance: the integral with p^beta must be finite, got inf");
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)beta_covariance(bump(1), kNaN, kIdentity, kIdentity); }),
      "fenchel::beta_covariance: beta must be finite, got nan");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              (void)beta_covariance(bump(1), 1, kIdentity, [](double) { return kNaN; });
            }).substr(0, 39),
            "fenchel::beta_covariance: the value at ");
}

}  // namespace
}  // namespace fenchel
