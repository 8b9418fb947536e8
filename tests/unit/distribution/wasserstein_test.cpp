#include "fenchel/distribution/wasserstein.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "fenchel/core/quadrature.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using testing::kInf, testing::message_of;

const MatrixXd kS{{0.6, 0.4}, {0.4, 0.48}}, kSf{{1, -0.2}, {-0.2, 0.7}};
const VectorXd kMu{{0.1, -0.2}}, kMuf{{0.5, 0.3}};

TEST(Wasserstein, MatchesTheGoldenValues) {
  const double line = wasserstein2_squared(BetaGaussian(1.5, 0.3, 0.64), BetaGaussian(1.5, 1, 3.61));
  EXPECT_NEAR(line, 0.7839577241176987, 1e-13 * line);
  const double plane =
      wasserstein2_squared(MultivariateBetaGaussian(2, kMu, kS), MultivariateBetaGaussian(2, kMuf, kSf));
  EXPECT_NEAR(plane, 0.50747109119382198, 1e-13 * plane);
}

TEST(Wasserstein, IsTheQuantileCoupling) {
  for (const double alpha : {0.7, 1.0, 1 + 1e-8, 1.5, 3.0, kInf}) {
    const BetaGaussian p(alpha, 0.3, 0.64), q(alpha, 1, 3.61);
    const auto cost = [&](double u) { return std::pow(quantile(p, u) - quantile(q, u), 2); };
    EXPECT_NEAR(wasserstein2_squared(p, q), integrate(cost, 0, 1, 1e-10).value, 1e-7) << alpha;
    EXPECT_DOUBLE_EQ(wasserstein2(p, q), std::sqrt(wasserstein2_squared(p, q)));
    EXPECT_EQ(wasserstein2(p, p), 0);
    const AffineMap map = optimal_map(p, q);
    for (const double u : {0.01, 0.3, 0.8}) EXPECT_NEAR(map(quantile(p, u)), quantile(q, u), 1e-11);
  }
}

TEST(Wasserstein, MapCarriesOneToTheOther) {
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 1e3, kInf}) {
    const MultivariateBetaGaussian p(alpha, kMu, kS), q(alpha, kMuf, kSf);
    const MultivariateAffineMap map = optimal_map(p, q);
    EXPECT_LE((map.matrix * covariance(p) * map.matrix.transpose() - covariance(q)).norm(),
              1e-13 * covariance(q).norm());
    EXPECT_LE((map.matrix - map.matrix.transpose()).norm(), 1e-14 * map.matrix.norm());
    EXPECT_NEAR((map(mean(p)) - mean(q)).norm(), 0, 1e-15);
    // The densities, too: the map belongs to the family.
    const VectorXd t = kMu + VectorXd{{0.1, 0.05}};
    EXPECT_NEAR(log_pdf(q, map(t)), log_pdf(p, t) - std::log(map.matrix.determinant()), 1e-11);
    // E|map(X) - X|^2 of the map from either side.
    EXPECT_NEAR(wasserstein2_squared(p, q), wasserstein2_squared(q, p), 1e-14);
  }
}

TEST(Wasserstein, TheGeodesicIsCutInProportion) {
  const auto check = [](const auto& p, const auto& q) {
    const double whole = wasserstein2(p, q);
    for (const double s : {0.0, 0.25, 0.9, 1.0}) {
      const auto between = wasserstein_geodesic(p, q, s);
      EXPECT_NEAR(wasserstein2(p, between), s * whole, 1e-7 * whole) << p.alpha() << " " << s;
      EXPECT_NEAR(wasserstein2(between, q), (1 - s) * whole, 1e-7 * whole) << p.alpha() << " " << s;
    }
    const auto first = wasserstein_geodesic(p, q, 0), last = wasserstein_geodesic(p, q, 1);
    EXPECT_TRUE(mean(first) == mean(p) && entropy(first) == entropy(p));
    EXPECT_TRUE(mean(last) == mean(q) && entropy(last) == entropy(q));
  };
  for (const double alpha : {0.8, 1.0, 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0}) {
    check(BetaGaussian(alpha, 0.3, 0.64), BetaGaussian(alpha, 1, 3.61));
    check(MultivariateBetaGaussian(alpha, kMu, kS), MultivariateBetaGaussian(alpha, kMuf, kSf));
  }
  EXPECT_EQ(message_of<std::domain_error>(
                [] { (void)wasserstein_geodesic(BetaGaussian(1, 0, 1), BetaGaussian(1, 1, 1), 1.5); }),
            "fenchel::wasserstein_geodesic: s must be in [0, 1], got 1.5");
}

