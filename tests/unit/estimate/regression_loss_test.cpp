#include "estimate/regression/regression_loss.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kAlphas;
using testing::kInf;

// Of the likelihood; 0.34 has 2.03 degrees of freedom.
const std::array kHeavyAlphas{0.34, 0.4, 0.6, 0.9, 1 - 1e-9, std::nextafter(1.0, 0.0), 1.0};

TEST(RegressionLoss, IsTheCrossOmegaLossOfARow) {
  for (const double alpha : kAlphas) {
    if (alpha <= 1. / 3) continue;
    const detail::RegressionLoss loss(alpha);
    for (const double sigma : {1e-3, 0.7, 1.0, 1.4, 300.0}) {
      for (const double y : {-3.0, 0.3, 2.0, 50.0}) {
        const auto expected =
            cross_omega(Tsallis(alpha), QuadraticScore(0.3, sigma * sigma), Line(), Dirac{y});
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

TEST(RegressionLoss, LikelihoodIsTheDensityOfTheMember) {
  for (const double alpha : kHeavyAlphas) {
    const detail::RegressionLoss loss(alpha, true);
    for (const double sigma : {1e-3, 0.7, 1.0, 1.4, 300.0}) {
      const BetaGaussian p(alpha, 0.3, sigma * sigma);
      for (const double y : {-3.0, 0.3, 2.0, 50.0, 1e6}) {
        const double expected = -log_pdf(p, y);
        EXPECT_NEAR(loss(y - 0.3, std::log(sigma)).value, expected, 1e-13 * (1 + std::abs(expected)))
            << alpha << ' ' << sigma << ' ' << y;
      }
    }
  }
  // The two losses are one at alpha = 1.
  const auto a = detail::RegressionLoss(1, true)(1.7, 0.2), b = detail::RegressionLoss(1)(1.7, 0.2);
  EXPECT_NEAR(a.value, b.value, 1e-15);
  EXPECT_NEAR(a.mu, b.mu, 1e-15);
  EXPECT_NEAR(a.log_sigma, b.log_sigma, 1e-15);
  // How much a row moves the line is bounded for alpha < 1 alone, and grows with its residual otherwise.
  const auto pull = [](double alpha, bool likelihood, double residual) {
    return std::abs(detail::RegressionLoss(alpha, likelihood)(residual, 0).mu);
  };
  for (const double alpha : {0.4, 0.6, 0.9}) {
    EXPECT_LT(pull(alpha, true, 1e3), pull(alpha, true, 1));
    EXPECT_EQ(pull(alpha, false, 1e3), 1e3);
  }
}

void expect_derivatives_of_the_value(const detail::RegressionLoss& loss, double alpha) {
  constexpr double kStep = 1e-5;
  for (const double log_sigma : {-1.0, 0.0, 2.0}) {
    const detail::RegressionTerm term = loss(0.8, log_sigma);
    const double by_mu = (loss(0.8 - kStep, log_sigma).value - loss(0.8 + kStep, log_sigma).value) / 2;
    const double by_scale = (loss(0.8, log_sigma + kStep).value - loss(0.8, log_sigma - kStep).value) / 2;
    EXPECT_NEAR(term.mu, by_mu / kStep, 1e-8) << alpha;
    EXPECT_NEAR(term.log_sigma, by_scale / kStep, 1e-8) << alpha;
  }
}

TEST(RegressionLoss, DerivativesAreThoseOfTheValue) {
  for (const double alpha : kAlphas) {
    if (alpha > 1. / 3) expect_derivatives_of_the_value(detail::RegressionLoss(alpha), alpha);
  }
  for (const double alpha : kHeavyAlphas)
    expect_derivatives_of_the_value(detail::RegressionLoss(alpha, true), alpha);
}

TEST(RegressionLoss, IsInfiniteWhereSigmaVanishes) {
  for (const double alpha : {0.5, 1.0, 1.5, 2.0}) {
    for (const double residual : {0.0, 1e-300, 1.0}) {
      EXPECT_EQ(detail::RegressionLoss(alpha)(residual, -kInf).value, kInf);
      EXPECT_EQ(detail::RegressionLoss(alpha, true)(residual, -kInf).value, kInf);
    }
  }
}

TEST(RegressionLoss, SpreadsAreMeansUnderTheMember) {
  struct Case {
    double alpha;
    bool likelihood;
  };
  for (const auto [alpha, likelihood] : {Case{0.9, false},
                                         {1, false},
                                         {1 + 1e-8, false},
                                         {1.5, false},
                                         {2, false},
                                         {5, false},
                                         {0.4, true},
                                         {0.6, true},
                                         {0.9, true},
                                         {1, true}}) {
    const detail::RegressionLoss loss(alpha, likelihood);
    for (const double log_sigma : {-0.7, 0.0, 0.4}) {
      const BetaGaussian p(alpha, 0, std::exp(2 * log_sigma));
      const auto mean_of = [&](auto f) { return expectation(p, [&](double r) { return f(r); }); };
      const auto [mu, scale] = loss.spreads(log_sigma);
      constexpr double kStep = 1e-4;
      if (!likelihood) {
        EXPECT_NEAR(mu.curvature, std::exp(-2 * log_sigma), 1e-14 * mu.curvature);
      }
      EXPECT_NEAR(mu.curvature, mean_of([&](double r) {
                    return (loss(r - kStep, log_sigma).mu - loss(r + kStep, log_sigma).mu) / (2 * kStep);
                  }),
                  1e-6 * mu.curvature);
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
  // The variance of the scale's derivative is a fourth moment, and infinite without one.
  EXPECT_EQ(detail::RegressionLoss(0.6).spreads(0).log_sigma.variance, kInf);
}

}  // namespace
}  // namespace fenchel
