#include "fenchel/distribution/line/location_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gradient.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "support/differences.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "unit/distribution/location_scale_examples.hpp"

namespace fenchel {
namespace {

using testing::location_scale_example;
using testing::slope_of;

constexpr double kPlaces[] = {0, 0.3, 0.9, 0.999999};

TEST(LocationScale, PrintedGoldenRow) {  // docs/math.md 8, row 61
  EXPECT_NEAR(LocationScale(location_scale_example(2, 0, 1)).a(), 0.90710329357628993, 2e-15);
}

TEST(LocationScale, Golden) {
  for (auto& block : testing::golden_blocks("location_scale.txt")) {
    const int index = static_cast<int>(block["case"][0]);
    SCOPED_TRACE(index);
    const LocationScale p(location_scale_example(index, 0, block["case"][1]));
    EXPECT_NEAR(p.a() / block["edge"][0], 1, 1e-14);
    EXPECT_NEAR(p.threshold() / block["edge"][1], 1, 1e-14);
    for (std::size_t k = 0; k < 4; ++k) {
      const double t = p.half_width() * kPlaces[k], lost = 1e-14 / (1 - kPlaces[k]);
      EXPECT_NEAR(pdf(p, t) / block["density"][k], 1, 1e-14 + lost) << k;
      EXPECT_NEAR(survival(p, t) / block["tail"][k], 1, 1e-13 + 2 * lost) << k;
      EXPECT_NEAR(cdf(p, -t) / block["tail"][k], 1, 1e-13 + 2 * lost) << k;
      if (block["tail"][k] < 0.5) {
        EXPECT_NEAR(survival_quantile(p, block["tail"][k]) / p.half_width(), kPlaces[k], 1e-12) << k;
      }
    }
    for (int n = 1; n <= 3; ++n)
      EXPECT_NEAR(central_moment(p, 2 * n) / block["moments"][static_cast<std::size_t>(n - 1)], 1, 1e-12);
    EXPECT_NEAR(mean_density(p) / block["mean_density"][0], 1, 1e-12);
    std::size_t k = 0;
    for (const double order : {0.5, 1.0, 1.00000001, 1.5, 2.0, 7.0}) {
      const double want = block["negentropy"][k++];
      EXPECT_NEAR(-tsallis_entropy(p, order), want, 1e-11 * (1 + std::abs(want))) << order;
    }
  }
}

/// The paper prints [(mu - a) / sigma, (mu + a) / sigma], which holds a third of the mass here.
TEST(LocationScale, E1SupportIsMuPlusMinusASigma) {
  const double mu = 1.3, sigma = 2;
  const LocationScale p(location_scale_example(0, mu, sigma));
  EXPECT_DOUBLE_EQ(support(p).lower(), mu - p.a() * sigma);
  EXPECT_DOUBLE_EQ(support(p).upper(), mu + p.a() * sigma);
  const auto density = [&](double t) { return p.score()(t) - p.threshold(); };
  EXPECT_NEAR(integrate(density, support(p).lower(), support(p).upper()).value, 1, 1e-13);
  const double printed = cdf(p, (mu + p.a()) / sigma) - cdf(p, (mu - p.a()) / sigma);
  EXPECT_NEAR(printed, 0.34, 0.01);
}

/// The examples of the paper are members after rescaling, and g is not strongly convex in two of them.
TEST(LocationScale, E20StrongConvexityIsNotNeeded) {
  const double s = 1.4, mu = 0.3;
  const LocationScale parabola(location_scale_example(0, mu, s));  // f = -(t - mu)^2 / (2 s^3)
  EXPECT_NEAR(parabola.half_width(), std::cbrt(1.5 * s * s * s), 1e-14);
  const LocationScale triangle(location_scale_example(1, mu, s));
  const auto triangular = BetaLaplace::triangular(mu, s * s);
  EXPECT_NEAR(triangle.half_width(), triangular.half_width(), 1e-14);
  const LocationScale gaussian(location_scale_example(3, mu, s));
  const TruncatedGaussian truncated(2, mu, s * s);
  EXPECT_NEAR(gaussian.half_width(), truncated.half_width(), 1e-14);
  for (const double t : {-0.4, 0.3, 0.9, 1.6}) {
    EXPECT_NEAR(pdf(parabola, t),
                std::pow(parabola.half_width(), 2) / (2 * s * s * s) - (t - mu) * (t - mu) / (2 * s * s * s),
                1e-15);
    EXPECT_NEAR(pdf(triangle, t), pdf(triangular, t), 1e-14);
    EXPECT_NEAR(cdf(triangle, t), cdf(triangular, t), 1e-14);
    EXPECT_NEAR(pdf(gaussian, t), pdf(truncated, t), 1e-14);
    EXPECT_NEAR(cdf(gaussian, t), cdf(truncated, t), 1e-14);
  }
}

TEST(LocationScale, SteepAndFlatFunctionsAreSolved) {
  for (const double c : {1e-40, 1e-3, 1.0, 1e3, 1e40}) {  // g = c x^2 / 2: a = 1 / sqrt(c)
    const LocationScale p(
        LocationScaleScore([c](double x) { return c * x * x / 2; }, [c](double x) { return c * x; }, 0, 1));
    EXPECT_NEAR(p.a() * std::sqrt(c), 1, 1e-14) << c;
  }
  const LocationScale wall(LocationScaleScore([](double x) { return std::exp(1e3 * x); },
                                              [](double x) { return 1e3 * std::exp(1e3 * x); }, 0, 1));
  EXPECT_NEAR(wall.a() * wall.edge_slope() - wall.edge_g() + 1, 0.5, 1e-13);
}

TEST(LocationScale, TheMedianIsMu) {
  for (const double sigma : {1e-3, 1.0, 27651.345467382536}) {
    for (int index = 0; index < testing::kLocationScaleExamples; ++index) {
      const LocationScale p(location_scale_example(index, 9.306896296971743e-05, sigma));
      EXPECT_EQ(quantile(p, 0.5), p.mu()) << index << ' ' << sigma;
      EXPECT_EQ(survival_quantile(p, 0.5), p.mu()) << index << ' ' << sigma;
    }
  }
}

TEST(LocationScale, WhatItsFunctionsThrowReachesTheCaller) {
  bool throws = false;
  const LocationScale p(
      LocationScaleScore([&throws](double x) { return throws ? throw std::runtime_error("g") : x * x / 2; },
                         [](double x) { return x; }, 0, 1));
  EXPECT_EQ(sample(p, 100, 1).size(), 100u);
  throws = true;
  EXPECT_THROW((void)sample(p, 100, 1), std::runtime_error);
}

TEST(LocationScale, BadFunctionsAreNamed) {
  const auto message = [](auto g, auto slope) {
    return testing::message_of<std::domain_error>([&] { LocationScale(LocationScaleScore(g, slope, 0, 1)); });
  };
  const auto zero = [](double) { return 0.0; };
  EXPECT_EQ(message(zero, zero), "fenchel::location_scale: a g'(a) - g(a) + g(0) must reach 1/2, got 0");
  EXPECT_EQ(message([](double x) { return std::sqrt(x - 3); }, zero),
            "fenchel::location_scale: g(0) must be a number, got nan");
  EXPECT_EQ(message(zero, [](double) { return std::nan(""); }),
            "fenchel::location_scale: g'(1) must be a number, got nan");
  EXPECT_EQ(message([](double x) { return -x * x / 8; }, [](double x) { return -x / 4; }),
            "fenchel::location_scale: a g'(a) - g(a) + g(0) must not decrease, got -0.125");
  const auto wave = [](double x) { return x * x / 2 + 0.3 * (1 - std::cos(8 * x)) / 8; };
  EXPECT_EQ(
      message(wave, [](double x) { return x + 0.3 * std::sin(8 * x); }),
      "fenchel::location_scale: g'(0.2677415936719857) must not be below g' nearer to 0 (convex g), got "
      "0.5201277481548556");
  EXPECT_EQ(
      message([](double x) { return x / 2; }, [](double) { return 0.5; }),
      "fenchel::location_scale: a g'(a) - g(a) + g(0) must reach 1/2 before it is lost in rounding, got 0");
}

/// Below it the entropy was NaN.
TEST(LocationScale, AScaleThatIsTooSmallIsNamed) {
  const auto made = [](double sigma) {
    return LocationScale(LocationScaleScore([](double x) { return std::cosh(x); },
                                            [](double x) { return std::sinh(x); }, 0, sigma));
  };
  EXPECT_LT(std::abs(tsallis_entropy(made(1e-308), 2)), 1e308);
  EXPECT_EQ(
      testing::message_of<std::domain_error>([&] { (void)made(5e-324); }),
      "fenchel::location_scale: sigma must keep peak and threshold in the range of doubles, got 5e-324");
}

TEST(LocationScale, EntropiesDoNotDependOnMuNorKurtosisOnSigma) {
  const auto member = [](double mu, double sigma) {
    return LocationScale(LocationScaleScore([](double x) { return x * x * x / 6; },
                                            [](double x) { return x * x / 2; }, mu, sigma));
  };
  EXPECT_EQ(entropy(member(1e300, 1)), entropy(member(0, 1)));
  EXPECT_EQ(kurtosis(member(0, 1e-150)), kurtosis(member(0, 1)));
  EXPECT_EQ(kurtosis(member(0, 1e150)), kurtosis(member(0, 1)));
}

/// Examples 0 and 1 are the parabola and the triangular density, of which sigma^3 and sigma^2 are the scales.
TEST(LocationScale, GradientsOfExpectationsAreThoseOfTheKnownFamilies) {
  const double mu = 0.3, sigma = 0.8;
  const auto psi = [](double t) { return std::exp(t) + (t > 0.4 ? 1 : 0); };
  const std::vector<double> cuts = {0.4};
  const auto parabola = expectation_gradient(BetaGaussian(2, mu, std::pow(sigma, 3)), psi, 1e-12, cuts);
  const auto first =
      expectation_gradient(LocationScale(location_scale_example(0, mu, sigma)), psi, 1e-10, cuts);
  EXPECT_NEAR(first.mu, parabola.mu, 1e-10);
  EXPECT_NEAR(first.sigma, parabola.sigma2 * 3 * sigma * sigma, 1e-10);
  const auto triangular = expectation_gradient(BetaLaplace(2, mu, sigma * sigma), psi, 1e-12, cuts);
  const auto second =
      expectation_gradient(LocationScale(location_scale_example(1, mu, sigma)), psi, 1e-10, cuts);
  EXPECT_NEAR(second.mu, triangular.mu, 1e-10);
  EXPECT_NEAR(second.sigma, triangular.b * 2 * sigma, 1e-10);
}

TEST(LocationScale, GradientsOfExpectationsAreDifferences) {
  const double mu = 0.3, sigma = 0.8;
  const auto psi = [](double t) { return std::sin(3 * t) + t * t; };
  for (int i = 0; i < testing::kLocationScaleExamples; ++i) {
    const auto at = [&](double m, double s) {
      return expectation(LocationScale(location_scale_example(i, m, s)), psi, 1e-13);
    };
    const auto got = expectation_gradient(LocationScale(location_scale_example(i, mu, sigma)), psi);
    EXPECT_NEAR(got.mu, slope_of([&](double x) { return at(x, sigma); }, mu, 1e-3), 1e-8) << i;
    EXPECT_NEAR(got.sigma, slope_of([&](double x) { return at(mu, x); }, sigma, 1e-3), 1e-8) << i;
  }
}

}  // namespace
}  // namespace fenchel