TEST(Wasserstein, KeepsItsDigitsForNeighbours) {
  const MultivariateBetaGaussian p(1.5, kMu, kS), q(1.5, kMu, (1 + 1e-9) * kS);
  // A common factor e^s moves each point by s (1 - N c) / 2 of its offset, c = am1 / (2 + N am1).
  const double expected = std::pow(1e-9 / 2 * (1 - 2 * 0.5 / 3), 2) * covariance(p).trace();
  EXPECT_NEAR(wasserstein2_squared(p, q) / expected, 1, 1e-5);
  EXPECT_NEAR(wasserstein2(p, p), 0, 1e-15);
}

/// Members so far apart that the square of the distance overflows.
TEST(Wasserstein, IsANumberWhereItsSquareIsNot) {
  for (const double alpha : {1.5, kInf}) {
    EXPECT_DOUBLE_EQ(wasserstein2(BetaGaussian(alpha, 1e308, 1.1), BetaGaussian(alpha, 4, 0.4)), 1e308);
    const MultivariateBetaGaussian p(alpha, kMu, kS), q(alpha, VectorXd{{3e200, 4e200}}, kSf);
    EXPECT_DOUBLE_EQ(wasserstein2(p, q), 5e200);
    EXPECT_DOUBLE_EQ(wasserstein2(q, p), 5e200);
  }
}

TEST(Wasserstein, E5UniformLimitHasTheRadiusOfUnitVolume) {
  for (const index_t n : {1, 2, 3}) {
    const double size = static_cast<double>(n);
    const double radius2 = std::pow(std::tgamma(size / 2 + 1), 2 / size) / std::numbers::pi;  // R_inf^2
    VectorXd one = VectorXd::LinSpaced(n, 1, 2), two = VectorXd::LinSpaced(n, 3, 0.5);
    one /= std::pow(one.prod(), 1 / size);
    two /= std::pow(two.prod(), 1 / size);
    const VectorXd mu = VectorXd::Zero(n);
    const double bures = (one.cwiseSqrt() - two.cwiseSqrt()).squaredNorm();
    const auto p = MultivariateBetaGaussian::diagonal(kInf, mu, one),
               q = MultivariateBetaGaussian::diagonal(kInf, mu, two);
    EXPECT_NEAR(wasserstein2_squared(p, q), radius2 / (size + 2) * bures, 1e-14);
    EXPECT_NEAR(p.constants().variance_factor, radius2 / (size + 2), 1e-15);
  }
  EXPECT_NEAR(BetaGaussian(kInf, 0, 1).constants().variance_factor, 1. / 12, 1e-15);  // printed: 1/3
}

TEST(Wasserstein, BadInputIsNamed) {
  EXPECT_EQ(message_of<std::domain_error>(
                [] { (void)wasserstein2(BetaGaussian(2, 0, 1), BetaGaussian(1.5, 0, 1)); }),
            "fenchel::wasserstein: alpha must be the same for both, here 2, got 1.5");
  EXPECT_EQ(message_of<std::domain_error>(
                [] { (void)optimal_map(BetaGaussian(0.3, 0, 1), BetaGaussian(0.3, 0, 2)); }),
            "fenchel::wasserstein: alpha must be above 1/3 for a finite variance, got 0.3");
  const MultivariateBetaGaussian plane(2, kMu, kS), flat(2, kMu, MatrixXd{{1, 0}, {0, 0}}),
      space(2, VectorXd::Zero(3), MatrixXd::Identity(3, 3));
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)optimal_map(flat, plane); }),
            "fenchel::wasserstein: p.rank() must be its dimension 2, got 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)optimal_map(plane, space); }),
            "fenchel::wasserstein: q.dimension() must be p.dimension() = 2, got 3");
}

TEST(Wasserstein, AShiftThatOverflowsIsNamed) {
  const BetaGaussian p(2, 1e308, 1e-3), q(2, -2, 0.6);
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)optimal_map(p, q); }),
            "fenchel::wasserstein: mu of p must keep the map in the range of doubles, got 1e+308");
  EXPECT_EQ(mean(wasserstein_geodesic(p, q, 0.25)), 0.75e308);
  const auto in_space = [](double mu, double size) {
    return MultivariateBetaGaussian(2, VectorXd::Constant(2, mu), size * MatrixXd::Identity(2, 2));
  };
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)optimal_map(in_space(-1e308, 1e-3), in_space(0, 0.6)); }),
      "fenchel::wasserstein: mu of p must keep the map in the range of doubles, got -1e+308");
}

TEST(Wasserstein, TheRatioOfVariancesMayUnderflow) {
  EXPECT_NEAR(optimal_map(BetaGaussian(1, 0, 1e300), BetaGaussian(1, 0, 1e-300)).slope * 1e300, 1, 1e-14);
}

}  // namespace
}  // namespace fenchel
