#include "estimate/regression/regression_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kAlphas;
using testing::kInf;

TEST(RegressionLoss, IsTheCrossOmegaLossOfARow) {
  for (const double alpha : kAlphas) {
    if (alpha < 1) continue;
    const detail::RegressionLoss loss(alpha);
    for (const double sigma : {1e-3, 0.7, 1.0, 1.4, 300.0}) {
      for (const double y : {-3.0, 0.3, 2.0, 50.0}) {
        const auto expected =
            cross_omega(Tsallis(alpha), QuadraticScore(0.3, sigma * sigma), Line(), Dirac(y));
        const detail::RegressionTerm term = loss(y - 0.3, std::log(sigma));
        const double size = std::abs(expected.value) + std::abs(term.log_sigma);
        EXPECT_NEAR(term.value, expected.value, 1e-13 * size) << alpha << ' ' << sigma << ' ' << y;
        EXPECT_NEAR(term.mu, expected.gradient.mu, 1e-13 * std::abs(expected.gradient.mu));
        EXPECT_NEAR(term.log_sigma, 2 * sigma * sigma * expected.gradient.sigma2, 1e-13 * size);
      }
    }
  }
  // The paper's formula with its factor corrected (E3; docs/math.md 8, row 42).
  EXPECT_NEAR(detail::RegressionLoss(2)(1.7, std::log(1.4)).value, 0.9231240674852756, 1e-15);
}

TEST(RegressionLoss, DerivativesAreThoseOfTheValue) {
  constexpr double kStep = 1e-5;
  for (const double alpha : kAlphas) {
    if (alpha < 1) continue;
    const detail::RegressionLoss loss(alpha);
    for (const double log_sigma : {-1.0, 0.0, 2.0}) {
      const detail::RegressionTerm term = loss(0.8, log_sigma);
      const double by_mu = (loss(0.8 - kStep, log_sigma).value - loss(0.8 + kStep, log_sigma).value) / 2;
      const double by_scale = (loss(0.8, log_sigma + kStep).value - loss(0.8, log_sigma - kStep).value) / 2;
      EXPECT_NEAR(term.mu, by_mu / kStep, 1e-8) << alpha;
      EXPECT_NEAR(term.log_sigma, by_scale / kStep, 1e-8) << alpha;
    }
  }
}

TEST(RegressionLoss, IsInfiniteWhereSigmaVanishes) {
  for (const double alpha : {1.0, 1.5, 2.0}) {
    for (const double residual : {0.0, 1e-300, 1.0})
      EXPECT_EQ(detail::RegressionLoss(alpha)(residual, -kInf).value, kInf);
  }
}

TEST(RegressionLoss, SpreadsAreMeansUnderTheMember) {
  for (const double alpha : {1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
    const detail::RegressionLoss loss(alpha);
    for (const double log_sigma : {-0.7, 0.0, 0.4}) {
      const BetaGaussian p(alpha, 0, std::exp(2 * log_sigma));
      const auto mean_of = [&](auto f) { return expectation(p, [&](double r) { return f(r); }); };
      const auto [mu, scale] = loss.spreads(log_sigma);
      constexpr double kStep = 1e-4;
      EXPECT_NEAR(mu.curvature, std::exp(-2 * log_sigma), 1e-14 * mu.curvature);
      EXPECT_NEAR(mu.variance, mean_of([&](double r) { return std::pow(loss(r, log_sigma).mu, 2); }),
                  1e-9 * mu.variance);
      EXPECT_NEAR(scale.curvature, mean_of([&](double r) {
                    return (loss(r, log_sigma + kStep).log_sigma - loss(r, log_sigma - kStep).log_sigma) /
                           (2 * kStep);
                  }),
                  1e-6 * scale.curvature);
      EXPECT_NEAR(scale.variance,
                  mean_of([&](double r) { return std::pow(loss(r, log_sigma).log_sigma, 2); }),
                  1e-9 * scale.variance);
    }
  }
}

}  // namespace
}  // namespace fenchel
